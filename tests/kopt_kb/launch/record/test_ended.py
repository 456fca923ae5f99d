"""How a program ends: its seconds, its last output, and where its error stands."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

import pytest

from kopt_kb.launch.record.ended import LastOutput, LateError, listening, place_of, within

pytestmark = pytest.mark.core


def test_seconds_end_what_catches_every_exception() -> None:
    """Before they are over; nothing is left that would interrupt what comes next."""

    def careless() -> None:
        while True:
            with suppress(Exception):
                time.sleep(0.01)

    with pytest.raises(LateError, match="not ended after"), within(0.2):
        careless()
    with within(0.0):
        time.sleep(0.01)


def test_the_last_output_is_kept_and_shown_on_one_line() -> None:
    """Megabytes are not; streams may be used as those of a process."""
    with listening() as said:
        for _ in range(100):
            print("x" * 100_000)  # noqa: T201
        print("loading\n\x1b[1mdata", file=sys.stderr)  # noqa: T201
        sys.stdout.buffer.write(b" set\n")
        assert sys.stdout.fileno() == 1
    assert said.shown.startswith("; its last output: …x")
    assert said.shown.endswith("loading ?[1mdata set")
    assert len(said.shown) < 300
    assert LastOutput().shown == ""


def test_an_error_stands_where_a_users_statement_is(tmp_path, monkeypatch) -> None:
    """Not in Python's own library, where it is raised."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text("import json\n\ndef read():\n    return json.loads('{')\n")
    names: dict[str, object] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(ValueError, match="property name") as caught:
        names["read"]()  # type: ignore[operator]
    assert place_of(caught.value) == "mine.py:4"
    assert place_of(ValueError("raised by nobody")) == ""


def test_an_error_inside_a_package_stands_there(tmp_path) -> None:
    """Where no statement outside of packages is to blame; torch and Triton never are."""
    folder = tmp_path / "site-packages"
    for name in ("torch", "other"):
        (folder / name).mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text("def fail():\n    raise ValueError('no')\n")
    (folder / "other" / "__init__.py").write_text("import torch\n\ndef call():\n    torch.fail()\n")
    program = (
        "from kopt_kb.launch.record.ended import place_of\nimport other\n"
        "try:\n    other.call()\nexcept ValueError as error:\n    print(place_of(error.with_traceback("
        "error.__traceback__.tb_next)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(folder)}, cwd=folder, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout == "other/__init__.py:4\n"
