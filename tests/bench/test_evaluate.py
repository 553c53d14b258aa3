"""Shares, latencies and errors from gold lines, with a model whose answers are written down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.bench.evaluate import evaluate
from copydesk.bench.gold import Gold
from copydesk.tasks.builtin import AGNEWS, AGNEWS_LABELS, address
from copydesk.types import Answer, Failure, Field, Task, Usage

if TYPE_CHECKING:
    from copydesk.model import Model

TASK = address(("city", "name"))


class Written:
    """A model that answers by the book: a value and its milliseconds by text; a text not in it fails."""

    name, engine = "written", "book"

    def __init__(self, book: Mapping[str, tuple[Any, float]]) -> None:
        self._book = book
        self.in_flight: list[int] = []

    def extract_many(
        self, texts: Iterable[str], task: Task, *, in_flight: int, seed: int, abstain_below: float | None = None
    ) -> Iterator[Answer[Any] | Failure]:
        self.in_flight.append(in_flight)
        self.abstain_below = abstain_below
        return map(self._answer, texts)

    classify_many = extract_many

    def _answer(self, text: str) -> Answer[Any] | Failure:
        if text not in self._book:
            return Failure("length", "does not fit")
        value, ms = self._book[text]
        labels = {value: 1.0} if isinstance(value, str) else {}
        fields = {name: Field((), "inferred", 0.9) for name in value} if isinstance(value, dict) else {}
        return Answer(
            value,
            fields,
            0.8,
            True,
            None,
            None,
            3,
            self.name,
            self.engine,
            Usage(1, 0, 1),
            ms,
            labels=labels,
            abstained=value is None,
        )


def model(book: Mapping[str, tuple[Any, float]]) -> Model:
    return cast("Model", Written(book))


def test_records_are_compared_on_their_labelled_fields() -> None:
    gold = [
        Gold("right", {"city": "天津市", "name": "张三"}),
        Gold("half", {"city": "天津市", "name": "张三"}),
        Gold("only the city is labelled", {"city": "天津市"}),
        Gold("fails", {"city": "天津市"}),
    ]
    book = {
        "right": ({"city": "天津市", "name": "张三"}, 10.0),
        "half": ({"city": "天津市", "name": "李四"}, 30.0),
        "only the city is labelled": ({"city": "天津市", "name": "anyone"}, 20.0),
    }
    report = evaluate(model(book), TASK, gold, seed=7)
    assert report.figures == {
        "exact": 0.5,
        "fields": round(4 / 6, 6),
        "valid": 0.75,
        "calibration_error": 0.1,
        "n": 4,
        "p50_ms": 20.0,
        "p95_ms": 30.0,
        "passes_mean": 3.0,
        "model": "written",
        "engine": "book",
        "seed": 7,
    }
    assert report.errors == (
        {"text": "half", "expected": gold[1].expected, "answer": {"city": "天津市", "name": "李四"}},
        {"text": "fails", "expected": gold[3].expected, "error": {"code": "length", "message": "does not fit"}},
    )


def test_an_answer_outside_its_schema_is_not_valid() -> None:
    report = evaluate(model({"a": ({"city": 5, "name": ""}, 1.0)}), TASK, [Gold("a", {"name": ""})])
    assert (report.figures["exact"], report.figures["valid"]) == (1.0, 0.0)


def test_a_field_that_is_not_there_is_not_an_empty_one() -> None:
    assert evaluate(model({"a": ({"city": ""}, 1.0)}), TASK, [Gold("a", {"name": None})]).figures["exact"] == 0.0


def test_macro_f1_is_the_mean_over_the_labels() -> None:
    # World: precision 1/2, recall 1. Sports: precision 1, recall 1/2. Sci/Tech: failed, recall 0.
    gold = [Gold("a", {}, "World"), Gold("b", {}, "Sports"), Gold("c", {}, "Sports"), Gold("d", {}, "Sci/Tech")]
    book = {"a": ("World", 1.0), "b": ("World", 1.0), "c": ("Sports", 1.0)}
    report = evaluate(model(book), AGNEWS, gold)
    assert report.figures["accuracy"] == 0.5
    assert report.figures["f1_macro"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3, abs=1e-6)
    assert report.figures["valid"] == 0.75
    assert report.figures["calibration_error"] == pytest.approx(0.8 - 2 / 3, abs=1e-6)
    assert [error["text"] for error in report.errors] == ["b", "d"]


@given(st.lists(st.tuples(st.sampled_from(AGNEWS_LABELS), st.sampled_from(AGNEWS_LABELS)), min_size=1))
def test_all_right_is_one_and_shares_stay_shares(pairs: list[tuple[str, str]]) -> None:
    gold = [Gold(str(place), {}, wanted) for place, (wanted, _) in enumerate(pairs)]
    figures = evaluate(model({str(place): (came, 1.0) for place, (_, came) in enumerate(pairs)}), AGNEWS, gold).figures
    assert 0 <= figures["accuracy"] <= 1
    assert 0 <= figures["f1_macro"] <= 1
    assert (figures["accuracy"] == 1) == (figures["f1_macro"] == 1) == all(wanted == came for wanted, came in pairs)


def test_nothing_but_failures_has_no_latency() -> None:
    figures = evaluate(model({}), TASK, [Gold("a", {"city": ""})]).figures
    assert (figures["exact"], figures["valid"]) == (0.0, 0.0)
    assert figures["p50_ms"] is figures["passes_mean"] is figures["calibration_error"] is None


def test_rows_go_one_by_one_unless_asked_otherwise() -> None:
    written = Written({"a": ({"city": "", "name": ""}, 1.0)})
    gold = [Gold("a", {"city": ""})]
    evaluate(cast("Model", written), TASK, gold)
    evaluate(cast("Model", written), TASK, gold, in_flight=9)
    assert written.in_flight == [1, 9]


def test_abstentions_are_counted_apart() -> None:
    gold = [Gold(text, {}, label) for text, label in zip("abcd", ("World", "World", "Sports", "Sports"), strict=True)]
    book = {"a": ("World", 1.0), "b": (None, 1.0), "c": ("World", 1.0), "d": ("Sports", 1.0)}
    asked = Written(book)
    figures = evaluate(cast("Model", asked), AGNEWS, gold, abstain_below=0.5).figures
    assert asked.abstain_below == 0.5
    assert figures["abstained"] == 0.25
    assert figures["accuracy"] == 0.5
    assert figures["accuracy_labelled"] == round(2 / 3, 6)
    assert figures["valid"] == 1.0
    assert figures["calibration_error"] == round(0.8 - 2 / 3, 6)
    assert "abstained" not in evaluate(cast("Model", asked), AGNEWS, gold).figures
