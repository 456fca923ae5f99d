"""A header is read where it stands; what it can't mean is refused with its file, and its line where TOML knows it."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.cuda.header import read_header, source_text, split_argument
from kopt_kb.launch.kernel.declared import has_header, kernel_name

GOOD = """// a comment before
/* kb
op = "softmax"
config = { THREADS = 128 }

[inputs]
x = "[M, N]"

[outputs]
out = "fp32[M, N]"

[[steps]]
launch = "rows<{T}>"
grid = ["M"]
block = "THREADS"
arguments = ["x", "out", "i32 N"]
*/
"""


def _written(folder: Path, text: str, name: str = "kernel.cu") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_header_in_a_comment(tmp_path: Path) -> None:
    """Tensors in their order, steps with their defaults."""
    found = read_header(_written(tmp_path, GOOD))
    assert found is not None
    assert (found.op, dict(found.config), list(found.tensors)) == ("softmax", {"THREADS": 128}, ["x", "out"])
    assert found.tensors["out"].dtype == "fp32"
    (step,) = found.steps
    assert (step.what, step.grid, step.block, step.cluster, step.shared) == (
        "rows<{T}>",
        ("M",),
        ("THREADS",),
        ("1",),
        "0",
    )


def test_a_header_beside_the_file(tmp_path: Path) -> None:
    """For source that nobody may edit, and for code objects; one in the file comes first."""
    body = GOOD.split("/* kb\n")[1].removesuffix("*/\n")
    _written(tmp_path, body, "kernel.toml")
    found = read_header(_written(tmp_path, "__global__ void rows() {}\n"))
    assert found is not None
    assert found.op == "softmax"
    assert found.where.endswith("kernel.toml")
    (tmp_path / "kernel.cubin").write_bytes(b"\x7fELF" + b"\xff" * 40)
    assert read_header(tmp_path / "kernel.cubin") == found


def test_a_file_without_a_header(tmp_path: Path) -> None:
    """None, not an error: kernels can be compiled without one."""
    assert read_header(_written(tmp_path, "__global__ void rows() {}\n")) is None


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('op = "softmax"', 'op = "softmax', r"kernel.cu:3: the header is no TOML"),
        ('op = "softmax"', 'colour = "red"', "unknown colour; known: code"),
        ('op = "softmax"', "op = 3", "op is no text"),
        ("THREADS = 128", "THREADS = 1.5", "no whole number"),
        ("THREADS = 128", "THREADS = true", "no whole number"),
        ('x = "[M, N]"', 'x = "M by N"', "x = 'M by N' is no tensor"),
        ('x = "[M, N]"', 'x = "float7[M]"', "is no tensor"),
        ('launch = "rows<{T}>"', 'fill = "x"', "the header launches nothing"),
        ('launch = "rows<{T}>"', 'launch = "rows"\nfill = "x"', "no launch, fill or copy"),
        ('launch = "rows<{T}>"', 'launch = "rows"\ncolour = 1', "unknown colour; a launch has"),
        ('["x", "out", "i32 N"]', '["x", "z"]', "names 'z', which is no tensor; tensors: x, out"),
        ('["x", "out", "i32 N"]', '["map x [4] swizzle 7"]', "'map x .4. swizzle 7' is no tensor map"),
        ('["x", "out", "i32 N"]', '["map z [4] swizzle 0"]', "names 'z', which is no tensor"),
        ('["x", "out", "i32 N"]', "3", "is no list"),
        ('grid = ["M"]', 'grid = ["M", 1, 1, 1]', "one to three extents"),
        ('grid = ["M"]', "grid = 1.5", "is no expression"),
        ('op = "softmax"', 'code = "../x.cubin"', "no file beside the header"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    """In one line."""
    assert old in GOOD
    with pytest.raises(BadInput, match=complaint) as caught:
        read_header(_written(tmp_path, GOOD.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_a_file_is_known_by_its_name_or_its_head(tmp_path: Path) -> None:
    """A candidate's blob has no name of its own."""
    assert has_header("a.cu")
    assert has_header("a.cubin")
    assert has_header("kernel.py", GOOD.encode())
    assert not has_header("kernel.py", b'"""A kernel."""\nimport triton\n')
    assert has_header("kernel.py", b'"""A kernel.\n\n/* kb\nop = "x"\n*/\n"""\n')
    assert not has_header("kernel.py", b'TEXT = """/* kb\n"""\n')


def test_arguments_are_numbers_with_a_type_or_names() -> None:
    """A word alone is a tensor."""
    assert split_argument("i32 N * 2") == ("i32", "N * 2")
    assert split_argument(" x ") == ("", "x")
    assert split_argument("null") == ("", "null")


def test_source_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """Not by a traceback."""
    path = tmp_path / "kernel.cu"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="as text"):
        source_text(path)
    with pytest.raises(BadInput, match="can't be read"):
        read_header(path)


def test_values_that_a_search_left_in_the_file(tmp_path: Path) -> None:
    """By shape; those that the header does not have are refused with their place."""
    text = GOOD + '\n/* kb-tuned\n"8x64" = { THREADS = 32 }\n*/\n'
    found = read_header(_written(tmp_path, text))
    assert found is not None
    assert found.tuned == {"8x64": {"THREADS": 32}}
    for old, new, complaint in (
        ("THREADS = 32", "WARPS = 32", "unknown tuning value WARPS for 8x64"),
        ("THREADS = 32", "THREADS = 'x'", "no whole number"),
        ('"8x64" = { THREADS = 32 }', "8x64 = 3 =", r"kernel.cu:20: the header is no TOML"),
        ('"8x64" = { THREADS = 32 }', "a = 3", "a is no table"),
    ):
        with pytest.raises(BadInput, match=complaint):
            read_header(_written(tmp_path, text.replace(old, new)))


def test_a_kernel_is_called_by_its_language() -> None:
    """In a workspace, and wherever a candidate gets a file."""
    assert (kernel_name(GOOD.encode()), kernel_name(b"import triton\n")) == ("kernel.cu", "kernel.py")
    assert kernel_name(b'"""A kernel.\n\n/* kb\nop = "x"\n*/\n"""\n') == "kernel.py"


@pytest.mark.parametrize("text", ["/* kb\n" * 200_000, "/* kb\n*/" + "/* kb-tuned\n" * 200_000, "/*" + " \n" * 500_000])
def test_comments_without_an_end_take_no_time(tmp_path: Path, text: str) -> None:
    """A file of a megabyte is looked through once."""
    file = tmp_path / "kernel.cu"
    file.write_text(text)
    begin = time.process_time()
    with contextlib.suppress(BadInput):
        assert read_header(file) is None
    assert time.process_time() - begin < 5


def test_a_header_with_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    """With the file's name and a code."""
    file = tmp_path / "kernel.cu"
    file.write_text(f"/* kb\nconfig = {{ A = {'7' * 5000} }}\n*/")
    with pytest.raises(BadInput, match="number or a nesting") as caught:
        read_header(file)
    assert caught.value.error_code == "KB077"
