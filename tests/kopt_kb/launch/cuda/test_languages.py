"""A header's function becomes machine code by its language's compiler; the language here is a test's, behind it NVRTC."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, MissingTool
from kopt_kb.doors import table
from kopt_kb.doors.language import Language
from kopt_kb.doors.pack import Pack
from kopt_kb.launch.cuda.languages import FunctionCode, FunctionJob, dump_folder, made_of
from kopt_kb.launch.cuda.launches import record_cuda
from kopt_kb.launch.cuda.nvrtc import compile_cuda
from kopt_kb.launch.record.bounds import check_code, check_record
from kopt_kb.launch.record.model import LaunchRecord, TensorView
from kopt_kb.launch.record.request import MakerRequest, OpRequest

HEADER = """
op = "elementwise"
shape = "Nx..."
dtypes = ["fp32"]
language = "mine"
function = "add_of.py:add"
config = { THREADS = 128 }
[inputs]
x = "[elements]"
y = "[elements]"
[outputs]
out = "[elements]"
[[steps]]
launch = "add_kernel"
grid = ["elements // THREADS"]
block = ["THREADS"]
arguments = ["x", "y", "out"]
"""
SOURCE = """
extern "C" __global__ void mine_add_kernel_0(const float* x, const float* y, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + y[threadIdx.x];
}
"""
PYTHON = "def add(THREADS):\n    return THREADS\n"
VIEW = TensorView("x", 0, (4, 8), (8, 1), "fp32")


def _compiled(job: FunctionJob) -> FunctionCode:
    sys.stdout.write("what a compiler says")
    function = job.load()
    text = f"{function(**job.given(function))} threads for {job.target}"
    assert isinstance(job.arch, int)
    made = compile_cuda(SOURCE, str(job.file), job.arch)
    return FunctionCode(made.cubin, made, {"back end": "1"}, {"mine": text})


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The fields of the one language that a pack brings; its package is one that is installed."""
    fields: dict[str, Any] = {"header": "mine", "vendors": ("NVIDIA",), "package": "pytest", "function_code": _compiled}

    def made() -> table.Packs:
        pack = Pack("mine", "a test's pack", languages=(Language("Mine", "a test's", **fields),))
        absent = table.PackFault("gone", "its modules are not installed", absent=True)
        return table.Packs({"mine": pack}, (absent,))

    monkeypatch.setattr(table, "packs", made)
    return fields


def _recorded(folder: Path, header: str = HEADER) -> LaunchRecord:
    (folder / "add_of.py").write_text(PYTHON)
    file = folder / "add.toml"
    file.write_text(header)
    what = OpRequest(str(file), (65536,), "fp32")
    return record_cuda(MakerRequest(what, "sm_90", "Test", {}, str(folder)), what)


@pytest.mark.usefixtures("packs")
def test_a_record_of_a_language(tmp_path: Path, nvrtc: str) -> None:
    """Its kernel is found among the words of the symbol, its parameters are held against the machine code."""
    record = _recorded(tmp_path)
    check_record(record, "record")
    for digest in record.codes:
        check_code((tmp_path / digest).read_bytes(), "sm_90", "code")
    (launch,) = record.launches
    assert (launch.entry, launch.grid, launch.block) == ("mine_add_kernel_0", (512, 1, 1), (128, 1, 1))
    assert set(record.sources) == {"add.toml", "add_of.py"}
    assert record.versions == {"pytest": pytest.__version__, "back end": "1"}


@pytest.mark.usefixtures("packs")
def test_a_kernel_that_a_function_does_not_have(tmp_path: Path, nvrtc: str) -> None:
    """Its header names another one."""
    with pytest.raises(BadInput, match="no kernel 'sub_kernel'"):
        _recorded(tmp_path, HEADER.replace("add_kernel", "sub_kernel"))


@pytest.mark.usefixtures("packs")
def test_what_a_compiler_gives_comes_back(tmp_path: Path, nvrtc: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With its IR, and the target with its own features; what it prints is not shown."""
    (tmp_path / "k.py").write_text(PYTHON)
    made = made_of("mine", FunctionJob(tmp_path / "k.py", "add", [VIEW], {"THREADS": 64, "M": 4}, 90, []))
    assert made.binary[:4] == b"\x7fELF" and made.dialects == {"mine": "64 threads for sm_90a"}
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("source", "name", "code"),
    [
        ("x = 1\n", "add", "KB081"), ("def add(:\n", "add", "KB081"),
        ("raise SystemError('\\x1b[31mno words of mine')\n", "add", "KB081"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("packs")
def test_what_is_wrong_with_a_function(tmp_path: Path, source: str, name: str, code: str) -> None:
    """One line with the file."""
    file = tmp_path / "k.py"
    file.write_text(source)
    with pytest.raises(BadInput) as caught:
        made_of("mine", FunctionJob(file, name, [], {}, 90, []))
    assert caught.value.error_code == code and "\x1b" not in caught.value.what
    with pytest.raises(BadInput) as caught:
        made_of("mine", FunctionJob(tmp_path / "none.py", name, [], {}, 90, []))
    assert caught.value.error_code == "KB110"


def test_a_package_that_is_not_installed(packs: dict[str, Any], tmp_path: Path) -> None:
    """Named; nothing of the file ran."""
    packs["package"] = "no-such-package-of-anybody"
    file = tmp_path / "k.py"
    file.write_text("raise SystemExit(1)\n")
    with pytest.raises(MissingTool, match="no-such-package-of-anybody is not installed"):
        made_of("mine", FunctionJob(file, "add", [], {}, 90, []))


@pytest.mark.usefixtures("packs")
def test_a_target_of_another_vendor(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        made_of("mine", FunctionJob(tmp_path / "k.py", "add", [], {}, "gfx942", []))
    assert caught.value.error_code == "KB106"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"mine"', '"fortran"'), ('function = "add_of.py:add"', ""), ("add_of.py:add", "add_of.py"),
        ("add_of.py", "../add_of.py"), ("config =", 'code = "k.cubin"\nconfig ='),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("packs")
def test_a_header_says_both_and_a_file_beside_it(tmp_path: Path, old: str, new: str) -> None:
    """Anything else is refused before a file is run."""
    with pytest.raises(BadInput) as caught:
        _recorded(tmp_path, HEADER.replace(old, new))
    assert caught.value.error_code == "KB077"


@pytest.mark.usefixtures("packs")
def test_a_language_whose_pack_is_absent_is_refused_with_the_pack(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs the pack gone, which is not installed"):
        _recorded(tmp_path, HEADER.replace('"mine"', '"gone"'))


def test_the_folder_of_a_compiler_is_gone_afterwards() -> None:
    with dump_folder() as folder:
        (folder / "k.cubin").write_bytes(b"")
    assert not folder.exists()
