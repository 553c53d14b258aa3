"""What the command's arguments come to; serving itself is tested elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from copydesk.cli import main
from copydesk.serving import serve as module
from copydesk.serving.config import Config, VersionSettings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """The servers that would have been started."""
    configs: list[Config] = []

    def serve(config: Config) -> int:
        configs.append(config)
        return 15

    monkeypatch.setattr(module, "serve", serve)
    return configs


def test_without_arguments_it_is_the_built_in_model_on_this_machine(served: list[Config]) -> None:
    assert main(["serve"]) == 0
    assert served == [Config()]


def test_arguments_say_which_model_and_where(served: list[Config], tmp_path: Path) -> None:
    assert main(["serve", "--model", str(tmp_path), "--engine", "openvino", "--no-draft", "--port", "0"]) == 0
    (config,) = served
    assert config.names[0].name == tmp_path.name
    assert config.names[0].versions == (VersionSettings(model=str(tmp_path), engine="openvino", draft=False),)
    assert config.settings.port == 0


def test_a_file_says_everything_but_where_to_listen(
    served: list[Config], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "copydesk.toml"
    file.write_text("port = 9000\n[[models]]\nname = 'address'")
    assert main(["serve", "--config", str(file), "--host", "::1"]) == 0
    (config,) = served
    assert (config.settings.host, config.settings.port, config.names[0].name) == ("::1", 9000, "address")
    assert main(["serve", "--config", str(file), "--no-learn"]) == 2
    assert "leave out what else does" in capsys.readouterr().err
    file.write_text("prot = 9000")
    assert main(["serve", "--config", str(file)]) == 2
    assert "did you mean port?" in capsys.readouterr().err
    assert len(served) == 1


@pytest.mark.parametrize("arguments", [["--port", "x"], ["--port", "70000"], ["--config", "nowhere.toml"]])
def test_what_makes_no_sense_is_wrong_usage(served: list[Config], arguments: list[str]) -> None:
    assert main(["serve", *arguments]) == 2
    assert served == []
