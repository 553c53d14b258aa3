"""Whether a question is worth reasoning about before it is answered: the policy behind `thinking="auto"`.

A small model answers most questions as well at once, and many times sooner; reasoning helps where steps depend on each
other. So `auto` reasons when the last user message

1. asks for steps by its wording (`WORDING`): 证明, 推导, 计算, 代码, 为什么 and the like, or prove, derive, calculate,
   code, why;
2. or holds an equation or a sum of figures to be worked out;
3. or is long (`LONG` characters and more) and asks something, for what is asked then depends on much.

It never reasons where the message asks for speed or brevity (`BRIEF`), nor where the reply is one of several texts. A
caller overrides it with `on` or `off`. Knows nothing of models: whether one can reason at all is its template's affair.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from copydesk.types import Constraint, Messages, Thinking

Policy = Callable[[str], bool]
"""From the last user message to whether it is reasoned about."""
LONG = 1200
"""Characters, each Chinese one counted twice."""
WORDING = re.compile(
    r"证明|推导|推理|推断|计算|求解|解方程|算一?算|几何|概率|代码|编程|程序|算法|调试|报错|函数|复杂度|为什么|为何|原因|"
    r"一步步|逐步|步骤|比较|权衡|分析|設計|设计|證明|推導|計算|代碼|編程|為什麼|為何|"
    r"\b(?:prov(?:e|ing)|proof|deriv(?:e|ation)|deduce|calculat(?:e|ion)|comput(?:e|ation)|solve|equation|theorem|"
    r"probability|how\s+many|how\s+much|algorithms?|debug(?:ging)?|code|program(?:ming)?|function|complexity|"
    r"implement|refactor|why|reason(?:ing)?|step[\s-]+by[\s-]+step|trade-?offs?|compare|analy[sz]e|puzzle|riddle)\b",
    re.IGNORECASE,
)
SUM = re.compile(r"\d\s*[+*×÷^=<>]\s*\(?\s*[\dx-z]|\d\s+[-/]\s+\(?\d|[a-z]\s*=\s*[-\d(]", re.IGNORECASE)
"""No hyphens and slashes without space around them, which stand in dates and phone numbers."""
BRIEF = re.compile(
    r"直接(?:回答|给出|告诉)|不(?:要|用|需要)(?:思考|解释|推理)|只(?:回答|输出|要)|简(?:短|要|单)(?:回答|地)?|"
    r"\b(?:briefly|in\s+(?:one|a)\s+(?:word|sentence)|just\s+(?:answer|the\s+answer)|no\s+explanation|"
    r"without\s+(?:thinking|explanation)|quick(?:ly)?)\b",
    re.IGNORECASE,
)
QUESTION = re.compile(r"[?？吗呢]|\b(?:what|which|who|when|where|how|explain|summari[sz]e)\b|什么|怎|如何|哪|总结|归纳")


def is_worth_thinking(text: str) -> bool:
    """The policy described above, for one message."""
    if BRIEF.search(text):
        return False
    if WORDING.search(text) or SUM.search(text):
        return True
    return _length(text) >= LONG and QUESTION.search(text) is not None


def decide(thinking: Thinking, messages: Messages, constraint: Constraint, policy: Policy = is_worth_thinking) -> bool:
    """Whether to reason before replying to `messages`."""
    if thinking != "auto":
        return thinking == "on"
    if constraint.choice:
        return False
    last = next((message["content"] for message in reversed(messages) if message["role"] == "user"), "")
    return policy(last)


def _length(text: str) -> int:
    return sum(2 if character > "\u2e7f" else 1 for character in text)
