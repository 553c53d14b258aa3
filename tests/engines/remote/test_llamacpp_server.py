"""A real server: llama.cpp's, over the built-in model, as a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import copydesk
from copydesk.bench.peers import Peer
from copydesk.errors import AnswerError, ModelError, TextError
from copydesk.models.resolve import resolve
from copydesk.types import Answer, Constraint, Failure

pytest.importorskip("gguf", reason="gguf is not installed")
pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")

TEXT = "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435"
NEWS = "Stocks fell on Monday as oil prices rose to their highest in two years."


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    from copydesk.bench.gguf_file import write_gguf

    path = tmp_path_factory.mktemp("gguf") / "nano.gguf"
    write_gguf(resolve(None), path)
    with Peer(None, path, 1).start() as server:
        yield server.url


@pytest.fixture(scope="module")
def model(url: str) -> Iterator[copydesk.Model]:
    with copydesk.load(engine=url) as model:
        yield model


@pytest.fixture(scope="module")
def ours() -> Iterator[copydesk.Model]:
    with copydesk.load(learn=False) as model:
        yield model


def test_what_it_is(model: copydesk.Model, url: str) -> None:
    assert model.engine == f"{url}/v1"
    assert model.name.endswith("nano.gguf")


def test_an_extraction_as_ours(model: copydesk.Model, ours: copydesk.Model) -> None:
    answer, own = model.extract(TEXT), ours.extract(TEXT)
    assert answer.value == own.value
    assert list(answer.value) == list(own.value)
    assert {path: field.spans for path, field in answer.fields.items()} == {
        path: field.spans for path, field in own.fields.items()
    }
    assert answer.usage.prompt_tokens > 50
    assert answer.confidence is None or 0.5 < answer.confidence <= 1.0


def test_labels_as_ours(model: copydesk.Model, ours: copydesk.Model) -> None:
    answer, own = model.classify(NEWS), ours.classify(NEWS)
    assert answer.value == own.value == "Business"
    assert answer.labels == pytest.approx(dict(own.labels), abs=0.02)  # its weights are quantised
    assert answer.label_mass == pytest.approx(own.label_mass, abs=0.02)


def test_held_to_labels_that_one_token_does_not_tell_apart(model: copydesk.Model) -> None:
    assert model.classify(NEWS, ["Business news", "Business opinion"]).value.startswith("Business")


def test_many_at_once(model: copydesk.Model) -> None:
    rows: list[str | Failure] = [TEXT, "", TEXT]
    first, second, third = model.extract_many(rows)
    assert isinstance(first, Answer)
    assert isinstance(second, Failure)
    assert isinstance(third, Answer)
    assert first.value == third.value


def test_chat_streams(model: copydesk.Model) -> None:
    stream = model.chat_stream(NEWS, max_tokens=8, logprobs=True, top_logprobs=2)
    deltas = list(stream)
    reply = stream.reply
    assert "".join(delta.content for delta in deltas) == reply.content
    assert reply.usage.completion_tokens > 0
    assert len(reply.logprobs[0].top) == 2


def test_constraints_are_kept(model: copydesk.Model) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9, "minimum": 0}}, "required": ["n"]}
    assert 0 <= model.chat(NEWS, schema=schema, max_tokens=64).value["n"] <= 9
    assert model.chat(NEWS, constraint=Constraint(choice=("left", "right"))).content in ("left", "right")


def test_a_constraint_that_it_drops_is_an_error(model: copydesk.Model) -> None:
    """llama.cpp's grammars leave out what they cannot say, and it says nothing."""
    number = {"type": "integer", "minimum": 1, "maximum": 999, "multipleOf": 997}
    schema = {"type": "object", "properties": {"n": number}, "required": ["n"]}
    with pytest.raises(AnswerError, match="did not keep to the schema"):
        model.extract(NEWS, schema, max_tokens=64)


def test_a_text_that_does_not_fit(model: copydesk.Model) -> None:
    text = "oil prices rose. " * 1100
    with pytest.raises(TextError, match="does not fit"):
        model.classify(text)
    answer = model.classify(text, truncate=True)
    assert answer.truncated
    assert answer.value in ("World", "Sports", "Business", "Sci/Tech")


def test_a_model_that_it_has_not(url: str) -> None:
    with pytest.raises(ModelError, match="has no model 'other'"):
        copydesk.load(Path("other"), engine=url)
