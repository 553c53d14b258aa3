"""What a server is and can do, found out once by asking it: its models, and tiny requests whose answers tell.

A constraint counts as understood only if it is kept: the odd words asked for are none that a model would write.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from copydesk.engines.completions import Asked
from copydesk.engines.remote.client import Client
from copydesk.engines.remote.dialect import CHOICE_WAYS, REGEX_WAYS, SCHEMA_WAYS, Dialect, Kind, Way, one_of, written
from copydesk.engines.remote.failures import is_page, page, refusal
from copydesk.engines.remote.replies import completion
from copydesk.engines.remote.verifying import tokenize_body, tokenize_path, verified, verify_body
from copydesk.errors import CopydeskError, EngineError, ModelError, SchemaError, TextError
from copydesk.types import Json

WORDS = ("zqx-41", "vkw-83")
_TOPS = (20, 5)
"""How many probable tokens are asked for, the most that OpenAI allows first."""
_QUESTION = [{"role": "user", "content": "Say hello."}]
_NOT_UNDERSTOOD = ("refused", "engine_failed")
"""Errors of a server that does not take a request as it is written, or stumbles over it."""
_OWNERS: Mapping[str, Kind] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llamacpp",
    "library": "ollama",
    "copydesk": "copydesk",
}
"""Who owns a server's models, by its own words."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model at a server."""

    path: str
    """Where the API stands, such as `/v1`."""
    model: str
    context_length: int | None
    dialect: Dialect


async def probe(client: Client, origin: str, paths: Sequence[str], model: str | None) -> Served:
    """Ask a server what it is.

    Errors: `EngineError` for what is no such server, `ModelError` for a model that it has not, or if it has several
    and none is named.
    """
    path, listed = await _models(client, origin, paths)
    entry = _chosen(listed, model, origin)
    name = str(entry["id"])
    kind = await _kind(client, entry)
    return Served(path, name, _context_length(entry), await _Questions(client, path, name).dialect(kind))


async def _kind(client: Client, entry: Json) -> Kind:
    """What a server is, by its own words."""
    kind = _OWNERS.get(str(entry.get("owned_by", "")).lower().replace(".", ""))
    if kind is None and (await client.get("/api/version")).status_code == 200:
        return "ollama"  # which names the owner of the model instead
    return kind or "unknown"


async def _models(client: Client, origin: str, paths: Sequence[str]) -> tuple[str, list[Json]]:
    """The first path at which there is an API, and the models that it lists."""
    first: CopydeskError | None = None
    for path in paths:
        where = f"{origin}{path}/models"
        response = await client.get(f"{path}/models")
        body, kind = response.text, response.headers.get("Content-Type", "")
        if response.status_code != 200:
            error: CopydeskError = refusal(where, response.status_code, body, kind)
            if response.status_code != 404:
                raise error
        elif is_page(body, kind):
            error = page(where)
        else:
            return path, _listed(where, response)
        first = first or error
    raise first or EngineError(f"{origin} is no address of a server.")


def _listed(where: str, response: httpx.Response) -> list[Json]:
    try:
        found = response.json()
    except ValueError:
        found = None
    entries = found.get("data") if isinstance(found, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and entry.get("id") for entry in entries):
        raise EngineError(f"{where} lists no models as an OpenAI-compatible server does; check the address.")
    return entries


def _chosen(listed: list[Json], model: str | None, origin: str) -> Json:
    names = [str(entry["id"]) for entry in listed]
    if model is not None:
        for wanted in (model, f"{model}:latest"):  # Ollama's way of naming
            if wanted in names:
                return listed[names.index(wanted)]
        raise ModelError(f"{origin} has no model {model!r}; it has {_some(names)}.")
    own = [entry for entry in listed if not entry.get("parent")]  # adapters name what they adapt
    if len(own) != 1:
        has = f"has several models: {_some(names)}; name one (--model NAME)" if names else "has no model; give it one"
        raise ModelError(f"{origin} {has}.")
    return own[0]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", …" if len(names) > 20 else "") if names else "none"


def _context_length(entry: Json) -> int | None:
    meta = entry.get("meta")
    for place, key in ((entry, "max_model_len"), (meta, "n_ctx"), (meta, "n_ctx_train")):
        length = place.get(key) if isinstance(place, Mapping) else None
        if isinstance(length, int) and length > 0:
            return length
    return None


class _Questions:
    """Tiny requests to one model."""

    def __init__(self, client: Client, path: str, model: str) -> None:
        self._client = client
        self._base = path
        self._path = f"{path}/chat/completions"
        self._model = model

    async def dialect(self, kind: Kind) -> Dialect:
        """What it understands."""
        base = await self._thinking(kind)
        quiet = base.switch(False)
        tops, schema, choice, regex, verifies, extended = await asyncio.gather(
            self._tops(quiet),
            self._schema(quiet),
            self._first(CHOICE_WAYS[kind], quiet, choice=WORDS),
            self._first(REGEX_WAYS[kind], quiet, regex=one_of(WORDS)),
            self._verifies(base),
            self._extended(kind, quiet),
        )
        found = replace(base, most_top=tops, schema=schema, choice=choice, regex=regex)
        return replace(found, verifies=verifies, extended=extended)

    async def _thinking(self, kind: Kind) -> Dialect:
        """Whether it thinks, and how that is switched off. Errors: those of a server that answers nothing at all."""
        plain = await self._ask(4, {})
        if isinstance(plain, CopydeskError):
            raise plain
        thinks = _thinks(plain)
        for dialect in (Dialect(kind, template=True), Dialect(kind, effort=True)):
            if dialect.effort and not thinks:
                break
            answer = await self._ask(4, dialect.switch(False))
            if isinstance(answer, dict) and not _thinks(answer):
                return dialect
        return Dialect(kind, thinks=thinks)

    async def _tops(self, extras: Json) -> int:
        """How many of the most probable tokens it tells."""
        for top in _TOPS:
            answer = await self._ask(2, extras | {"logprobs": True, "top_logprobs": top})
            if isinstance(answer, dict):
                scored = completion(answer).logprobs
                return top if scored and scored[0].top else 0
        return 0

    async def _schema(self, extras: Json) -> Way | None:
        """How it is held to a JSON Schema: as a text alone, or, if it writes but objects, in one."""
        text: Json = {"type": "string", "enum": list(WORDS)}
        whole = {"type": "object", "properties": {"word": text}, "required": ["word"], "additionalProperties": False}
        for schema in (text, whole):
            way = await self._first(SCHEMA_WAYS, extras, schema=schema)
            if way is not None:
                return way
        return None

    async def _first(self, ways: Sequence[Way], extras: Json, **constraint: Any) -> Way | None:
        """The first of some ways in which it keeps to a constraint."""
        for way in ways:
            answer = await self._ask(32, extras | written(way, **constraint))
            if isinstance(answer, dict) and _is_kept(completion(answer).text):
                return way
        return None

    async def _extended(self, kind: Kind, extras: Json) -> bool:
        """Whether a server of which nothing is known takes sampling that the OpenAI API has not."""
        if kind not in ("unknown", "ollama"):
            return True
        return isinstance(await self._ask(2, extras | {"top_k": 5, "min_p": 0.1, "repetition_penalty": 1.05}), dict)

    async def _verifies(self, base: Dialect) -> bool:
        """Whether a word that it would write itself is told to stand as a draft, behind the same prompt."""
        if base.kind != "vllm":
            return False
        asked = Asked(_QUESTION)
        try:
            said, prompt = await asyncio.gather(
                self._client.post(self._path, base.body(replace(asked, max_tokens=4), self._model)),
                self._client.post(tokenize_path(self._base), tokenize_body(asked, base, self._model)),
            )
            draft = completion(said).text
            answer = await self._client.post(self._path, verify_body(asked, draft, base, self._model))
        except CopydeskError:
            return False
        return bool(draft) and verified(draft, prompt.get("tokens"), answer).kept == draft

    async def _ask(self, most: int, extras: Json) -> Json | CopydeskError:
        """The answer; the error if the request is refused as it is. Errors: all others."""
        body: Json = {"model": self._model, "messages": _QUESTION, "temperature": 0, "max_tokens": most}
        try:
            return await self._client.post(self._path, body | extras)
        except (EngineError, SchemaError, TextError) as error:
            if isinstance(error, EngineError) and error.code not in _NOT_UNDERSTOOD:
                raise
            return error


def _thinks(answer: Json) -> bool:
    found = completion(answer)
    return bool(found.reasoning) or found.text.lstrip().startswith("<think>")


def _is_kept(text: str) -> bool:
    try:
        found = json.loads(text)
    except ValueError:
        found = text
    if isinstance(found, dict):
        found = found.get("word")
    return found in WORDS
