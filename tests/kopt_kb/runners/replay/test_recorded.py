"""Launches of a record as compilations: for its own target as stored, for another one recorded again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.errors import BadInput
from kopt_kb.kernels.record.request import CallRequest, Request, TensorArgument
from kopt_kb.runners.replay.makers import Makers, NotRecordedError
from kopt_kb.runners.replay.recorded import Wanted, is_record, recorded

pytestmark = [pytest.mark.torch, pytest.mark.triton]
pytest.importorskip("torch")
pytest.importorskip("triton")

LAUNCHERS = str(Path(__file__).resolve().parents[3] / "data" / "tuned_launchers.py")
VECTOR = {"x": TensorArgument((1000,), "fp32")}
SQUARE = {name: TensorArgument((256, 256), "fp16") for name in ("a", "b")}


@pytest.fixture(scope="module")
def makers():
    """One warm maker."""
    with Makers(1) as made:
        yield made


def asked(call: str, arguments, target="sm_90", **more) -> Request:
    """A request with IR."""
    return Request(CallRequest(f"{LAUNCHERS}:{call}", arguments), target, target, more, "", statics=True)


@pytest.fixture(scope="module")
def doubled(makers, tmp_path_factory) -> Path:
    """The record of a tuned kernel that is launched twice."""
    folder = tmp_path_factory.mktemp("recorded") / "doubled"
    made = makers.make(asked("doubled", VECTOR), folder)
    assert made.record is not None, made.error
    assert len(made.record.launches) == 2
    return folder


def test_the_first_configuration_that_fits_is_recorded_once(doubled: Path) -> None:
    """One does not compile, one is left out by the kernel's rule; the same launch twice is one compilation."""
    (one,) = recorded(doubled, disassemble=True)
    assert (one.constexprs["BLOCK"], one.constexprs["EVEN"], one.grid, one.metadata["num_warps"]) == (
        512,
        False,
        (2, 1, 1),
        2,
    )
    assert one.binary[:4] == b"\x7fELF"
    assert "LDG" in one.assembly
    assert "tt.func" in one.ttir
    assert [name for name, _ in one.arguments] == ["x", "out", "n"]


def test_another_target_is_recorded_again(doubled: Path) -> None:
    """The launcher runs again, for that target."""
    (one,) = recorded(doubled, Wanted("gfx942"))
    assert (one.target, one.grid) == ("gfx942", (2, 1, 1))
    assert "v_" in one.assembly


def test_a_launch_that_does_not_fit_is_refused(makers, tmp_path: Path) -> None:
    """Shared memory above the device's sourced limit, as a launch would find."""
    made = makers.make(asked("multiplied", SQUARE, "gfx942", shared_memory_per_block_optin=65536), tmp_path / "a")
    assert isinstance(made.error, NotRecordedError)
    assert "shared memory, Required" in str(made.error)
    assert makers.make(asked("multiplied", SQUARE, "gfx942"), tmp_path / "b").record


def test_compile_count_and_roofline_take_a_record(doubled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word on arguments."""
    assert main(["compile", str(doubled), "--json"]) == 0
    (compiled,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (compiled["name"], compiled["target"], compiled["spills"]) == ("double", "sm_90", 0)
    assert main(["count", str(doubled), "--json"]) == 0
    (counted,) = json.loads(capsys.readouterr().out)["kernels"]
    assert counted["bytes"]["read"]["compulsory"]["value"] == 4000
    assert main(["roofline", str(doubled), "--platform", "H100_SXM", "--json"]) == 0
    (roof,) = json.loads(capsys.readouterr().out)["kernels"]
    assert roof["roofline"]["bound"] == "memory"


def test_what_is_no_record_is_said(doubled: Path, tmp_path: Path) -> None:
    """A folder without one, and a record without IR."""
    assert is_record(doubled)
    assert not is_record(tmp_path)
    (doubled / "static.json").rename(tmp_path / "static.json")
    try:
        with pytest.raises(BadInput, match="no IR of its launches"):
            recorded(doubled)
    finally:
        (tmp_path / "static.json").rename(doubled / "static.json")


def test_a_foreign_kernel_with_arguments_has_a_roofline(capsys: pytest.CaptureFixture[str]) -> None:
    """By name, with a configuration of its own."""
    words = ["roofline", LAUNCHERS, "--kernel", "double", "--arg", "x=fp32[1000]", "--arg", "out=fp32[1000]"]
    words += ["--arg", "n=1000", "--option", "autotune_config=2", "--grid", "2", "--platform", "MI300X", "--json"]
    assert main(words) == 0
    (roof,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (roof["name"], roof["compile"]["target"]) == ("double", "gfx942")
