"""Drafts of addresses by rules: divisions, labels, separators, phones, names. No model, a tenth of a millisecond.

`draft(text, fields)` answers a text; `drafter.draft` is the same as a drafter of a task. The data is read at the first
call, not at import.
"""

from __future__ import annotations

from copydesk.drafting.rules.answer import RuleAnswer
from copydesk.drafting.rules.draft import draft
from copydesk.drafting.rules.gazetteer import RULES_DATA_DATE

__all__ = ["RULES_DATA_DATE", "RuleAnswer", "draft"]
