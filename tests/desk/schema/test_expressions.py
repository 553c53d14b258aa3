"""Regular expressions of callers: what they match, and how much they ask for at once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.schema.expressions import fits, found, longest_run


@pytest.mark.parametrize(
    ("pattern", "run"),
    [
        ("", 0),
        ("abc", 3),
        ("(ab){3}", 6),
        ("a|bcd", 3),
        ("(a|b{5}c)*", 6),
        ("a{0,5}", 1),
        ("a{ 5 }", 5),
        ("a{5,}?b", 6),
        ("a{2}{3}", 6),
        ("((((a{100}){100}){100}){100})", 10**8),
        (".{100}", 0),
        (r"\d{4}-\d{2}", 1),
        (r"\p{L}{3}", 3),
        (r"\({3}", 3),
        ("[(]{3}", 3),
        (r"[[:alpha:]\]x]{4}z", 5),
        ("[]a]{4}", 4),
        ("(?i)a{5}", 5),
        ("(?:a{2}){3}", 6),
        ("(?P<n>a{2}){3}", 6),
        ("(?i:a{7}){2}", 14),
        (")))a{3}", 3),
        ("(((a{3}", 3),
    ],
)
def test_the_longest_run_takes_repetitions_once_at_least_and_the_longest_alternative(pattern: str, run: int) -> None:
    assert longest_run(pattern) == run


def test_verbose_mode_is_not_understood() -> None:
    with pytest.raises(ValueError, match="verbose"):
        longest_run("(?ix) a # (")


_PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "ab"]),
    lambda inner: st.one_of(
        st.builds("({}){{{}}}".format, inner, st.integers(1, 3)),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
    ),
    max_leaves=6,
)


@given(_PATTERNS)
def test_the_longest_run_is_as_long_as_the_longest_match_where_all_is_counted(pattern: str) -> None:
    assert longest_run(pattern) == re._parser.parse(pattern).getwidth()[1]  # type: ignore[attr-defined]


@given(_PATTERNS, st.text("ab", max_size=8))
def test_what_is_found_is_what_python_finds(pattern: str, text: str) -> None:
    assert found(pattern, text) == (re.search(pattern, text) is not None)


def test_an_expression_that_python_would_try_for_ever_is_answered() -> None:
    assert not found("^(a+)+$", "a" * 60 + "!")
    assert found("^(a+)+$", "a" * 60)


def test_an_end_is_the_end_of_the_text_alone() -> None:
    assert not found("^a$", "a\n")


def test_a_lookaround_is_not_understood() -> None:
    with pytest.raises(ValueError, match="not understood"):
        found("(?=a)", "a")


def test_fitting_is_matching_the_whole() -> None:
    assert fits("a|b", "b")
    assert not fits("a|b", "ab")
    assert not fits("a", "a\n")
    with pytest.raises(ValueError, match="is not understood"):
        fits("(", "a")
