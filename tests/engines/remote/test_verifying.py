"""A draft verified by what a server tells of its prompt's tokens."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.engines.completions import Asked, Verified
from copydesk.engines.remote.dialect import Dialect
from copydesk.engines.remote.verifying import tokenize_body, tokenize_path, verified, verify_body
from copydesk.types import TokenLogprob, Usage

PROMPT = [7, 8]


def told(text: str, logprob: float = -0.1, *better: tuple[str, float]) -> dict[str, Any]:
    tokens = [(text, logprob), *better]
    return {
        str(number): {"logprob": score, "rank": 2 if better and not number else 1, "decoded_token": token}
        for number, (token, score) in enumerate(tokens, 100)
    }


def answer(*places: dict[str, Any], finish: str = "stop", content: str = "") -> dict[str, Any]:
    return {
        "prompt_logprobs": [None, {"8": {"logprob": -3.0, "decoded_token": "x"}}, *places],
        "choices": [{"finish_reason": finish, "message": {"content": content}}],
        "usage": {"prompt_tokens": 2 + len(places), "completion_tokens": 1},
    }


def test_a_draft_that_stands() -> None:
    found = verified("ab市", PROMPT, answer(told("ab"), told("市", -0.5)))
    scored = (TokenLogprob(b"ab", -0.1), TokenLogprob("市".encode(), -0.5))
    assert found == Verified("ab市", Usage(2, 0, 2), "", True, scored)


def test_the_model_would_go_on() -> None:
    found = verified("ab", PROMPT, answer(told("ab"), finish="length", content="c"))
    assert (found.kept, found.own, found.ended) == ("ab", "c", False)


def test_the_model_would_write_otherwise() -> None:
    found = verified("abcd", PROMPT, answer(told("ab"), told("c", -2.0, ("x", -0.2)), told("d")))
    assert (found.kept, found.own, found.ended) == ("ab", "x", False)
    assert found.logprobs == (TokenLogprob(b"ab", -0.1),)


def test_a_tie_stands() -> None:
    assert verified("a", PROMPT, answer(told("a", -0.5, ("a", -0.5)))).kept == "a"


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_logprobs": None},
        {"prompt_logprobs": [None]},
        {"prompt_logprobs": [None, {"9": {"logprob": -1.0, "decoded_token": "x"}}, told("ab")]},
        {"prompt_logprobs": [None, None, told("ab")]},
    ],
)
def test_another_prompt_verifies_nothing(change: dict[str, Any]) -> None:
    assert verified("ab", PROMPT, answer(told("ab")) | change).kept == ""


def test_tokens_that_do_not_make_it_up_verify_nothing() -> None:
    assert verified("abc", PROMPT, answer(told("ab"))).kept == ""
    assert verified("ab", None, answer(told("ab"))).kept == ""


def test_parts_of_characters_are_no_text() -> None:
    draft = "\ufffdb"
    found = verified(draft, PROMPT, answer(told("\ufffd"), told("b", -2.0, ("c", -0.1))))
    assert (found.kept, found.own) == ("", "")


def test_the_requests() -> None:
    asked, dialect = Asked(({"role": "user", "content": "Hi"},)), Dialect("vllm", template=True)
    quiet = {"chat_template_kwargs": {"enable_thinking": False}}
    assert tokenize_body(asked, dialect, "m") == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "add_generation_prompt": True,
        **quiet,
    }
    body = verify_body(asked, "draft", dialect, "m")
    assert body["messages"][-1] == {"role": "assistant", "content": "draft"}
    assert (body["continue_final_message"], body["add_generation_prompt"], body["prompt_logprobs"]) == (True, False, 1)
    assert quiet.items() <= body.items()
    assert [tokenize_path(path) for path in ("/v1", "/x/v1", "")] == ["/tokenize", "/x/tokenize", "/tokenize"]
