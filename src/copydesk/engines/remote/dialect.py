"""How a request is written for one server: which of the ways of stating a constraint it understands, and what else.

Knows the forms of the OpenAI API and of the servers that extend it; nothing of connections.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from copydesk.engines.completions import Asked
from copydesk.errors import EngineError
from copydesk.types import Constraint, Json, Sampling

Kind = Literal["vllm", "sglang", "llamacpp", "ollama", "copydesk", "unknown"]
Way = Literal["response_format", "structured_outputs", "guided", "grammar", "regex"]
"""OpenAI's; vLLM's today and before; llama.cpp's GBNF; SGLang's."""
SCHEMA_WAYS: tuple[Way, ...] = ("response_format", "structured_outputs", "guided")
CHOICE_WAYS: Mapping[Kind, tuple[Way, ...]] = {
    "vllm": ("structured_outputs", "guided"),
    "sglang": ("regex",),
    "llamacpp": ("grammar",),
    "ollama": (),
    "copydesk": ("structured_outputs", "guided"),
    "unknown": ("structured_outputs", "guided", "regex", "grammar"),
}
"""Ways that may be understood, by what a server says it is. Where none is, a label is asked for as JSON."""
REGEX_WAYS: Mapping[Kind, tuple[Way, ...]] = {
    kind: tuple(way for way in ways if way != "grammar") for kind, ways in CHOICE_WAYS.items()
}
EXTENDED = ("top_k", "min_p", "repetition_penalty")
"""Sampling that the OpenAI API has not."""
LABEL = "label"
"""The key of a label that is asked for as JSON."""
_GBNF_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server understands, as it was found out by asking."""

    kind: Kind = "unknown"
    schema: Way | None = None
    """How it is held to a JSON Schema; None if it ignores all ways."""
    choice: Way | None = None
    regex: Way | None = None
    most_top: int = 0
    template: bool = False
    """Whether it takes variables of the chat template, which switch thinking on and off."""
    effort: bool = False
    """Whether thinking is switched off by `reasoning_effort` instead."""
    thinks: bool = False
    """Whether it thinks although told not to."""
    extended: bool = True
    """Whether it takes sampling that the OpenAI API has not: top-k, min-p, the repetition penalty."""
    verifies: bool = False
    """Whether it tells the probabilities of a prompt's tokens, so that a draft can be verified."""

    def body(self, asked: Asked, model: str) -> Json:
        """The request. Errors: `EngineError` for a constraint that the server ignores."""
        body: Json = {"model": model, **self._sampling(asked.sampling)}
        if asked.prompt is None:
            body["messages"] = [dict(message) for message in asked.messages]
            body |= self.switch(asked.thinking)
        else:
            body["prompt"] = asked.prompt
        if asked.max_tokens is not None:
            body["max_tokens"] = asked.max_tokens
        if asked.stop:
            body["stop"] = list(asked.stop)
        if asked.top is not None and self.most_top:
            top = max(1, min(asked.top, self.most_top))  # for llama.cpp 0 means that no probability is wanted at all
            body |= {"logprobs": True, "top_logprobs": top} if asked.prompt is None else {"logprobs": top}
        return body | self._constraint(asked.constraint)

    def notes(self) -> tuple[str, ...]:
        """What was found out, a line each."""
        server = "a server of an unknown kind" if self.kind == "unknown" else f"a server of {self.kind}"
        ways = {"JSON Schemas": self.schema, "choices": self.choice or self.schema, "regular expressions": self.regex}
        held = tuple(f"holds to {what} ({way})" if way else f"ignores {what}" for what, way in ways.items())
        told = f"tells the {self.most_top} most probable tokens" if self.most_top else "tells no probabilities"
        others = {
            "verifies drafts": self.verifies,
            "thinks, also when told not to": self.thinks,
            "has no top_k, min_p and repetition_penalty, which are left out": not self.extended,
        }
        return (server, *held, told, *(note for note, holds in others.items() if holds))

    def labels_as_json(self, constraint: Constraint) -> bool:
        """Whether the text will be an object that holds the label."""
        return bool(constraint.choice) and self.choice is None

    def _constraint(self, constraint: Constraint) -> Json:
        if constraint.schema is not None:
            return self._written(self.schema, "a JSON Schema", schema=constraint.schema.json)
        if constraint.json_object:
            return self._written(self.schema, "a JSON Schema", schema={"type": "object"})
        if constraint.regex is not None:
            return self._written(self.regex, "a regular expression", regex=constraint.regex)
        if constraint.choice:
            if self.choice is None:
                return self._written(self.schema, "a choice of texts", schema=label_schema(constraint.choice))
            return written(self.choice, choice=constraint.choice)
        return {}

    def _written(self, way: Way | None, what: str, *, schema: Json | None = None, regex: str | None = None) -> Json:
        if way is None:
            raise EngineError(
                f"The server ignores {what}: asked for one of two odd words, it wrote something else. Serve the model "
                "with vLLM, SGLang, llama.cpp, Ollama or copydesk.",
                code="constraint_ignored",
            )
        return written(way, schema=schema, regex=regex)

    def _sampling(self, sampling: Sampling) -> Json:
        body: Json = {"temperature": sampling.temperature}
        if sampling.temperature > 0.0:
            body |= {"top_p": sampling.top_p, "seed": sampling.seed}
        else:
            body["seed"] = sampling.seed
        penalty = "repeat_penalty" if self.kind in ("llamacpp", "ollama") else "repetition_penalty"
        own = {
            "top_k": (sampling.top_k, 0),
            "min_p": (sampling.min_p, 0.0),
            penalty: (sampling.repetition_penalty, 1.0),
            "presence_penalty": (sampling.presence_penalty, 0.0),
            "frequency_penalty": (sampling.frequency_penalty, 0.0),
        }
        # A server may have defaults of its own; one that nobody knows may refuse what the OpenAI API has not.
        known = self.kind not in ("unknown", "ollama")
        body |= {name: value for name, (value, usual) in own.items() if known or value != usual}
        if not self.extended:
            body = {name: value for name, value in body.items() if name not in (*EXTENDED, penalty)}
        if self.kind == "sglang" and body.get("top_k") == 0:
            body["top_k"] = -1
        return body

    def switch(self, thinking: bool) -> Json:
        """What switches thinking on or off; nothing where nothing does."""
        if self.template:
            return {"chat_template_kwargs": {"enable_thinking": thinking}}
        return {"reasoning_effort": "none"} if self.effort and not thinking else {}


def written(
    way: Way, *, schema: Json | None = None, regex: str | None = None, choice: tuple[str, ...] | None = None
) -> Json:
    """A constraint, of which one kind is given, in one of the ways."""
    if choice is not None and way in ("grammar", "regex"):
        return {"grammar": _gbnf(choice)} if way == "grammar" else {"regex": one_of(choice)}
    if way == "response_format":
        form = {"name": "answer", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": form}}
    given = {"json": schema, "regex": regex, "choice": list(choice) if choice is not None else None}
    if way == "structured_outputs":
        return {"structured_outputs": {name: value for name, value in given.items() if value is not None}}
    if way == "guided":
        return {f"guided_{name}": value for name, value in given.items() if value is not None}
    return {way: regex}


def label_schema(labels: tuple[str, ...]) -> Json:
    """A label as JSON: an object, since some servers write no other value."""
    return {
        "type": "object",
        "properties": {LABEL: {"type": "string", "enum": list(labels)}},
        "required": [LABEL],
        "additionalProperties": False,
    }


def label_of(text: str) -> str:
    """The label in such an object. Errors: `EngineError`."""
    try:
        return str(json.loads(text)[LABEL])
    except (ValueError, KeyError, TypeError) as error:
        raise EngineError(f"The server did not keep to the labels: it wrote {text[:100]!r}.") from error


def one_of(texts: tuple[str, ...]) -> str:
    """A regular expression for one of several texts, in what all engines of them have in common."""
    return "(" + "|".join("".join(_escaped(character) for character in text) for text in texts) + ")"


def _escaped(character: str) -> str:
    return f"\\{character}" if character in "\\.^$*+?()[]{}|/-" else character


def _gbnf(texts: tuple[str, ...]) -> str:
    return "root ::= " + " | ".join(f'"{text.translate(_GBNF_ESCAPES)}"' for text in texts)
