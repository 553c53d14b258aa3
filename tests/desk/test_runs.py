"""Which strings are runs of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.runs import MOST_RUNS, Runs

TEXT = "Ｌｉｌｙ　张 三，ﾎﾃﾙ 25号\u200b楼"
CHARACTERS = st.text(st.sampled_from("ab　 Ａ天\u200b"), max_size=12)


def is_run(text: str, value: str, most: int = 1, least: int = 0) -> bool:
    runs = Runs(text)
    reached = runs.start(most)
    for length, character in enumerate(value, 1):
        assert reached is not None
        moved = runs.after(reached, character, least - length)
        if moved is None:
            return False
        reached = moved
    return True


def plain(text: str) -> str:
    return "".join(text.replace("Ａ", "A").replace("\u200b", "").split())


@pytest.mark.parametrize(
    "value", ["", "Lily", "Ｌily", "Lily 张三", "Lily张 三", "三,", "ホテル25", "号楼", "25号\u200b楼", "　张"]
)
def test_a_run_is_one_up_to_width_and_spaces(value: str) -> None:
    assert is_run(TEXT, value)


@pytest.mark.parametrize("value", ["lily", "Li ly", "Lily  张", "张楼", "Linda", "号25", "张三三"])
def test_what_is_added_or_elsewhere_or_in_another_case_is_no_run(value: str) -> None:
    assert not is_run(TEXT, value)


def test_several_runs_stand_in_order() -> None:
    assert is_run("abcdefghij", "abefij", MOST_RUNS)
    assert not is_run("abcdefghij", "efab", MOST_RUNS)
    assert is_run("abcdefghij", "aceg", 4)
    assert not is_run("abcdefghij", "acegi", 4)
    assert is_run("aab", "aab", 3)


def test_a_run_that_must_go_on_starts_where_it_can() -> None:
    assert is_run("ab1234ab", "ab1", least=4)
    assert not is_run("ab1234ab", "4a", least=4)
    assert is_run("ab1234ab", "4a", least=3)


def test_what_may_follow_is_known() -> None:
    runs = Runs("ab a\u3000c")
    assert runs.following(runs.start(1)) == {"a", "b", " ", "c"}
    after_a = runs.after(runs.start(1), "a")
    assert after_a is not None
    assert runs.following(after_a) == {"b", " ", "c"}


@given(CHARACTERS, CHARACTERS)
def test_runs_are_those_that_comparing_without_spaces_finds(text: str, value: str) -> None:
    found = is_run(text, plain(value))
    assert found == (plain(value) in plain(text))
    if is_run(text, value):
        assert found


@given(CHARACTERS, st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=MOST_RUNS))
def test_parts_of_a_text_in_order_are_several_runs(text: str, cuts: list[tuple[int, int]]) -> None:
    parts = []
    place = 0
    for start, length in cuts:
        begin = place + start
        parts.append(text[begin : begin + length])
        place = begin + length
    assert is_run(text, "".join(parts), MOST_RUNS)
