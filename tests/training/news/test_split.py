import json
from pathlib import Path

from copydesk.training.news.rows import NewsRow, story_keys
from copydesk.training.news.split import split, write_gold

WORDS = ("oil", "derby", "senate", "satellite", "bank", "coach", "border", "browser", "merger", "final")


def rows(stories: int) -> list[NewsRow]:
    result = []
    for story in range(stories):
        title = f"Story number {story} about the {WORDS[story % 10]} of {WORDS[story // 10 % 10]}"
        description = f"In story {story} a reporter wrote at some length about {WORDS[story % 10]} and case {story}."
        result.append(NewsRow(f"{title} {description}", story % 4, "title+description", title, description))
        if story % 3 == 0:
            result.append(NewsRow(description, story % 4, "description only"))
    return result


def test_no_story_straddles_two_parts() -> None:
    parts = split(rows(90), part_rows=20)
    keys = [set().union(*map(story_keys, part)) for part in (parts.train, parts.dev, parts.held_out)]
    assert not keys[0] & keys[1]
    assert not keys[0] & keys[2]
    assert not keys[1] & keys[2]
    assert (len(parts.dev), len(parts.held_out)) == (20, 20)
    assert all(row.whole for row in (*parts.dev, *parts.held_out))


def test_the_seed_decides() -> None:
    material = rows(60)
    assert split(material, 1, part_rows=10) == split(material, 1, part_rows=10)
    assert split(material, 1, part_rows=10).dev != split(material, 2, part_rows=10).dev


def test_train_rows_know_their_story_and_hold_no_copies() -> None:
    parts = split(rows(60), part_rows=10)
    assert len(parts.train) == len(parts.train_stories) == 40
    assert len(set(parts.train_stories)) == 40


def test_gold_lines_name_the_label(tmp_path: Path) -> None:
    write_gold([NewsRow("über alles", 3, "k")], tmp_path / "gold.jsonl")
    line = (tmp_path / "gold.jsonl").read_text(encoding="utf-8")
    assert json.loads(line) == {"text": "über alles", "label": "Sci/Tech"}
