"""The parts of what was learned."""

from __future__ import annotations

from copydesk.drafting.shape import read
from copydesk.drafting.tagger.tagger import in_items
from copydesk.drafting.tagger.targets import targets_of

STRING = {"type": "string"}


def test_targets_within_arrays_are_told_from_single_ones() -> None:
    record = {"type": "object", "properties": {"name": STRING}, "required": ["name"]}
    targets = targets_of(
        read(
            {
                "type": "object",
                "properties": {
                    "name": STRING,
                    "all": {"type": "array", "items": record},
                    "names": {"type": "array", "items": STRING},
                },
            }
        )
    )
    named = [in_items(several, leaf) for several in targets.arrays for leaf in several.leaves()]
    assert named == ["all[].name", "names[]"]
    assert not {single.path for single in targets.singles} & set(named)
