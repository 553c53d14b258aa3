import gzip
import json
from pathlib import Path

from copydesk.training.news.rows import MAIN_FILE, NewsRow, distinct, normalise, read_rows, story_groups

DESCRIPTION = "Oil prices rose on Monday as traders did not expect the cartel to pump more crude this winter."
TITLE = "Oil prices rise again on Monday"
WHOLE = NewsRow(f"{TITLE} {DESCRIPTION}", 2, "title+description", TITLE, DESCRIPTION)
END = NewsRow(DESCRIPTION.lower(), 2, "description only, lower-cased or tokenised copy")
OTHER = NewsRow("Striker scores twice as City beat United in a one-sided derby on Sunday.", 1, "description only")


def test_entity_remnants_make_no_difference() -> None:
    assert normalise("It didn #39;t &lt;b&gt;work&lt;/b&gt; for AT amp;T") == normalise("It didnt work, for ATT")


def test_a_description_alone_belongs_to_its_story() -> None:
    assert story_groups([OTHER, END, WHOLE]) == [[0], [1, 2]]


def test_an_equal_title_links_rows() -> None:
    again = NewsRow(f"{TITLE} Something else happened.", 2, "title+description", TITLE, "Something else happened.")
    assert story_groups([WHOLE, OTHER, again]) == [[0, 2], [1]]


def test_links_run_through_later_rows() -> None:
    first = NewsRow("Alpha " * 20 + "x" * 60, 0, "description only")
    last = NewsRow("Beta " * 20 + "y" * 60, 0, "description only")
    bridge = NewsRow("Alpha " * 20 + "y" * 60, 0, "description only")
    assert story_groups([first, last, bridge]) == [[0, 1, 2]]


def test_of_copies_the_whole_row_stays() -> None:
    assert list(distinct([END, OTHER, WHOLE])) == [WHOLE, OTHER]


def test_reads_rows_and_does_without_the_second_file(tmp_path: Path) -> None:
    record = {"text": "a b", "label": 3, "label_name": "Sci/Tech", "title": None, "description": None, "kind": "k"}
    with gzip.open(tmp_path / MAIN_FILE, "wt", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")
    assert read_rows(tmp_path) == [NewsRow("a b", 3, "k")]
