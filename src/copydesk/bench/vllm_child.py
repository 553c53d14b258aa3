"""Runs vLLM in a process of its own, in vLLM's own environment: a JSON request a line in, a JSON answer a line out.

    python vllm_child.py MODEL '{"speculative_config": ...}'

Knows nothing of copydesk, which need not be installed there. A request is `{"prompts": [token ids or text, ...],
"in_flight": n, "max_tokens": n, "json": schema | null}`; its answer has the seconds that each prompt took, those of
all, the texts and how many tokens they have.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def main() -> None:
    # What vLLM prints goes to standard error; answers have the real standard output to themselves.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    begun = time.perf_counter()
    from vllm import LLM, __version__

    model, options = sys.argv[1], json.loads(sys.argv[2])
    llm = LLM(
        model,
        dtype="bfloat16",
        max_model_len=2048,
        structured_outputs_config={"backend": "xgrammar", "disable_any_whitespace": True},
        enable_prefix_caching=True,
        **options,
    )
    _say(answers, {"version": __version__, "seconds": time.perf_counter() - begun})
    for line in sys.stdin:
        _say(answers, _run(llm, json.loads(line)))


def _run(llm: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Keeps as many prompts in flight as asked for, the next one joining as soon as one is done."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    constraint = StructuredOutputsParams(json=request["json"]) if request["json"] else None
    params = SamplingParams(
        temperature=0.0,
        max_tokens=request["max_tokens"],
        structured_outputs=constraint,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )
    engine = llm.llm_engine
    waiting = list(enumerate(request["prompts"]))[::-1]
    count = len(waiting)
    started: dict[str, float] = {}
    seconds, texts, tokens = [0.0] * count, [""] * count, [0] * count
    begun = time.perf_counter()
    live = 0
    while waiting or live:
        while waiting and live < request["in_flight"]:
            number, prompt = waiting.pop()
            started[str(number)] = time.perf_counter()
            own = prompt if isinstance(prompt, str) else {"prompt_token_ids": prompt}
            engine.add_request(str(number), own, params)
            live += 1
        for output in engine.step():
            if output.finished:
                number = int(output.request_id.partition("-")[0])
                seconds[number] = time.perf_counter() - started[str(number)]
                texts[number] = output.outputs[0].text
                tokens[number] = len(output.outputs[0].token_ids)
                live -= 1
    return {"each": seconds, "all": time.perf_counter() - begun, "texts": texts, "tokens": tokens}


def _say(answers: Any, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
