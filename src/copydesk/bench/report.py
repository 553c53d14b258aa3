"""Rows of a comparison, as JSON and as a Markdown table between two marks of a page. Knows nothing of measuring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from copydesk.bench.spread import Spread
from copydesk.errors import CopydeskError
from copydesk.types import Json


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: ours beside a peer's, measured in turns on the same machine."""

    name: str
    what: str
    wanted: float
    """What the ratio must reach; with `most`, what it may not pass. Without a `ratio`, the same of `ours`."""
    unit: str
    ours: Spread
    peer: str
    theirs: Spread | None = None
    ratio: Spread | None = None
    most: bool = False
    of_limit: float | None = None
    """The share of the time that reading the weights from memory alone would have taken, of ours."""
    peer_of_limit: float | None = None
    more: Json = field(default_factory=dict)
    """Whatever else was counted."""

    @property
    def reached(self) -> bool:
        """Whether the median does what is wanted."""
        median = (self.ratio or self.ours).median
        return median <= self.wanted if self.most else median >= self.wanted

    def to_dict(self) -> Json:
        return (
            asdict(self)
            | {"reached": self.reached}
            | {
                name: spread.to_dict() if spread else None
                for name, spread in (("ours", self.ours), ("theirs", self.theirs), ("ratio", self.ratio))
            }
        )


def markdown(rows: Sequence[Row], conditions: Sequence[str]) -> str:
    """The table, under it the conditions as a list."""
    lines = [
        "| what | wanted | ours | peer | ratio | reached | share of the memory limit, ours / peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        wanted = f"{'at most ' if row.most else ''}{row.wanted:g}{'x' if row.ratio else f' {row.unit}'}"
        theirs = f"{row.peer}: {row.theirs} {row.unit}" if row.theirs else row.peer
        shares = " / ".join("-" if share is None else f"{share:.0%}" for share in (row.of_limit, row.peer_of_limit))
        cells = (row.what, wanted, f"{row.ours} {row.unit}", theirs, f"{row.ratio}x" if row.ratio else "")
        lines.append(f"| {' | '.join(cells)} | {'yes' if row.reached else '**no**'} | {shares} |")
    return "\n".join([*lines, "", *(f"- {condition}" for condition in conditions)])


def write(page: Path, name: str, text: str) -> None:
    """Put `text` into the Markdown file `page` between its marks for `name`, at its end if it has none.

    Errors: `CopydeskError` when it cannot be read or written.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    try:
        old = page.read_text(encoding="utf-8") if page.exists() else "# Benchmarks\n"
        before, marked, rest = old.partition(begin)
        after = rest.partition(end)[2] if marked else "\n"
        before = before if marked else before.rstrip("\n") + "\n\n"
        page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8", newline="\n")
    except OSError as error:
        raise CopydeskError(f"{page}: {error.strerror or error}.") from error
