"""Options of loading: those that are given, known to the engine and of the right kind."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from copydesk.engines.options import TAKEN, EngineOptions, given_options
from copydesk.errors import UsageError


def test_what_is_none_is_left_to_the_engine() -> None:
    assert given_options("openvino", {"bits": 8, "threads": None}) == {"bits": 8}
    assert given_options("llamacpp", {"bits": None}) == {}


def test_every_option_belongs_to_an_engine() -> None:
    assert set().union(*TAKEN.values()) == set(get_type_hints(EngineOptions))


@pytest.mark.parametrize("options", [{"bits": 5}, {"threads": 0}, {"threads": True}, {"context_length": "many"}])
def test_senseless_values_are_named(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(UsageError, match=f"{name} is .* not"):
        given_options("openvino", options)  # type: ignore[arg-type]


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(UsageError, match=r"the openvino engine has no option colour; leave it out$"):
        given_options("openvino", {"colour": "red"})  # type: ignore[typeddict-unknown-key]
