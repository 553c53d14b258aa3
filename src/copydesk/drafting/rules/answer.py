"""What the rules say of one text: values, where each stands, how sure they are. Decides nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from copydesk.types import Draft, Field


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """Values and fields in the order in which they were asked for.

    A value is `""` where the text has none or where the rules cannot tell; the field's confidence, a measured share of
    right values between 0 and 1, tells these apart: 0 is "cannot tell", also of a value that is given as a guess.
    """

    values: Mapping[str, str]
    fields: Mapping[str, Field]

    def draft(self) -> Draft:
        """What a model is asked to verify: one line of JSON, guesses included."""
        spans = {name: field.spans for name, field in self.fields.items() if field.spans}
        return Draft(json.dumps(dict(self.values), ensure_ascii=False), "rules", spans)

    def certain(self, least: float = 0.5) -> RuleAnswer:
        """What stands without a model: only values that are at least so sure; others are `""` with confidence 0."""
        sure = {name for name, field in self.fields.items() if (field.confidence or 0.0) >= least}
        return RuleAnswer(
            {name: value if name in sure else "" for name, value in self.values.items()},
            {name: field if name in sure else Field((), "inferred", 0.0) for name, field in self.fields.items()},
        )
