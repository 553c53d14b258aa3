"""The commands as a shell sees them: what is on each stream, the exit code, and what bad input does.

Most run `main` in this process on a small random model; what concerns the process itself runs in one of its own.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from copydesk import __version__, cli
from copydesk.tasks.builtin import ADDRESS_FIELDS, AGNEWS_LABELS

TEXT = "天津市河西区珠江道21号"
CHOICE = {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}}, "required": ["kind"]}
Run = Callable[..., tuple[int, list[Any], str]]


@pytest.fixture
def run(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command on the small model: exit code, standard output's JSON values, standard error."""

    def run(command: str, *arguments: str, model: str | Path | None = tiny_model) -> tuple[int, list[Any], str]:
        code = cli.main([command, *arguments, *([] if model is None else ["--model", str(model)])])
        captured = capsys.readouterr()
        return code, [json.loads(line) for line in captured.out.split("\n")[:-1]], captured.err

    return run


@pytest.fixture
def choice(tmp_path: Path) -> str:
    """A schema whose answers are short."""
    path = tmp_path / "choice.json"
    path.write_text(json.dumps(CHOICE))
    return str(path)


def start(tiny_model: Path, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """A command in a process of its own, on the small model."""
    command = [sys.executable, "-m", "copydesk", *arguments, "--model", str(tiny_model)]
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen(command, **options)


def only_line(err: str) -> str:
    """The one line of a message on standard error."""
    assert err.count("\n") == 1, err
    assert err.startswith("copydesk: "), err
    return err


class TestExtract:
    def test_prints_the_record_of_each_text(self, run: Run) -> None:
        code, lines, err = run("extract", TEXT, "<|im_end|>")
        assert (code, err) == (0, "")
        assert [tuple(line) for line in lines] == [ADDRESS_FIELDS, ADDRESS_FIELDS]

    def test_details_are_the_whole_answer(self, run: Run) -> None:
        code, (line,), _ = run("extract", "--details", "--no-draft", TEXT)
        assert code == 0
        assert tuple(line["value"]) == tuple(line["fields"]) == ADDRESS_FIELDS
        assert line["usage"]["completion_tokens"] >= line["passes"] > 1
        assert {"verified", "draft", "accepted", "model", "engine", "ms", "confidence"} <= set(line)

    def test_drafts_unless_told_otherwise_and_says_the_same(self, run: Run) -> None:
        _, (drafted,), _ = run("extract", "--details", "--no-learn", TEXT)
        _, (plain,), _ = run("extract", "--details", "--no-draft", TEXT)
        assert drafted["value"] == plain["value"]
        assert (drafted["draft"], plain["draft"], plain["accepted"]) == ("rules", None, None)
        assert 0 <= drafted["accepted"] <= 1

    def test_writes_a_page_with_each_text_in_its_place(self, run: Run, tmp_path: Path) -> None:
        rows = tmp_path / "rows.jsonl"
        rows.write_text(
            json.dumps({"text": "first <one>"}) + '\n{"other": 1}\n' + json.dumps({"text": "second"}) + "\n"
        )
        page = tmp_path / "page.html"
        code, lines, _ = run("extract", "--html", str(page), "-f", str(rows))
        assert (code, len(lines)) == (3, 3)
        written = page.read_text(encoding="utf-8")
        assert "<one>" not in written
        shown = re.sub("<[^>]*>", "", written)
        assert shown.index("first &lt;one&gt;") < shown.index("invalid_row") < shown.index("second")

    def test_a_page_that_cannot_be_written_is_said_before_anything_is_answered(self, run: Run, tmp_path: Path) -> None:
        for place in (tmp_path / "nowhere" / "page.html", tmp_path):
            code, lines, err = run("extract", "--html", str(place), TEXT)
            assert (code, lines) == (2, [])
            assert str(place) in only_line(err)

    def test_a_page_does_not_take_the_place_of_the_texts(self, run: Run, tmp_path: Path) -> None:
        rows = tmp_path / "rows.txt"
        rows.write_text(TEXT)
        code, lines, err = run("extract", "--html", str(rows), "-f", str(rows))
        assert (code, lines, rows.read_text()) == (2, [], TEXT)
        assert "what is read" in only_line(err)

    def test_takes_a_schema_file_and_a_class(self, run: Run, choice: str, tmp_path: Path) -> None:
        assert run("extract", "--schema", choice, TEXT)[1][0]["kind"] in {"a", "b"}
        module = tmp_path / "colours_of_a_test.py"
        module.write_text(
            "from typing import Literal\nfrom pydantic import BaseModel\n"
            "class Colour(BaseModel):\n    colour: Literal['red', 'green']\n"
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            _, (line,), _ = run("extract", "--schema", "colours_of_a_test:Colour", TEXT)
        assert line["colour"] in {"red", "green"}

    def test_takes_examples_that_satisfy_the_schema(self, run: Run, choice: str, tmp_path: Path) -> None:
        gold = tmp_path / "gold.jsonl"
        gold.write_text('{"text": "an A", "expected": {"kind": "a"}}\n')
        options = ("--schema", choice, "--examples", str(gold))
        assert run("extract", *options, TEXT)[1][0]["kind"] in {"a", "b"}
        gold.write_text('{"text": "an A", "expected": {"kind": "a"}}\n{"text": "a C", "expected": {"kind": "c"}}\n')
        code, lines, err = run("extract", *options, TEXT)
        assert (code, lines) == (2, [])
        assert "gold.jsonl: line 2: " in only_line(err)
        assert "kind: 'c' is not one of" in err

    def test_seeds_and_temperature_count(self, run: Run) -> None:
        def sample(seed: int) -> Any:
            return run("extract", "--temperature", "1.5", "--seed", str(seed), TEXT)[1]

        assert sample(1) == sample(1)
        assert len({str(sample(seed)) for seed in range(3)}) > 1

    def test_a_long_text_is_refused_with_both_numbers_or_cut(self, run: Run, choice: str) -> None:
        code, (line,), err = run("extract", "--schema", choice, "长沙市。" * 1000)
        assert (code, line["error"]["code"]) == (3, "too_long")
        assert "at most" in only_line(err)
        code, (line,), err = run("extract", "--schema", choice, "--truncate", "--details", "长沙市。" * 1000)
        assert (code, line["truncated"], err) == (0, True, "")

    def test_max_tokens_too_few_for_the_answer_are_a_failed_row(self, run: Run) -> None:
        code, (line,), _ = run("extract", "--max-tokens", "2", TEXT)
        assert (code, line["error"]["code"]) == (3, "length")


class TestClassify:
    def test_prints_label_and_confidence(self, run: Run) -> None:
        code, (line,), err = run("classify", "Stocks close higher")
        assert (code, err) == (0, "")
        assert list(line) == ["label", "confidence"]
        assert line["label"] in AGNEWS_LABELS
        assert 0 <= line["confidence"] <= 1

    def test_takes_labels(self, run: Run) -> None:
        _, (line,), _ = run("classify", "--labels", "praise, complaint", "--details", TEXT)
        assert set(line["labels"]) == {"praise", "complaint"}
        assert line["value"] in line["labels"]

    def test_gives_no_label_where_the_model_is_unsure(self, run: Run) -> None:
        code, (line,), err = run("classify", "--abstain-below", "1", "Stocks close higher")
        assert (code, err) == (0, "")
        assert (line["label"], line["abstained"]) == (None, True)
        _, (line,), _ = run("classify", "--abstain-below", "1", "--details", "Stocks close higher")
        assert (line["value"], line["abstained"]) == (None, True)
        assert set(line["labels"]) == set(AGNEWS_LABELS)
        assert 0 <= line["label_mass"] <= 1
        _, (line,), _ = run("classify", "--abstain-below", "0", "Stocks close higher")
        assert line["label"] in AGNEWS_LABELS
        assert "abstained" not in line

    def test_takes_another_prompt_and_examples(self, run: Run, tmp_path: Path) -> None:
        gold = tmp_path / "gold.jsonl"
        gold.write_text('{"text": "Stocks fall", "label": "b"}\n{"text": "A goal", "label": 1}\n')
        plain, guide, shown = (
            run("classify", "--labels", "a,b", "--details", *options, TEXT)[1][0]["usage"]["prompt_tokens"]
            for options in ([], ["--prompt", "guide"], ["--examples", str(gold)])
        )
        assert guide > plain + 100
        assert plain < shown < guide
        gold.write_text('{"text": "Stocks fall", "label": "Business"}\n{"text": "A goal", "label": "Goal"}\n')
        code, lines, err = run("classify", "--examples", str(gold), "text")
        assert (code, lines) == (2, [])
        assert "line 2 is labelled 'Goal'" in only_line(err)

    def test_labels_that_are_no_choice_are_wrong_usage(self, run: Run) -> None:
        code, lines, err = run("classify", "--labels", "one", TEXT)
        assert (code, lines) == (2, [])
        only_line(err)


class TestFiles:
    def test_bad_lines_fail_in_their_place(self, run: Run, choice: str, tmp_path: Path) -> None:
        path = tmp_path / "in.txt"
        path.write_bytes(b"\xef\xbb\xbfgood\r\n\r\n \xff\na \0\nwith <|im_end|>\n")
        code, lines, err = run("extract", "--schema", choice, "-f", str(path))
        assert code == 3
        assert ["error" in line for line in lines] == [False, True, True, True, False]
        assert [line["error"]["code"] for line in lines[1:4]] == ["empty_text", "invalid_text", "invalid_text"]
        assert [message.split(" ")[1] for message in err.splitlines()] == [f"{path}:{line}:" for line in (2, 3, 4)]

    def test_jsonl_has_the_key_text(self, run: Run, choice: str, tmp_path: Path) -> None:
        path = tmp_path / "in.jsonl"
        path.write_text('{"text": "a"}\n{"txt": "b"}\n{"text": "\\ud800"}\n{"text": "two\\nlines"}\n')
        code, lines, _ = run("extract", "--schema", choice, "-f", str(path))
        assert code == 3
        assert [line.get("error", {}).get("code") for line in lines] == [None, "invalid_row", "invalid_text", None]

    def test_an_empty_file_gives_nothing(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "in.txt").touch()
        assert run("classify", "-f", str(tmp_path / "in.txt")) == (0, [], "")

    def test_a_megabyte_of_text_is_refused(self, run: Run, choice: str, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("天津市河西区" * 60_000, encoding="utf-8")
        code, (line,), err = run("extract", "--schema", choice, "-f", str(tmp_path / "in.txt"))
        assert (code, line["error"]["code"]) == (3, "too_long")
        only_line(err)

    def test_a_file_that_shrinks_midway_fails_after_its_lines(
        self, run: Run, choice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "in.txt"
        path.write_text("first\n" + "x" * 100)
        size = os.path.getsize(path)
        monkeypatch.setattr("copydesk.inputs._CHUNK", 6)
        real = os.fstat
        monkeypatch.setattr(os, "fstat", lambda file: (real(file), os.truncate(path, 6))[0])
        code, lines, err = run("extract", "--schema", choice, "-f", str(path))
        assert (code, len(lines)) == (1, 1)
        assert f"reading stopped after line 1: the file is {size - 6} bytes shorter" in only_line(err)

    def test_a_missing_file_is_wrong_usage(self, run: Run, tmp_path: Path) -> None:
        code, lines, err = run("extract", "-f", str(tmp_path / "none.txt"))
        assert (code, lines) == (2, [])
        assert "No such file" in only_line(err)


class TestUsage:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["nonsense"],
            ["extract"],
            ["extract", "text", "-f", "file.txt"],
            ["extract", "--nonsense", "text"],
            ["extract", "--task", "agnews", "text"],
            ["extract", "--temperature", "-1", "text"],
            ["extract", "--max-tokens", "0", "text"],
            ["extract", "--seed", "x", "text"],
            ["classify", "--task", "agnews", "--labels", "a,b", "text"],
            ["eval", "gold.jsonl"],
            ["export", "folder"],
        ],
    )
    def test_wrong_usage_is_said_on_standard_error(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "copydesk" in err
        assert "Traceback" not in err

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("--max-tokens", "x", "'x' is no whole number"),
            ("--seed", "1.5", "'1.5' is no whole number"),
            ("--temperature", "hot", "'hot' is no number"),
            ("--temperature", "nan", "must lie between 0 and 100"),
        ],
    )
    def test_a_value_that_is_no_number_is_named(
        self, option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main(["extract", option, value, "text"]) == 2
        assert f"argument {option}: {message}" in capsys.readouterr().err

    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["--version"]) == 0
        assert capsys.readouterr().out == f"copydesk {__version__}\n"

    @pytest.mark.parametrize("content", ["{", "[]", '{"type": "nonsense"}', '{"properties": 5}'])
    def test_a_schema_that_is_none_is_refused(self, run: Run, tmp_path: Path, content: str) -> None:
        (tmp_path / "schema.json").write_text(content)
        code, lines, err = run("extract", "--schema", str(tmp_path / "schema.json"), TEXT)
        assert (code, lines) == (2, [])
        only_line(err)


class TestModels:
    def test_a_folder_that_is_no_model_is_refused(self, run: Run, tmp_path: Path) -> None:
        code, lines, err = run("extract", TEXT, model=tmp_path)
        assert (code, lines) == (1, [])
        assert str(tmp_path) in only_line(err)

    def test_a_half_downloaded_folder_is_refused(self, run: Run, tiny_model: Path, tmp_path: Path) -> None:
        for file in tiny_model.iterdir():
            content = file.read_bytes()
            (tmp_path / file.name).write_bytes(content[: len(content) // 2])
        code, lines, err = run("extract", TEXT, model=tmp_path)
        assert (code, lines) == (1, [])
        only_line(err)

    def test_an_engine_that_there_is_not_is_wrong_usage(self, run: Run) -> None:
        code, lines, err = run("extract", "--engine", "nonsense", TEXT)
        assert (code, lines) == (2, [])
        assert "openvino" in only_line(err)

    def test_a_state_folder_that_cannot_be_written_stops_nothing(
        self, run: Run, choice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("COPYDESK_HOME", str(tmp_path / "file" / "home"))
        code, lines, err = run("extract", "--schema", choice, TEXT)
        assert (code, len(lines)) == (0, 1)
        assert "is not kept" in only_line(err)
        code, (report,), err = run("doctor")
        assert (code, report["folders"][0]["writable"]) == (0, False)
        assert str(tmp_path / "file" / "home") in only_line(err)

    def test_export_writes_a_folder_that_answers_alike(self, run: Run, tmp_path: Path) -> None:
        code, (line,), err = run("export", "--format", "hf", str(tmp_path / "hf"))
        assert (code, line, err) == (0, {"format": "hf", "folder": str(tmp_path / "hf")}, "")
        (label,) = run("classify", TEXT)[1]
        (again,) = run("classify", TEXT, model=tmp_path / "hf")[1]
        assert again["label"] == label["label"]

    def test_doctor_forgets_what_was_learned(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COPYDESK_HOME", str(tmp_path))
        (tmp_path / "taggers").mkdir()
        learned, other = tmp_path / "taggers" / "a.tagger", tmp_path / "other"
        learned.touch()
        other.touch()
        assert run("doctor", "--forget") == (0, [{"forgotten": 1}], "")
        assert (learned.exists(), other.exists()) == (False, True)
        assert run("doctor", "--forget")[1] == [{"forgotten": 0}]

    def test_doctor_says_what_would_be_chosen(self, run: Run, tiny_model: Path) -> None:
        code, (report,), err = run("doctor")
        assert (code, err) == (0, "")
        assert report["chosen"]["model"] == str(tiny_model)
        assert report["chosen"]["engine"] == "openvino"


class TestEval:
    def test_prints_one_object_and_writes_the_errors(self, run: Run, tmp_path: Path) -> None:
        gold = tmp_path / "gold.jsonl"
        rows = [{"text": "a", "label": label} for label in AGNEWS_LABELS]
        gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
        errors = tmp_path / "errors.jsonl"
        code, (figures,), err = run("eval", str(gold), "--task", "agnews", "--errors", str(errors))
        assert (code, err) == (0, "")
        assert (figures["n"], figures["accuracy"], figures["valid"]) == (4, 0.25, 1.0)
        assert set(figures) == {
            *("accuracy", "f1_macro", "valid", "calibration_error", "n", "p50_ms", "p95_ms", "passes_mean"),
            *("model", "engine", "seed"),
        }
        assert len(errors.read_text(encoding="utf-8").splitlines()) == 3

    def test_records_are_compared(self, run: Run, tmp_path: Path) -> None:
        gold = tmp_path / "gold.jsonl"
        gold.write_text(json.dumps({"text": TEXT, "expected": dict.fromkeys(ADDRESS_FIELDS, "no"), "unlabelled": []}))
        _, (figures,), _ = run("eval", str(gold), "--task", "address")
        assert (figures["exact"], figures["fields"], figures["valid"], figures["n"]) == (0.0, 0.0, 1.0, 1)

    def test_gold_that_is_none_is_wrong_usage(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "gold.jsonl").write_text('{"text": "a"}\n')
        code, lines, err = run("eval", str(tmp_path / "gold.jsonl"), "--task", "address")
        assert (code, lines) == (2, [])
        assert "line 1" in only_line(err)

    def test_errors_that_cannot_be_written_are_told_before_anything_is_answered(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "gold.jsonl").write_text('{"text": "a", "label": 0}\n')
        monkeypatch.setattr("copydesk.commands.arguments.load_model", None)
        code, lines, err = run(
            "eval", str(tmp_path / "gold.jsonl"), "--task", "agnews", "--errors", str(tmp_path / "no" / "out")
        )
        assert (code, lines) == (2, [])
        assert "No such file" in only_line(err)

    def test_errors_do_not_take_the_place_of_the_gold(self, run: Run, tmp_path: Path) -> None:
        gold = tmp_path / "gold.jsonl"
        gold.write_text('{"text": "a", "label": 0}\n')
        code, lines, err = run("eval", str(gold), "--task", "agnews", "--errors", str(gold))
        assert (code, lines, gold.read_text()) == (2, [], '{"text": "a", "label": 0}\n')
        assert "what is read" in only_line(err)

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
    def test_figures_are_printed_though_the_errors_do_not_fit_the_disk(self, run: Run, tmp_path: Path) -> None:
        gold = tmp_path / "gold.jsonl"
        gold.write_text("".join(json.dumps({"text": "a", "label": label}) + "\n" for label in AGNEWS_LABELS))
        code, (figures,), err = run("eval", str(gold), "--task", "agnews", "--errors", "/dev/full")
        assert (code, figures["n"]) == (1, 4)
        assert "No space left" in only_line(err)


class TestProcess:
    def test_a_pipe_gets_each_answer_before_the_next_text_is_there(self, tiny_model: Path, choice: str) -> None:
        with start(tiny_model, "extract", "--schema", choice, "-f", "-") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for text in ("first", "second"):
                process.stdin.write(f"{text}\n".encode())
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["kind"] in {"a", "b"}
            process.stdin.close()
            assert process.wait(30) == 0

    def test_a_reader_that_closes_ends_it_quietly(self, tiny_model: Path, choice: str, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("text\n" * 200)
        process = start(tiny_model, "extract", "--schema", choice, "-f", str(tmp_path / "in.txt"))
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
    def test_a_full_disk_is_said(self, tiny_model: Path, choice: str) -> None:
        with open("/dev/full", "wb") as full:
            process = start(tiny_model, "extract", "--schema", choice, TEXT, stdout=full)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 1
        assert "No space left" in only_line(err.decode())

    def test_interrupting_is_quiet(self, tiny_model: Path, choice: str) -> None:
        process = start(tiny_model, "extract", "--schema", choice, "-f", "-")
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"text\n")
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == b""
        process.stdin.close()

    def test_bytes_that_are_not_utf8_on_the_command_line_are_a_failed_row(self, tiny_model: Path, choice: str) -> None:
        command = [sys.executable, "-m", "copydesk", "extract", "--schema", choice, "--model", str(tiny_model), b"\xff"]
        done = subprocess.run(command, capture_output=True, env=os.environ | {"LC_ALL": "C"})
        assert done.returncode == 3
        assert json.loads(done.stdout)["error"]["code"] == "invalid_text"
        only_line(done.stderr.decode())

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
    def test_messages_that_nobody_can_read_keep_no_data_back(self, tiny_model: Path, choice: str) -> None:
        with open("/dev/full", "wb") as full:
            process = start(tiny_model, "extract", "--schema", choice, "", TEXT, stderr=full)
            out, _ = process.communicate(timeout=30)
        assert process.returncode == 3
        assert ["error" in json.loads(line) for line in out.splitlines()] == [True, False]

    def test_closed_output_is_said(self, tiny_model: Path) -> None:
        command = f"{sys.executable} -m copydesk extract text --model {tiny_model} >&-"
        done = subprocess.run(command, shell=True, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert "standard output is closed" in only_line(done.stderr.decode())


def test_an_unexpected_error_is_one_line_unless_asked_for(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("copydesk.commands.arguments.load_model", fail)
    code, lines, err = run("extract", TEXT)
    assert (code, lines) == (1, [])
    assert "RuntimeError: a bug" in only_line(err)
    monkeypatch.setenv("COPYDESK_TRACEBACK", "1")
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(["extract", TEXT])
