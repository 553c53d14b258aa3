"""The house keeps its order: who imports whom, what stands at a module's top, how long it is, where its tests are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import copydesk

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "copydesk"
FILES = sorted(SOURCE.rglob("*.py"))
MODULES = {path.relative_to(SOURCE).as_posix(): path for path in FILES}

ROOMS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("doctor", "page"),
    ("bench",),
    ("serving",),
    ("training",),
    ("loading", "trial"),
    ("model",),
    ("crew",),
    ("options", "typed", "stream", "inputs", "output"),
    ("tasks",),
    ("desk",),
    ("drafting",),
    ("engines",),
    ("child", "models"),
    ("hardware", "home"),
    ("errors", "types"),
)
"""From the top down: a room imports from lower rows only. The package itself holds nothing but names."""

MOST_LINES = 400

NOT_MIRRORED = {
    # Nothing runs in them: protocols, or fields with their meaning.
    "desk/protocol.py": None,
    "desk/state.py": None,
    "engines/completions.py": None,
    "engines/openvino/backbone.py": None,
    "engines/protocol.py": None,
    "options.py": None,
    "serving/backend.py": None,
    "serving/events.py": None,
    "serving/gate.py": None,
    "serving/plan.py": None,
    "bench/engines/answering.py": None,
    "commands/exits.py": None,
    "desk/prompt.py": None,
    "training/examples.py": None,
    "training/blocks.py": "training/test_packing.py",
    # The commands are tried as a user calls them.
    "__main__.py": "test_cli.py",
    "commands/answering.py": "test_cli.py",
    "commands/arguments.py": "test_cli.py",
    "commands/classify.py": "test_cli.py",
    "commands/doctor.py": "test_doctor.py",
    "commands/export.py": "test_cli.py",
    "commands/extract.py": "test_cli.py",
    "loading.py": "test_model.py",
    # Bodies of requests, by the routes that take them.
    "serving/app.py": "serving/test_front.py",
    "serving/constraining.py": "serving/routes/test_chat.py",
    "serving/routes/asking.py": "serving/routes/test_chat.py",
    "serving/routes/payloads.py": "serving/routes/test_chat.py",
    "serving/settings.py": "serving/test_config.py",
    "serving/wire/chat.py": "serving/routes/test_chat.py",
    "serving/wire/completion.py": "serving/routes/test_completions.py",
    "serving/wire/constraint.py": "serving/routes/test_chat.py",
    "serving/wire/decision.py": "serving/routes/test_decisions.py",
    "serving/wire/native.py": "serving/routes/test_native.py",
    # By what they are a part of.
    "desk/chat/job.py": "desk/chat/test_replies.py",
    "engines/cuda/__init__.py": "engines/cuda/test_load.py",
    "engines/cuda/head.py": "engines/cuda/test_kernels.py",
    "engines/cuda/single.py": "engines/cuda/test_kernels.py",
    "engines/llamacpp/network.py": "engines/llamacpp/test_engine.py",
    "serving/writer.py": "serving/test_endpoint.py",
    "bench/engines/guides_server.py": "bench/engines/test_guides.py",
    "bench/llamacpp.py": "bench/test_peers.py",
    # They need a GPU, vLLM or llama.cpp's server, which CI has not; what they compute from is tested.
    "bench/gpu.py": "bench/test_gpu_contest.py",
    "bench/gpu_time.py": "bench/test_gpu_table.py",
    "bench/vllm_child.py": "bench/test_vllm.py",
    "bench/wheel_server.py": "bench/test_server_process.py",
}
"""Modules without a test file of their own, and the file that tests them instead; None where nothing can be tested."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(name: str) -> str:
    """What a file is called where it is imported."""
    return f"copydesk.{name.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")


DOTTED = {dotted(name) for name in MODULES}


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The package's own modules that a file imports, wherever in it, each with its line."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relative to itself"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                module = full if full in DOTTED else node.module
                if module in DOTTED and full != "copydesk.__version__":
                    yield str(module), node.lineno
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in DOTTED)


def test_every_room_is_in_the_list() -> None:
    found = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES} - {"__init__"}
    assert found == {room for row in ROOMS for room in row}


def test_imports_go_downwards_only() -> None:
    row_of = {room: number for number, row in enumerate(ROOMS) for room in row}
    wrong = []
    for name, path in MODULES.items():
        room = Path(name).parts[0].removesuffix(".py")
        for module, line in imports(path) if room != "__init__" else ():
            other = module.split(".")[1]
            if other != room and row_of[other] <= row_of[room]:
                wrong.append(f"{name}:{line} imports {module}")
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    needed = {dotted(name): {module for module, _ in imports(path)} for name, path in MODULES.items()}
    del needed["copydesk"]  # imports what it offers when that is first touched
    while free := [name for name, others in needed.items() if not others & needed.keys()]:
        for name in free:
            del needed[name]
    assert needed == {}


def test_every_module_says_what_it_is_for_and_is_no_longer_than_can_be_read_at_once() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    assert [name for name, text in texts.items() if text.strip() and not ast.get_docstring(tree(MODULES[name]))] == []
    assert [name for name, text in texts.items() if len(text.splitlines()) > MOST_LINES] == []


def test_every_module_has_its_tests() -> None:
    tests = ROOT / "tests"
    missing = []
    for name, path in MODULES.items():
        is_empty = not any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(tree(path)))
        if name == "__init__.py" or (path.name == "__init__.py" and is_empty):
            continue  # the package's names are pinned below
        own = tests / Path(name).parent / f"test_{path.stem}.py"
        if own.exists():
            assert name not in NOT_MIRRORED, f"{name} has a test file: take it off the list"
        elif name not in NOT_MIRRORED:
            missing.append(name)
    assert missing == []
    assert [name for name in NOT_MIRRORED if name not in MODULES] == []
    assert [other for other in NOT_MIRRORED.values() if other and not (tests / other).exists()] == []


def test_the_public_names_are_these() -> None:
    """Who takes one away or adds one decides that for every caller."""
    assert copydesk.__all__ == [
        "Answer",
        "AnswerError",
        "Constraint",
        "CopydeskError",
        "Delta",
        "EngineError",
        "Failure",
        "Field",
        "LengthError",
        "Model",
        "ModelError",
        "Reply",
        "SchemaError",
        "Span",
        "TextError",
        "TokenLogprob",
        "Usage",
        "UsageError",
        "__version__",
        "classification",
        "extraction",
        "load",
    ]
