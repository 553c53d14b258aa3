"""Requests as one server or another understands them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.completions import Asked
from copydesk.engines.remote.dialect import Dialect, label_of, label_schema, one_of, written
from copydesk.errors import EngineError
from copydesk.types import Constraint, Sampling, Schema

MESSAGES = ({"role": "user", "content": "Hello"},)
SCHEMA = {"type": "object"}


def test_a_plain_request() -> None:
    body = Dialect().body(Asked(MESSAGES, max_tokens=5, stop=("x",)), "m")
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 5,
        "stop": ["x"],
    }


def test_a_text_to_go_on_with() -> None:
    body = Dialect(most_top=5, template=True).body(Asked(prompt="Once", top=3), "m")
    assert (body["prompt"], body["logprobs"]) == ("Once", 3)
    assert not {"messages", "top_logprobs", "chat_template_kwargs"} & set(body)


@pytest.mark.parametrize(
    ("way", "body"),
    [
        (
            "response_format",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
                }
            },
        ),
        ("structured_outputs", {"structured_outputs": {"json": SCHEMA}}),
        ("guided", {"guided_json": SCHEMA}),
    ],
)
def test_a_schema_in_each_way(way: str, body: dict[str, object]) -> None:
    dialect = Dialect(schema=way)  # type: ignore[arg-type]
    for constraint in (Constraint(schema=Schema(SCHEMA)), Constraint(json_object=True)):
        assert body.items() <= dialect.body(Asked(MESSAGES, constraint=constraint), "m").items()


@pytest.mark.parametrize(
    ("way", "choice", "regex"),
    [
        ("structured_outputs", {"choice": ["a", "b"]}, {"regex": "a+"}),
        ("guided", ["a", "b"], "a+"),
        ("regex", "(a|b)", "a+"),
    ],
)
def test_choices_and_regular_expressions(way: str, choice: object, regex: object) -> None:
    keys = {"structured_outputs": ("structured_outputs",) * 2, "guided": ("guided_choice", "guided_regex")}
    first, second = keys.get(way, (way, way))
    dialect = Dialect(choice=way, regex=way)  # type: ignore[arg-type]
    assert dialect.body(Asked(MESSAGES, constraint=Constraint(choice=("a", "b"))), "m")[first] == choice
    assert dialect.body(Asked(MESSAGES, constraint=Constraint(regex="a+")), "m")[second] == regex


def test_a_choice_as_a_grammar_of_llama_cpp() -> None:
    assert written("grammar", choice=('say "a"', "b\\c\n")) == {"grammar": 'root ::= "say \\"a\\"" | "b\\\\c\\n"'}


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1), min_size=1))
def test_a_choice_as_a_regular_expression(texts: list[str]) -> None:
    pattern = one_of(tuple(texts))
    assert all(re.fullmatch(pattern, text) for text in texts)
    assert not re.fullmatch(pattern, "".join(texts) + "!")


def test_a_label_that_must_be_asked_for_as_json() -> None:
    constraint = Constraint(choice=("a", "b"))
    dialect = Dialect(schema="response_format")
    assert dialect.labels_as_json(constraint)
    assert not dialect.labels_as_json(Constraint())
    body = dialect.body(Asked(MESSAGES, constraint=constraint), "m")
    assert body["response_format"]["json_schema"]["schema"] == label_schema(("a", "b"))
    assert label_of('{"label": "b"}') == "b"
    for wrong in ("b", "[]", "{}"):
        with pytest.raises(EngineError, match="did not keep to the labels"):
            label_of(wrong)


@pytest.mark.parametrize(
    "constraint",
    [
        Constraint(schema=Schema(SCHEMA)),
        Constraint(json_object=True),
        Constraint(regex="a"),
        Constraint(choice=("a", "b")),
    ],
)
def test_a_constraint_that_the_server_ignores_is_an_error(constraint: Constraint) -> None:
    with pytest.raises(EngineError, match="ignores") as raised:
        Dialect().body(Asked(MESSAGES, constraint=constraint), "m")
    assert raised.value.code == "constraint_ignored"


def test_probabilities_are_asked_for_where_they_are_told() -> None:
    assert "logprobs" not in Dialect().body(Asked(MESSAGES, top=5), "m")
    body = Dialect(most_top=3).body(Asked(MESSAGES, top=5), "m")
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)
    assert Dialect(most_top=3).body(Asked(MESSAGES, top=0), "m")["top_logprobs"] == 1


def test_a_known_server_is_told_all_of_the_sampling() -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, repetition_penalty=1.1, seed=3)
    asked = Asked(MESSAGES, sampling=sampling)
    vllm = Dialect("vllm").body(asked, "m")
    assert {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.1, "seed": 3, "top_p": 0.9}.items() <= vllm.items()
    assert Dialect("llamacpp").body(asked, "m")["repeat_penalty"] == 1.1
    assert Dialect("sglang").body(asked, "m")["top_k"] == -1
    unknown = Dialect().body(asked, "m")
    assert "top_k" not in unknown
    assert unknown["repetition_penalty"] == 1.1


def test_sampling_that_a_server_has_not_is_left_out() -> None:
    sampling = Sampling(temperature=0.5, top_k=5, min_p=0.1, repetition_penalty=1.1, presence_penalty=0.5)
    body = Dialect(extended=False).body(Asked(MESSAGES, sampling=sampling), "m")
    assert body["presence_penalty"] == 0.5
    assert not {"top_k", "min_p", "repetition_penalty"} & set(body)
    assert any("left out" in note for note in Dialect(extended=False).notes())


def test_thinking_is_switched_as_the_server_has_it() -> None:
    template, effort = Dialect(template=True), Dialect(effort=True)
    assert template.switch(True) == {"chat_template_kwargs": {"enable_thinking": True}}
    assert template.switch(False) == {"chat_template_kwargs": {"enable_thinking": False}}
    assert (effort.switch(True), effort.switch(False)) == ({}, {"reasoning_effort": "none"})
    assert Dialect().switch(False) == {}


def test_what_was_found_out_in_words() -> None:
    notes = Dialect("vllm", schema="response_format", most_top=20).notes()
    assert notes == (
        "a server of vllm",
        "holds to JSON Schemas (response_format)",
        "holds to choices (response_format)",
        "ignores regular expressions",
        "tells the 20 most probable tokens",
    )
    assert {"ignores choices", "tells no probabilities", "thinks, also when told not to"} <= {
        *Dialect(thinks=True).notes()
    }
