"""The rows that there are, and the variables of their processes."""

from __future__ import annotations

from itertools import pairwise

from copydesk.bench.engines.ways import WAYS, environment
from copydesk.engines.cores import available_cores

BY_NAME = {way.name: way for way in WAYS}


def test_each_step_is_added_to_those_before() -> None:
    steps = [way.steps for way in WAYS if way.runner == "transformers"][:7]
    assert [len(taken) for taken in steps] == list(range(7))
    assert all(after[: len(before)] == before for before, after in pairwise(steps))
    assert BY_NAME["direct call"].steps == BY_NAME["LangChain"].steps == steps[-1]


def test_names_are_different_and_slow_ones_come_first() -> None:
    assert len(BY_NAME) == len(WAYS)
    assert [way.slow for way in WAYS] == [True] * 4 + [False] * (len(WAYS) - 4)


def test_variables_are_set_by_their_step_alone() -> None:
    inherited = {"PATH": "/bin", "OMP_NUM_THREADS": "7", "TOKENIZERS_PARALLELISM": "true"}
    before = environment(BY_NAME["start"], inherited)
    assert before == {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "", "NO_PROXY": "127.0.0.1"}
    assert environment(BY_NAME["openvino"], inherited) == before
    after = environment(BY_NAME["memory"], inherited)
    assert (after["OMP_NUM_THREADS"], after["TOKENIZERS_PARALLELISM"]) == (str(available_cores()), "false")
