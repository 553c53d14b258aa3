"""Real clients, unmodified, against a real server: a table of what each was asked and whether it got it.

The clients are heavy, so they live in an environment of their own:

    python -m venv clients
    clients/bin/pip install openai langchain-openai instructor litellm llama-index-llms-openai-like
    clients/bin/python scripts/client_check.py --serve "copydesk serve"

Starts the server on a free port with the built-in model (or takes `--url` and `--key`), asks for the same recipient
every way a client has, and exits with 1 if any answer is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel

TEXT = "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435"
NEWS = "The striker scored twice as the home team won the cup final on Saturday."
MODEL = "copydesk-nano"


class Recipient(BaseModel):
    """Who receives a parcel, and where."""

    province: str
    city: str
    district: str
    specific_location: str
    name: str
    phone: str


EXPECTED = Recipient(
    province="湖南省",
    city="长沙市",
    district="岳麓区",
    specific_location="桃花岭路189号润丰园B座1202室",
    name="江雨桐",
    phone="021-17613435",
)
MESSAGES: list[Any] = [{"role": "user", "content": TEXT}]
Check = Callable[[str, str], Any]
CHECKS: list[tuple[str, str, Check]] = []


def check(package: str, what: str) -> Callable[[Check], Check]:
    """Register a check: a function of the server's address and key that returns the recipient, or True."""

    def register(function: Check) -> Check:
        CHECKS.append((package, what, function))
        return function

    return register


def _openai(url: str, key: str) -> Any:
    from openai import OpenAI

    return OpenAI(base_url=url, api_key=key, max_retries=0)


def _format() -> Any:
    return {"type": "json_schema", "json_schema": {"name": "r", "schema": Recipient.model_json_schema()}}


@check("openai", "chat, response_format json_schema")
def _(url: str, key: str) -> Any:
    reply = _openai(url, key).chat.completions.create(model=MODEL, messages=MESSAGES, response_format=_format())
    return Recipient.model_validate_json(reply.choices[0].message.content)


@check("openai", ".parse() with pydantic")
def _(url: str, key: str) -> Any:
    completions = _openai(url, key).chat.completions
    return completions.parse(model=MODEL, messages=MESSAGES, response_format=Recipient).choices[0].message.parsed


@check("openai", "stream, usage in the last chunk")
def _(url: str, key: str) -> Any:
    options = {"include_usage": True}
    chunks = list(
        _openai(url, key).chat.completions.create(
            model=MODEL, messages=MESSAGES, response_format=_format(), stream=True, stream_options=options
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    return Recipient.model_validate_json(text) if chunks[-1].usage.total_tokens else None


@check("openai", ".stream() helper, parsed")
def _(url: str, key: str) -> Any:
    completions = _openai(url, key).chat.completions
    with completions.stream(model=MODEL, messages=MESSAGES, response_format=Recipient) as stream:
        return stream.get_final_completion().choices[0].message.parsed


@check("openai", "a forced tool")
def _(url: str, key: str) -> Any:
    from openai import pydantic_function_tool

    reply = _openai(url, key).chat.completions.create(
        model=MODEL,
        messages=MESSAGES,
        tools=[pydantic_function_tool(Recipient, name="save")],
        tool_choice={"type": "function", "function": {"name": "save"}},
    )
    return Recipient.model_validate_json(reply.choices[0].message.tool_calls[0].function.arguments)


@check("openai", "asynchronous, 20 at once")
def _(url: str, key: str) -> Any:
    from openai import AsyncOpenAI

    async def all_at_once() -> list[Any]:
        async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0) as client:
            ask = client.chat.completions.parse
            replies = [ask(model=MODEL, messages=MESSAGES, response_format=Recipient) for _ in range(20)]
            return [reply.choices[0].message.parsed for reply in await asyncio.gather(*replies)]

    recipients = asyncio.run(all_at_once())
    return recipients[0] if all(recipient == recipients[0] for recipient in recipients) else None


@check("openai", "completions, free chat, logprobs")
def _(url: str, key: str) -> Any:
    client = _openai(url, key)
    completion = client.completions.create(model=MODEL, prompt="Hello", max_tokens=3, logprobs=1)
    chat = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "Hello"}], max_tokens=3, logprobs=True, top_logprobs=2
    )
    return bool(completion.choices[0].logprobs.tokens) and bool(chat.choices[0].logprobs.content)


@check("openai", "a choice of labels")
def _(url: str, key: str) -> Any:
    labels = {"guided_choice": ["World", "Sports", "Business", "Sci/Tech"]}
    reply = _openai(url, key).chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": NEWS}], extra_body=labels
    )
    return reply.choices[0].message.content == "Sports"


def _langchain(url: str, key: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=MODEL, base_url=url, api_key=key, max_retries=0)


@check("langchain-openai", "with_structured_output, json_schema")
def _(url: str, key: str) -> Any:
    return _langchain(url, key).with_structured_output(Recipient, method="json_schema").invoke(TEXT)


@check("langchain-openai", "with_structured_output, function_calling")
def _(url: str, key: str) -> Any:
    return _langchain(url, key).with_structured_output(Recipient, method="function_calling").invoke(TEXT)


@check("langchain-openai", "with_structured_output, json_mode (any object)")
def _(url: str, key: str) -> Any:
    # This method sends no schema: which keys the object has is up to the model, here a very small one.
    model = _langchain(url, key).with_structured_output(Recipient.model_json_schema(), method="json_mode")
    return isinstance(model.invoke(TEXT), dict)


@check("langchain-openai", "streaming")
def _(url: str, key: str) -> Any:
    chunks = list(_langchain(url, key).stream(TEXT, response_format=_format()))
    return Recipient.model_validate_json("".join(chunk.text for chunk in chunks))


def _instructor(url: str, key: str, mode: str) -> Any:
    import instructor

    client = instructor.from_openai(_openai(url, key), mode=getattr(instructor.Mode, mode))
    return client.chat.completions.create(model=MODEL, messages=MESSAGES, response_model=Recipient, max_retries=0)


@check("instructor", "tools")
def _(url: str, key: str) -> Any:
    return _instructor(url, key, "TOOLS")


@check("instructor", "JSON schema")
def _(url: str, key: str) -> Any:
    return _instructor(url, key, "JSON_SCHEMA")


def _litellm(url: str, key: str, **options: Any) -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the internet for prices
    import litellm

    return litellm.completion(model=f"openai/{MODEL}", api_base=url, api_key=key, messages=MESSAGES, **options)


@check("litellm", "response_format with pydantic")
def _(url: str, key: str) -> Any:
    reply = _litellm(url, key, response_format=Recipient)
    return Recipient.model_validate_json(reply.choices[0].message.content)


@check("litellm", "stream")
def _(url: str, key: str) -> Any:
    stream = _litellm(url, key, response_format=_format(), stream=True)
    return Recipient.model_validate_json("".join(chunk.choices[0].delta.content or "" for chunk in stream))


def _llama_index(url: str, key: str, **options: Any) -> Any:
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(model=MODEL, api_base=url, api_key=key, is_chat_model=True, max_retries=0, **options)


@check("llama-index-llms-openai-like", "structured_predict by function calling")
def _(url: str, key: str) -> Any:
    from llama_index.core.prompts import PromptTemplate

    model = _llama_index(url, key, is_function_calling_model=True)
    return model.structured_predict(Recipient, PromptTemplate("{text}"), text=TEXT)


@check("llama-index-llms-openai-like", "structured outputs")
def _(url: str, key: str) -> Any:
    from llama_index.core.prompts import PromptTemplate

    model = _llama_index(url, key, is_function_calling_model=True, should_use_structured_outputs=True)
    return model.structured_predict(Recipient, PromptTemplate("{text}"), text=TEXT)


@check("llama-index-llms-openai-like", "chat, streamed")
def _(url: str, key: str) -> Any:
    from llama_index.core.llms import ChatMessage

    model = _llama_index(url, key, additional_kwargs={"response_format": _format()})
    chunks = list(model.stream_chat([ChatMessage(role="user", content=TEXT)]))
    return Recipient.model_validate_json(chunks[-1].message.content)


@contextmanager
def running(command: str) -> Iterator[tuple[str, str]]:
    """A server on a free port: its address and key."""
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [*shlex.split(command), "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=os.environ | {"COPYDESK_HOME": home},
        )
        try:
            printed = ""
            while "print(completion" not in printed:
                line = process.stdout.readline() if process.stdout else ""
                if not line:
                    raise SystemExit("the server did not start")
                printed += line
            address, key = re.search(r"http://[\d.]+:\d+", printed), re.search(r"\bsk-[\w-]{30,}", printed)
            if address is None or key is None:
                raise SystemExit("the server did not say where it is")
            time.sleep(0.5)
            yield f"{address[0]}/v1", key[0]
        finally:
            process.terminate()
            process.wait(30)


def main() -> int:
    """Run all checks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", default="copydesk serve", metavar="COMMAND", help="how the server is started")
    parser.add_argument("--url", help="a server that runs already, such as http://127.0.0.1:8000/v1")
    parser.add_argument("--key", default=os.environ.get("COPYDESK_KEY", ""))
    arguments = parser.parse_args()
    if arguments.url:
        return run(arguments.url, arguments.key)
    with running(arguments.serve) as (url, key):
        return run(url, key)


def run(url: str, key: str) -> int:
    """The exit code."""
    failed = 0
    print(f"| {'client':44} | {'asked for':48} | {'ms':>6} | result |")
    for package, what, function in CHECKS:
        started = time.perf_counter()
        try:
            got = function(url, key)
            # instructor's is a subclass of the caller's own class
            right = got is True or (isinstance(got, Recipient) and got.model_dump() == EXPECTED.model_dump())
            result = "right" if right else f"wrong: {got!r}"
        except Exception as error:
            right, result = False, f"{type(error).__name__}: {error}"
        failed += not right
        client = f"{package} {version(package)}"
        print(f"| {client:44} | {what:48} | {(time.perf_counter() - started) * 1e3:6.0f} | {result} |", flush=True)
    print(json.dumps({"checks": len(CHECKS), "failed": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
