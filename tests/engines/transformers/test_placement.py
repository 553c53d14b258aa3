"""Where weights go: what makes sense is understood, what does not is one clear line before anything is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from copydesk.engines.transformers.placement import Placement, place
from copydesk.errors import UsageError


def placed(cards: int = 0, **options: Any) -> Placement:
    given = dict.fromkeys(("device", "device_map", "offload_folder", "max_memory")) | options
    return place(**given, cards=cards)


@pytest.mark.parametrize(
    ("device", "cards", "expected"),
    [
        (None, 0, "cpu"),
        (None, 2, "cuda:0"),
        ("auto", 1, "cuda:0"),
        ("cpu", 1, "cpu"),
        ("cuda", 1, "cuda:0"),
        ("cuda:1", 2, "cuda:1"),
    ],
)
def test_one_device(device: str | None, cards: int, expected: str) -> None:
    assert placed(cards, device=device) == Placement(device=expected)


@pytest.mark.parametrize(
    ("device", "cards", "complaint"),
    [
        ("tpu", 0, "there is no device 'tpu'; choose auto, cpu, cuda or cuda:N"),
        ("cuda:x", 1, "there is no device 'cuda:x'"),
        ("", 1, "there is no device ''"),
        (0, 1, "there is no device 0"),
        ("cuda", 0, "PyTorch finds none on this machine; choose cpu"),
        ("cuda:2", 2, "cuda:2 asks for a CUDA device that is not there: this machine has cuda:0 to cuda:1"),
    ],
)
def test_devices_that_there_are_not(device: Any, cards: int, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        placed(cards, device=device)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_maps() -> None:
    assert placed(device_map="auto") == Placement(automatic=True)
    assert placed(1, device_map="layers-on-gpu=12") == Placement(layers_on_gpu=12)
    expected = Placement(modules=(("model.layers", 0), ("lm_head", "cpu"), ("model.norm", 1), ("x", "disk")))
    asked = {"model.layers": 0, "lm_head": "cpu", "model.norm": "cuda:1", "x": "disk"}
    assert placed(2, device_map=asked) == expected
    written = '{"model.layers": 0, "lm_head": "cpu", "model.norm": "cuda:1", "x": "disk"}'
    assert placed(2, device_map=written) == expected


@pytest.mark.parametrize(
    ("device_map", "complaint"),
    [
        ("balanced", "device_map 'balanced' says nothing: give auto, layers-on-gpu=N, or an object"),
        (7, "device_map 7 says nothing"),
        ({}, "device_map is empty"),
        ("{", "device_map is no JSON"),
        ({3: "cpu"}, "device_map names modules"),
        ({"": "tpu"}, "device_map puts '' on 'tpu'"),
        ({"": -1}, "device_map puts '' on -1"),
        ({"": True}, "device_map puts '' on True"),
        ({"": 1}, "device_map's '' asks for a CUDA device that is not there"),
        ({"": "cuda:1"}, "cuda:1 asks for a CUDA device that is not there"),
        ("layers-on-gpu=some", "layers-on-gpu=some: N is a whole number from 0 up"),
        ("layers-on-gpu=-1", "layers-on-gpu=-1: N is a whole number from 0 up"),
    ],
)
def test_maps_of_nonsense(device_map: Any, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        placed(1, device_map=device_map)
    assert complaint in str(caught.value)


def test_layers_on_a_gpu_need_one() -> None:
    with pytest.raises(UsageError, match="layers-on-gpu=3 asks for a CUDA device, but PyTorch finds none"):
        placed(device_map="layers-on-gpu=3")


@pytest.mark.parametrize(
    ("size", "count"),
    [("200MB", 200_000_000), ("1.5 GiB", 3 * 2**29), ("10kb", 10_000), ("7B", 7), (4096, 4096), ("2TB", 2 * 10**12)],
)
def test_limits_mean_a_map(size: int | str, count: int) -> None:
    assert placed(max_memory={"cpu": size}) == Placement(automatic=True, max_memory=(("cpu", count),))


def test_limits_of_cards_by_number() -> None:
    limits = {0: "1GB", "1": "2GB", "cuda:2": "3GB"}
    assert placed(3, max_memory=limits).max_memory == ((0, 10**9), (1, 2 * 10**9), (2, 3 * 10**9))


@pytest.mark.parametrize(
    ("max_memory", "complaint"),
    [
        ({"cpu": "lots"}, "'lots' is no size; write 200MB"),
        ({"cpu": -1}, "-1 is no size"),
        ({"cpu": "200"}, "'200' is no size"),
        ({"disk": "1GB"}, "'disk' is neither"),
        ({1: "1GB"}, "max_memory's 1 asks for a CUDA device that is not there"),
        ("200MB", "max_memory is an object"),
    ],
)
def test_limits_of_nonsense(max_memory: Any, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        placed(1, max_memory=max_memory)
    assert complaint in str(caught.value)


def test_two_places_at_once() -> None:
    for options in ({"device_map": "auto"}, {"max_memory": {"cpu": "1GB"}}):
        with pytest.raises(UsageError, match="not both"):
            placed(device="cpu", **options)
    with pytest.raises(UsageError, match="max_memory limits what device_map='auto' chooses"):
        placed(device_map={"": "cpu"}, max_memory={"cpu": "1GB"})


def test_an_offload_folder_is_made_and_means_a_map(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert placed(offload_folder=folder) == Placement(automatic=True, offload_folder=folder)
    assert list(folder.iterdir()) == []
    assert placed(offload_folder=str(folder)).offload_folder == folder


def test_an_offload_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        UsageError, match=r"the offload folder .*file/below cannot be written: .* is a file; give another"
    ):
        placed(offload_folder=tmp_path / "file" / "below")


def test_an_offload_folder_that_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("copydesk.engines.transformers.placement.tempfile.TemporaryFile", full)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        placed(offload_folder=tmp_path)
