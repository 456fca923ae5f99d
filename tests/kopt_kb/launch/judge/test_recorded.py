"""Launches of a record as compilations: for its own target as stored, for another one recorded again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from kopt_kb import kernels
from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.cli.main import main
from kopt_kb.launch.counts.counting import count_compilation
from kopt_kb.launch.judge.makers import NotRecordedError
from kopt_kb.launch.judge.recorded import Wanted, closed_form, is_record, recorded
from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, TensorArgument
from kopt_kb.problem.work import work

pytestmark = [pytest.mark.torch, pytest.mark.triton]
pytest.importorskip("torch")
pytest.importorskip("triton")

LAUNCHERS = str(Path(__file__).resolve().parents[3] / "data" / "tuned_launchers.py")
VECTOR = {"x": TensorArgument((1000,), "fp32")}
SQUARE = {name: TensorArgument((256, 256), "fp16") for name in ("a", "b")}


def asked(call: str, arguments, target="sm_90", **more) -> MakerRequest:
    """A request with IR."""
    return MakerRequest(CallRequest(f"{LAUNCHERS}:{call}", arguments), target, target, more, "", statics=True)


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


def test_a_record_of_one_launch_has_the_work_that_its_operation_declares(doubled: Path, tmp_path: Path) -> None:
    """What a file declares of its operation's options counts; of a call, or where nobody said them, nothing is known."""
    folder = tmp_path / "attention.record"
    shutil.copytree(doubled, folder)
    said = json.loads((folder / "record.json").read_text())
    works = []
    for steps, words in (
        (1, {"op": "attention", "options": {"causal": True}}),
        (1, {"op": "attention", "options": {"causal": False}}),
        (1, {"op": "attention"}),
        (1, {"op": ""}),
        (2, {"op": "attention", "options": {"causal": True}}),
    ):
        told = {key: value for key, value in said.items() if key != "options"}
        told |= {"shape": [1, 2, 256, 64], "dtype": "bf16", "steps": said["steps"][:steps], **words}
        (folder / "record.json").write_text(json.dumps(told))
        works.append(closed_form(folder))
    assert works == [work("attention", "1x2x256x64", "bf16", causal=one) for one in (True, False)] + 3 * [None]


def test_a_foreign_kernel_with_arguments_has_a_roofline(capsys: pytest.CaptureFixture[str]) -> None:
    """By name, with a configuration of its own."""
    words = ["roofline", LAUNCHERS, "--kernel", "double", "--arg", "x=fp32[1000]", "--arg", "out=fp32[1000]"]
    words += ["--arg", "n=1000", "--autotune", "2", "--grid", "2", "--platform", "MI300X", "--json"]
    assert main(words) == 0
    (roof,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (roof["name"], roof["compile"]["target"]) == ("double", "gfx942")


def test_a_record_of_cuda_is_profiled_and_not_counted(
    makers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both kernels of its code object, with the resources that the compiler said; operations have a closed form."""
    what = OpRequest(str(Path(kernels.__file__).parent / "cuda" / "softmax.cu"), (8, 131072), "bf16")
    made = makers.make(MakerRequest(what, "sm_90", "sm_90", {}, "", statics=True), tmp_path / "soft")
    if isinstance(made.error, MissingTool):
        pytest.skip(str(made.error))
    assert made.record is not None, made.error
    assert main(["compile", str(made.folder), "--json"]) == 0
    profiles = json.loads(capsys.readouterr().out)["kernels"]
    assert [one["name"][4:17] for one in profiles] == ["softmax_parts", "softmax_finis"]
    assert all(one["registers"] and one["num_warps"] == 8 for one in profiles)
    assert main(["count", str(made.folder)]) == 2
    assert "takes the closed form of the operation" in capsys.readouterr().err


STEERED = str(Path(LAUNCHERS).with_name("steered_launchers.py"))


def test_given_lengths_make_a_count_exact(makers, tmp_path: Path) -> None:
    """Three sequences of 16, 0 and 40 elements: two programs, one of them of no trips; 4 bytes an element each way."""
    arguments = {"x": TensorArgument((4, 64), "fp32"), "offsets": TensorArgument((4,), "int32", None, (0, 16, 16, 56))}
    made = makers.make(
        MakerRequest(CallRequest(f"{STEERED}:scaled", arguments), "sm_90", "sm_90", {}, "", statics=True),
        tmp_path / "a",
    )
    assert made.record is not None, made.error
    assert "values of tensors were given" in made.record.not_replayable
    (one,) = recorded(tmp_path / "a")
    assert (one.grid, dict(one.arguments)["lengths"].values) == ((2, 1, 1), (16, 0, 40))
    kernel = count_compilation(one).kernel
    assert (kernel.written.compulsory.value, kernel.written.compulsory.exactness) == (64, "exact")


def test_what_a_kernel_wrote_is_not_known(makers, tmp_path: Path) -> None:
    """The second launch's lengths are whatever the first made of them."""
    arguments = {"x": TensorArgument((4, 64), "fp32"), "lengths": TensorArgument((4,), "int32", None, (16, 16, 32, 32))}
    made = makers.make(
        MakerRequest(CallRequest(f"{STEERED}:halved", arguments), "sm_90", "sm_90", {}, "", statics=True),
        tmp_path / "a",
    )
    assert made.record is not None, made.error
    first, second = recorded(tmp_path / "a")
    assert dict(first.arguments)["lengths"].values == (16, 16, 32, 32)
    assert dict(second.arguments)["lengths"].values is None
    assert count_compilation(second).kernel.written.compulsory.exactness != "exact"


def test_a_program_is_recorded_up_to_what_it_cannot_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both passes, each different launch once; then the line that needs a result."""
    words = ["record", "--target", "sm_90", "--out", str(tmp_path / "a"), "--", "python", STEERED]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert said.count("launch scale_rows") == 2
    assert "a program's launches" in said
    assert re.search(r"recorded up to \S*steered_launchers\.py:\d+", said)
    assert main(["count", str(tmp_path / "a"), "--json"]) == 0
    kernels = json.loads(capsys.readouterr().out)["kernels"]
    assert [one["grid"] for one in kernels] == [[2, 1, 1], [1, 1, 1]]
    assert {one["bytes"]["written"]["compulsory"]["exactness"] for one in kernels} == {"exact"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "python", "/nowhere/train.py"], "no such file"),
        (["--", "ls", "-l"], "no Python program"),
        (["--call", "m:f", "--", "python", "a.py"], "a program and other arguments"),
    ],
)
def test_bad_programs(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line that names what is wrong, and no folder."""
    assert main(["record", "--target", "sm_90", "--out", str(tmp_path / "a"), *words]) in (1, 2)
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err
    assert not (tmp_path / "a").exists()


def test_operations_that_a_library_registered_are_seen_through(makers, tmp_path: Path) -> None:
    """Called as a function and by name, with a kernel wrapped for torch's compiler, under a lock of processes."""
    call = CallRequest(f"{Path(LAUNCHERS).with_name('library_launchers.py')}:twice", VECTOR)
    made = makers.make(MakerRequest(call, "sm_90", "sm_90", {}, ""), tmp_path / "a")
    assert made.record is not None, made.error
    assert [one.entry for one in made.record.launches] == ["negate", "negate"]
    assert made.record.not_replayable == ""
