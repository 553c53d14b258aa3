"""vLLM in process, without vLLM: what it is asked, and what comes of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import copydesk
from copydesk.engines.completions import Asked, Completion, Verified
from copydesk.engines.loop import Loop
from copydesk.engines.vllm import load
from copydesk.engines.vllm.engine import VllmEngine, _characters, device_memory
from copydesk.errors import EngineError, SchemaError, TextError, UsageError
from copydesk.models.conversation import conversation_tokens
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Constraint, Delta, Usage
from engines.vllm.fake_vllm import FakeVllm, LoRARequest

MESSAGES = ({"role": "user", "content": "Hi <|im_end|>"},)


def complete(loop: Loop, engine: VllmEngine, asked: Asked) -> Completion:
    return loop.start(engine.complete(asked)).result(10)


def stream(loop: Loop, engine: VllmEngine, asked: Asked) -> list[Delta | Completion]:
    async def read() -> list[Delta | Completion]:
        return [part async for part in engine.stream(asked)]

    return loop.start(read()).result(10)


def test_the_prompt_is_tokens_and_texts_are_data(
    vllm: FakeVllm, loop: Loop, tiny_model: Path, tokenizer: Tokenizer
) -> None:
    engine = load(tiny_model, loop)
    found = complete(loop, engine, Asked(MESSAGES, top=1))
    prompt, params, _, adapter = vllm.engines[0].asked[0]
    assert prompt == conversation_tokens(MESSAGES, tokenizer)
    assert adapter is None
    assert params.stop_token_ids == list(tokenizer.eos_token_ids)
    assert (found.text, found.finish) == ("Hello", "stop")
    written = tokenizer.encode("Hello")
    assert found.usage == Usage(len(prompt), 2, len(written) + 1)
    assert b"".join(token.text for token in found.logprobs) == b"Hello"
    assert all(len(token.top) == 1 for token in found.logprobs)
    assert (engine.name, engine.model) == ("vllm", tiny_model.name)


def test_it_streams(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    *deltas, last = stream(loop, load(tiny_model, loop), Asked(prompt="Once"))
    assert isinstance(last, Completion)
    assert "".join(delta.content for delta in deltas if isinstance(delta, Delta)) == last.text == "Hello"
    assert last.usage.completion_tokens == len(vllm.engines[0].encode("Hello")) + 1


def test_at_most_what_the_context_leaves(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    engine = load(tiny_model, loop, context_length=64)
    complete(loop, engine, Asked(prompt="Once", max_tokens=1000))
    prompt, params, _, _ = vllm.engines[0].asked[0]
    assert params.max_tokens == 64 - len(prompt)
    with pytest.raises(TextError, match="context 64") as raised:
        complete(loop, engine, Asked(prompt="Once upon a time. " * 50))
    assert raised.value.code == "too_long"
    assert len(vllm.engines[0].asked) == 1


def test_reasoning_comes_before_what_a_constraint_holds(
    vllm: FakeVllm, loop: Loop, tiny_model: Path, tokenizer: Tokenizer
) -> None:
    vllm.write = lambda prompt, params: "<think>\nHm." if params.structured_outputs is None else "b"
    engine = load(tiny_model, loop)
    asked = Asked(MESSAGES, constraint=Constraint(choice=("a", "b")), thinking=True, max_tokens=50)
    found = complete(loop, engine, asked)
    assert (found.text, found.reasoning) == ("b", "Hm.")
    (first, free, *_), (second, held, *_) = vllm.engines[0].asked
    assert free.stop == ["</think>"]
    assert second == first + tokenizer.encode_control("<think>\nHm.</think>\n\n")
    assert held.max_tokens < free.max_tokens
    delta, last = stream(loop, engine, asked)
    assert delta == Delta("b", "Hm.")
    assert last == found


def test_reasoning_that_never_ends_leaves_no_room_for_an_answer(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    vllm.write = lambda prompt, params: "and so on"
    asked = Asked(MESSAGES, constraint=Constraint(choice=("a", "b")), thinking=True, max_tokens=3)
    assert complete(loop, load(tiny_model, loop), asked).finish == "length"


def verify(loop: Loop, engine: VllmEngine, draft: str) -> Verified:
    return loop.start(engine.verify(Asked(MESSAGES), draft)).result(10)


def test_a_draft_is_verified_in_one_request(vllm: FakeVllm, loop: Loop, tiny_model: Path, tokenizer: Tokenizer) -> None:
    vllm.write = lambda prompt, params: '{"a": "市"}'
    engine = load(tiny_model, loop)
    found = verify(loop, engine, '{"a": "市"}')
    assert (found.kept, found.own, found.ended) == ('{"a": "市"}', "", True)
    assert b"".join(token.text for token in found.logprobs).decode() == found.kept
    prompt = vllm.engines[0].asked[0][0]
    assert prompt == conversation_tokens(MESSAGES, tokenizer) + tokenizer.encode('{"a": "市"}')
    assert found.usage.prompt_tokens == len(conversation_tokens(MESSAGES, tokenizer))
    found = verify(loop, engine, '{"a": "x"}')
    assert found.ended is False
    assert '{"a": "市"}'.startswith(found.kept + found.own)
    assert '{"a": "x"}'.startswith(found.kept)


def test_a_draft_that_does_not_fit_verifies_nothing(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    engine = load(tiny_model, loop, context_length=64)
    assert verify(loop, engine, "word " * 100).kept == ""
    assert vllm.engines[0].asked == []


@pytest.mark.parametrize(
    ("kept", "own", "parts"),
    [
        (b"ab", b"c", ("ab", "c")),
        ("市".encode()[:2], "市".encode()[2:], ("", "市")),
        ("a市".encode()[:2], b"x", ("a", "")),
        (b"a", "市".encode()[:1], ("a", "")),
    ],
)
def test_whole_characters(kept: bytes, own: bytes, parts: tuple[str, str]) -> None:
    assert _characters(kept, own) == parts


def test_an_adapter_is_what_all_requests_go_through(
    vllm: FakeVllm, loop: Loop, tiny_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 8}))
    complete(loop, load(tiny_model, loop, adapter=str(tmp_path), engine_args={"quantization": "fp8"}), Asked(MESSAGES))
    assert vllm.engines[0].args.enable_lora
    assert vllm.engines[0].args.quantization == "fp8"
    assert vllm.engines[0].asked[0][3] == LoRARequest(tmp_path.name, 1, str(tmp_path))


@pytest.mark.parametrize(
    ("raised", "constraint", "error", "says"),
    [
        (ValueError("no such regex"), Constraint(regex="("), SchemaError, "cannot hold to this constraint: .*no such"),
        (ValueError("odd"), Constraint(), EngineError, "refuses the request: .*odd"),
        (RuntimeError("dead"), Constraint(), EngineError, "vLLM failed: RuntimeError: dead"),
    ],
)
def test_its_errors_are_ours(
    vllm: FakeVllm,
    loop: Loop,
    tiny_model: Path,
    raised: Exception,
    constraint: Constraint,
    error: type[Exception],
    says: str,
) -> None:
    vllm.write = lambda prompt, params: raised
    with pytest.raises(error, match=says):
        complete(loop, load(tiny_model, loop), Asked(MESSAGES, constraint=constraint))


def test_leaving_a_stream_gives_the_request_up(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    engine = load(tiny_model, loop)

    async def first() -> Any:
        running = engine.stream(Asked(MESSAGES))
        part = await anext(running)
        await running.aclose()
        return part

    assert loop.start(first()).result(5) == Delta("H")
    assert vllm.engines[0].aborted == ["copydesk-1"]


def test_closing_twice(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    engine = load(tiny_model, loop)
    for _ in range(2):
        loop.start(engine.close()).result(5)
    assert vllm.engines[0].shut_down == 1


def test_what_it_cannot_run(vllm: FakeVllm, loop: Loop, tiny_model: Path) -> None:
    with pytest.raises(UsageError, match="copydesk export"):
        load(BUILTIN_FOLDER, loop)
    vllm.fails = RuntimeError("no GPU\nhere")
    with pytest.raises(EngineError, match=r"vLLM cannot run .*: RuntimeError: no GPU here"):
        load(tiny_model, loop)


def test_a_device_that_does_not_tell_its_memory(vllm: FakeVllm) -> None:
    assert device_memory() is None


def test_as_a_model(vllm: FakeVllm, tiny_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    vllm.write = lambda prompt, params: '{"n": 3}' if params.structured_outputs else "yes"
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with copydesk.load(folder, engine="vllm") as model:
        assert (model.engine, model.name) == ("vllm", "model")
        answer = model.extract("There are 3.", schema)
        assert answer.value == {"n": 3}
        assert answer.fields["n"].confidence is not None
        assert model.classify("Is it?", ["yes", "no"]).value == "yes"
        assert [answer.value for answer in model.extract_many(["3.", "4."], schema)] == [{"n": 3}] * 2  # type: ignore[union-attr]
    with pytest.raises(UsageError, match="has no option threads"):
        copydesk.load(folder, engine="vllm", threads=2)
