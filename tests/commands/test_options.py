"""What values options take, and that every command says what it does."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from copydesk.commands import options
from copydesk.commands.arguments import engine_options
from copydesk.errors import UsageError


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (options.whole, "-3", -3),
        (options.count, "1", 1),
        (options.seed, "0", 0),
        (options.temperature, "0.7", 0.7),
        (options.probability, "1", 1.0),
    ],
)
def test_values_are_read(kind: Callable[[str], float], written: str, value: float) -> None:
    assert kind(written) == value


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (options.whole, "1.5"),
        (options.count, "0"),
        (options.seed, "-1"),
        (options.seed, str(2**64)),
        (options.temperature, "nan"),
        (options.temperature, "-0.1"),
        (options.temperature, "warm"),
        (options.probability, "nan"),
        (options.probability, "1.1"),
        (options.probability, "often"),
    ],
)
def test_senseless_values_are_refused(kind: Callable[[str], float], written: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        kind(written)


def test_a_command_has_a_model_and_unless_it_needs_none_an_engine() -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    told = options.new_command(commands, "told", lambda arguments: 7, "do it").parse_args(["--engine", "openvino"])
    assert (told.model, told.engine, told.command(told)) == (None, "openvino", 7)
    plain = options.new_command(commands, "plain", lambda arguments: 0, "do it", engine=False)
    assert not hasattr(plain.parse_args([]), "engine")


@pytest.mark.parametrize(("option", "values"), [("--engine", ("openvino", "auto")), ("--model", ("a", "a"))])
def test_two_engines_or_models_at_once_are_refused(option: str, values: tuple[str, str]) -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    command = options.new_command(commands, "told", lambda arguments: 0, "do it")
    first, second = values
    with pytest.raises(UsageError, match=f"{option} is given twice, as {first} and as {second}; choose one"):
        command.parse_args([option, first, option, second])
    assert getattr(command.parse_args([option, second]), option.removeprefix("--")) == second


def test_what_engines_take_is_passed_on_as_it_is_written() -> None:
    commands = argparse.ArgumentParser().add_subparsers()
    command = options.new_command(commands, "told", lambda arguments: 0, "do it")
    written = ["--dtype", "float16", "--device", "cuda:1", "--device-map", '{"": 0}', "--offload-folder", "here"]
    assert engine_options(command.parse_args(written)) == {
        "dtype": "float16",
        "device": "cuda:1",
        "device_map": '{"": 0}',
        "offload_folder": "here",
    }
    assert set(engine_options(command.parse_args([])).values()) == {None}
