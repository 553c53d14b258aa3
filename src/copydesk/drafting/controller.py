"""Knowing when not to draft: how many tokens are worth drafting, given how drafts have fared and what passes cost.

Costs are relative to a pass of one token, as measured on the engine. Two guards stand together. A draft is as long as
its expected gain is highest, by the share of drafted tokens that stood so far. And it must be paid for: what drafts may
cost more than they bring is a few passes at first and then a small share of all passes, whatever is drafted.
Deterministic; knows nothing of what is drafted.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

_HALF_LIFE = 64.0
"""Tokens judged after which what was seen before counts half."""
_LONG_HALF_LIFE = 2048.0
"""The same in comparisons, which are in characters."""
_BEFORE_ANY = (20.0, 1.0)
"""Tokens that stood and that fell, as if seen, before any was."""
_CREDIT = 32.0
"""Passes of one token that drafts may cost at first: a few whole drafts, for most processes answer but a few texts and
costs are measured roughly; of the 200 answers of the worst case it is less than half a percent."""
_MOST_CREDIT = (40.0, 4.0)
"""What good drafts may save up for others, in such passes: so many, and so many for each answer in progress."""
_ALLOWANCE = 0.02
"""The share of all passes that drafts may cost more than they bring."""
_HARDLY = 1e-3
"""The chance to stand from which on a token of a draft is not worth a look."""
_FARTHEST = 4096
_PROBE = 3
"""Tokens of a draft that is tried again although nothing is expected of it."""
_PROBE_CREDIT = 1.0
"""Credit that must be left when such a draft is tried."""
_MOST_RECORDS = 1024
Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Costs:
    """What a pass of so many tokens costs, relative to one of one token. Between those measured it is interpolated."""

    tokens: tuple[int, ...]
    """Ascending, at least one."""
    passes: tuple[float, ...]
    change: float = 0.0
    """What a pass costs more if the one before had another number of tokens."""

    @classmethod
    def measured(cls, table: Mapping[int, float], change: float = 0.0) -> Costs:
        """From any measure of cost, by tokens in the pass. Costs that fall with more tokens are taken as level."""
        tokens = sorted(table)
        one = max(table[tokens[0]], 1e-12)
        level, passes = 0.0, []
        for count in tokens:
            level = max(level, table[count] / one)
            passes.append(level)
        return cls(tuple(tokens), tuple(passes), change / one)

    def of(self, tokens: float) -> float:
        """The cost of a pass of so many tokens."""
        if len(self.tokens) == 1 or tokens <= self.tokens[0]:
            return self.passes[0]
        place = min(bisect_left(self.tokens, tokens), len(self.tokens) - 1)
        low, high = self.tokens[place - 1], self.tokens[place]
        rise = (self.passes[place] - self.passes[place - 1]) / (high - low)
        return self.passes[place - 1] + (tokens - low) * rise


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass that a draft may ride along in."""

    read: int
    """Tokens that the answer reads in it anyway, such as its prompt."""
    others: int = 0
    """Other answers in progress, which read a token or so each in the same engine call."""
    again: bool = False
    """Whether the answer has been corrected before: drafts fare worse then, so they are judged apart."""
    before: int = 0
    """Tokens that the answer read in the pass before; 0 in its first."""

    def share(self, costs: Costs, size: float = 1.0) -> float:
        """What a pass costs that reads so many tokens: its share of an engine call, and what more than one adds."""
        single = costs.of(self.others + 1)
        return single / (self.others + 1) + costs.of(self.others + size) - single

    def extra(self, costs: Costs, drafted: int) -> float:
        """What so many drafted tokens add."""
        others = self.others + self.read
        more = costs.of(others + drafted) - costs.of(others)
        return more + self.change(costs) * (self.changes(drafted) - self.changes(0))

    def change(self, costs: Costs) -> float:
        """The answer's share of what it costs that a pass is not as large as the one before."""
        return costs.change / (self.others + 1)

    def changes(self, drafted: int) -> int:
        """How often the size changes, from the pass before to this one and on to one for a single token."""
        return (self.read + drafted != self.before) + (self.read + drafted != 1)


@dataclass(frozen=True, slots=True)
class Record:
    """How one drafter has fared with one task."""

    stood: float = _BEFORE_ANY[0]
    fell: float = _BEFORE_ANY[1]
    credit: float = _CREDIT
    drafted: float = 1.0
    """Tokens that were drafted and read lately."""
    read: float = 1.0
    """The same, and those that came along, such as forced ones between them."""

    @property
    def size(self) -> float:
        """Tokens that are read for each drafted one: in a pass of its own as well, so that is what it saves."""
        return self.read / self.drafted

    @property
    def rate(self) -> float:
        """The chance that a drafted token stands if all before it did."""
        return self.stood / (self.stood + self.fell)

    @property
    def reach(self) -> int:
        """How many tokens of a draft may matter: those after them would hardly ever stand."""
        rate = self.rate
        far = 1 + math.log(_HARDLY) / math.log(rate) if rate < 1.0 else _FARTHEST
        return int(min(_FARTHEST, far * self.size))

    def length(self, costs: Costs, ride: Pass, drafted: int) -> int:
        """How many tokens of a draft to read, of `drafted` with those that come along: what is expected to gain most
        and can be paid for."""
        share, rate, change, size = ride.share(costs, self.size), self.rate, ride.change(costs), self.size
        best, most_gain, expected, chance = 0, 0.0, 0.0, 1.0
        read = ride.others + ride.read
        anyway = costs.of(read) + change * ride.changes(0)
        for count in range(1, drafted + 1):
            chance *= rate
            expected += chance
            tokens = min(round(count * size), drafted)
            extra = costs.of(read + tokens) - anyway + change * ride.changes(tokens)
            if extra > self.credit + change:
                break
            if extra <= self.credit and expected * share - extra > most_gain:
                best, most_gain = count, expected * share - extra
        probe = min(_PROBE, drafted)
        if best == 0 and self.credit - ride.extra(costs, probe) >= _PROBE_CREDIT:
            return probe
        return best

    def charged(self, amount: float) -> Record:
        """After a draft was paid for."""
        return replace(self, credit=self.credit - amount)

    def after(self, costs: Costs, ride: Pass, stood: int) -> Record:
        """After a pass in which so many drafted tokens stood, each of which would have cost a pass of its own."""
        credit = self.credit + stood * ride.share(costs, self.size) + _ALLOWANCE * ride.share(costs)
        return replace(self, credit=min(credit, _MOST_CREDIT[0] + _MOST_CREDIT[1] * (ride.others + 1)))

    def judged(self, stood: int, fell: bool, half_life: float = _HALF_LIFE) -> Record:
        """After a draft of which so many tokens stood and the next, if any, did not."""
        weight = 0.5 ** ((stood + fell) / half_life)
        return replace(self, stood=self.stood * weight + stood, fell=self.fell * weight + fell)

    def having_read(self, drafted: int, read: int) -> Record:
        """After a draft of which so many tokens were read, and so many in all with those that came along."""
        weight = 0.5 ** (drafted / _HALF_LIFE)
        return replace(self, drafted=self.drafted * weight + drafted, read=self.read * weight + max(drafted, read))


class Controller:
    """The records of all tasks and drafters on one engine. Safe to share between threads."""

    def __init__(self, costs: Costs | None = None) -> None:
        self.costs = costs
        """None until they are measured: nothing is drafted before."""
        self._records: dict[tuple[str, str, bool], Record] = {}
        self._compared: dict[tuple[str, str], Record] = {}
        self._lock = threading.Lock()

    def reach(self, task: str, drafter: str, ride: Pass) -> int:
        """How many tokens of a draft are worth a look, before it is known how many it has."""
        with self._lock:
            return self._records.get((task, drafter, ride.again), Record()).reach

    def length(self, task: str, drafter: str, drafted: int, ride: Pass) -> int:
        """How many of the drafted tokens to read in a pass, from none to all. They are paid for at once."""
        costs = self.costs
        if costs is None:
            return 0
        name = (task, drafter, ride.again)
        with self._lock:
            record = self._records.get(name, Record())
            length = record.length(costs, ride, drafted)
            if length:
                _keep(self._records, name, record.charged(ride.extra(costs, length)))
            return length

    def judge(
        self, task: str, drafter: str, ride: Pass, drafted: int, stood: int, *, paid: int = 0, read: int = 0
    ) -> None:
        """Take note of a pass: how many drafted tokens were read in it, perhaps none, and how many of them stood.

        `paid` is what `length` said and `read` how many tokens were read for the draft in the end, those between the
        drafted ones as well: the difference is paid back, or paid too.
        """
        costs = self.costs
        if costs is None:
            return
        name = (task, drafter, ride.again)
        with self._lock:
            record = self._records.get(name, Record())
            if paid != read:
                record = record.charged(ride.extra(costs, read) - ride.extra(costs, paid))
            record = record.after(costs, ride, stood)
            if drafted:
                record = record.judged(stood, stood < drafted).having_read(drafted, read)
            _keep(self._records, name, record)

    def compare(self, task: str, drafter: str, stood: int, fell: bool) -> None:
        """Take note of how many characters of a whole draft agree with the verified answer, read or not."""
        name = (task, drafter)
        with self._lock:
            _keep(self._compared, name, self._compared.get(name, Record()).judged(stood, fell, _LONG_HALF_LIFE))

    def ranked(self, task: str, drafters: Sequence[str]) -> list[str]:
        """The drafters, those first whose drafts stood longest when they were compared; equals as given."""
        with self._lock:
            rates = {drafter: self._compared.get((task, drafter), Record()).rate for drafter in drafters}
        return sorted(drafters, key=lambda drafter: -rates[drafter])


def _keep(records: dict[Name, Record], name: Name, record: Record) -> None:
    """Keep a record, and give up the one that was changed longest ago if there are too many."""
    records.pop(name, None)
    records[name] = record
    if len(records) > _MOST_RECORDS:
        del records[next(iter(records))]
