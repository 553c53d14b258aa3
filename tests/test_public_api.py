"""What `import copydesk` offers, and what it leaves alone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import copydesk

HEAVY = (
    "numpy",
    "openvino",
    "tokenizers",
    "pydantic",
    "llguidance",
    "jinja2",
    "huggingface_hub",
    "jsonschema",
    "torch",
)


@pytest.mark.parametrize("module", ["copydesk", "copydesk.cli"])
def test_importing_reads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_everything_promised_is_there() -> None:
    assert [name for name in copydesk.__all__ if not hasattr(copydesk, name)] == []


def test_load_and_model_are_their_modules() -> None:
    from copydesk import loading, model

    assert copydesk.load is loading.load
    assert copydesk.Model is model.Model


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = copydesk.nothing  # type: ignore[attr-defined]


def test_the_version_is_the_packages() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert copydesk.__version__ == project["project"]["version"]


def test_errors_share_a_base_and_have_codes() -> None:
    errors = [value for name in copydesk.__all__ if name.endswith("Error") and (value := getattr(copydesk, name))]
    assert len(errors) == 8
    assert all(issubclass(error, copydesk.CopydeskError) and error("why").code for error in errors)
    assert copydesk.TextError("why", code="too_long").code == "too_long"
