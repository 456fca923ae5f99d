"""What is said of programs that do what a record can't have: one line, where, and their own last words."""

from __future__ import annotations

import pytest

from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, ScriptRequest

pytestmark = [pytest.mark.torch, pytest.mark.triton]

PROGRAMS = {
    "package": ("import no_such_package_here\n", "no_such_package_here is not installed", "mine.py:1"),
    "file": ("print('loading')\nopen('/no/data.bin')\n", "FileNotFoundError", "mine.py:2"),
    "network": (
        "import socket\nsocket.create_connection(('127.0.0.1', 1), timeout=1)\n", "Error", "mine.py:2",
    ),
    "exits": ("import sys\nprint('no GPU')\nsys.exit(3)\n", "status 3", "mine.py"),
    "quiet": ("print('done')\n", "no kernel is launched", "mine.py"),
    "prints": ("for _ in range(40): print('y' * 100_000)\nraise ValueError('end')\n", "ValueError: end", "mine.py:2"),
}  # fmt: skip


@pytest.fixture(scope="module")
def refusals(answers, tmp_path_factory):
    """Name of the program → what is said of it as a script."""
    requests = []
    for name, (text, _, _) in PROGRAMS.items():
        folder = tmp_path_factory.mktemp(name)
        (folder / "mine.py").write_text(text)
        requests.append(MakerRequest(ScriptRequest(("mine.py",), str(folder)), "sm_90", "Test", {}, str(folder)))
    return dict(zip(PROGRAMS, (one.refusal for one in answers(requests)), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_launches_nothing_says_why(refusals, name) -> None:
    """One line with what happened and where; the end of its own output behind it."""
    _, what, where = PROGRAMS[name]
    refusal = refusals[name]
    line = f"{refusal.where}: {refusal.what}"
    assert "\n" not in line
    assert what in line
    assert where in line
    words = {"file": "loading", "exits": "no GPU", "quiet": "done"}.get(name)
    assert words is None or refusal.what.endswith(f"its last output: {words}")
    assert len(line) < 700


def test_a_file_without_launch_names_the_functions_that_launch(answers, tmp_path) -> None:
    """Two launchers and no way to know which: both are offered."""
    (tmp_path / "two.py").write_text(
        "def _kernel(): ...\ndef add(x):\n    _kernel[(1,)](x)\ndef sub(x):\n    _kernel[(2,)](x)\ndef other(): ...\n"
    )
    (said,) = answers([MakerRequest(OpRequest(str(tmp_path / "two.py"), (4,), "fp32"), "sm_90", "Test", {}, "")])
    assert "no launch()" in said.refusal.what
    assert "--call FILE:add or FILE:sub" in said.refusal.fix


def test_a_call_that_exits_says_where(answers, tmp_path) -> None:
    """With its status."""
    (tmp_path / "e.py").write_text("import sys\nrun = 1\ndef f(n):\n    print('bye')\n    sys.exit(n)\n")
    call = CallRequest(f"{tmp_path / 'e.py'}:f", {"n": 4})
    (said,) = answers([MakerRequest(call, "sm_90", "Test", {}, "")])
    assert said.refusal.what == "the program ended with status 4; its last output: bye"
    assert said.refusal.where.endswith("e.py:5")
