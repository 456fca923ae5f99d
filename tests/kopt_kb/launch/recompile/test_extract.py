"""Claims about what is taken of a source."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.launch.recompile.extract import TakenSource, take
from kopt_kb.launch.recompile.modules import ModuleFile, ModuleFiles

HEAD = "import triton\nimport triton.language as tl\nimport torch\n"


def taken(folder: Path, text: str, **others: str) -> TakenSource:
    """Return what the kernel `k` of a file needs."""
    for name, one in {"main": text, **others}.items():
        (folder / f"{name}.py").write_text(HEAD + one)
    files = ModuleFiles((folder,), {"main": ModuleFile("main", folder / "main.py")})
    return take(files, [("main", "k")])


def test_only_what_the_kernel_needs_is_taken(tmp_path: Path) -> None:
    """Nothing that the file does besides: calls, other functions, other constants."""
    text = "A = 2\nB = tl.constexpr(A)\nC = 3\nprint('ran')\n@triton.jit\ndef k(x):\n    return x + B\ndef f(): pass\n"
    (one,) = taken(tmp_path, text).modules
    assert one.text.split() == [
        "import",
        "triton.language",
        "as",
        "tl",
        "A",
        "=",
        "2",
        "B",
        "=",
        "tl.constexpr(A)",
        "@_kb_triton",
        "def",
        "k(x):",
        "return",
        "x",
        "+",
        "B",
    ]
    assert one.refused == ()


def test_modules_are_followed_and_come_before_those_that_need_them(tmp_path: Path) -> None:
    """Through names, aliases and stars."""
    text = "import far as f\nfrom near import *\n@triton.jit\ndef k(x):\n    return f.one(x) + two(x)\n"
    one, two = (
        f"@triton.jit\ndef {name}(x):\n    return x\n@triton.jit\ndef unused(x):\n    return x\n"
        for name in ("one", "two")
    )
    found = taken(tmp_path, text, far=one, near=two)
    assert [one.place.name for one in found.modules][-1] == "main"
    assert {one.place.name for one in found.below("main")} == {"main", "far", "near"}
    assert not any("unused" in one.text for one in found.modules)


def test_what_can_t_be_taken_is_named_with_its_place(tmp_path: Path) -> None:
    """A computed constant, a branch that somebody's call chooses, a loop, a kernel that is not there."""
    text = "A = f()\nif g():\n    B = 1\nfor C in (1,):\n    pass\n@triton.jit\ndef k(x):\n    return x + A + B + C\n"
    (one,) = taken(tmp_path, text).modules
    assert [(each.reason, each.detail.split(":")[:2]) for each in one.refused] == [
        ("constant", ["main.py", "4"]), ("condition", ["main.py", "5"]), ("statement", ["main.py", "7"]),
    ]  # fmt: skip
    (two,) = taken(tmp_path, "def other(): pass\n").modules
    assert [each.reason for each in two.refused] == ["nested"]


def test_modules_in_a_circle_end(tmp_path: Path) -> None:
    """Each is taken once."""
    found = taken(
        tmp_path,
        "from near import a\nB = 1\n@triton.jit\ndef k(x):\n    return x + a\n",
        near="from main import B\na = B\n",
    )
    assert {one.place.name for one in found.modules} == {"main", "near"}
