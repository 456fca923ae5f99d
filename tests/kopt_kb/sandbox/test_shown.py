"""Claims about what a child may read: what it needs, and of a user's own only what it is about."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import pytest

from kopt_kb.sandbox import shown


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this user's, with keys, a project, and a kernel beside them."""
    for name in (".ssh", "project", "package"):
        (tmp_path / name).mkdir()
    for name in (".ssh/key", "secret.txt", "kernel.py", "helper.py", "project/kernel.py", "package/__init__.py"):
        (tmp_path / name).touch()
    monkeypatch.setattr(shown, "_homes", lambda: (str(tmp_path.resolve()),))
    return tmp_path.resolve()


def test_a_file_brings_its_folder(home: Path) -> None:
    """Whatever it is called by."""
    (home / "link.py").symlink_to(home / "project" / "kernel.py")
    assert shown.files_of(home / "project" / "kernel.py")[0] == str(home / "project")
    assert shown.files_of(home / "link.py") == (str(home / "project"), str(home / "link.py"))


def test_a_file_in_a_home_brings_sources_alone(home: Path) -> None:
    """No keys, no other text, and no folder that is no package."""
    found = {Path(one).name for one in shown.files_of(home / "kernel.py")}
    assert found == {"kernel.py", "helper.py", "package"}


def test_variables_name_places_and_no_home(home: Path) -> None:
    """Alone or in a list; the home, what holds it and words that are no path are left out."""
    said = {
        "PATH": f"{home}:{home}/bin:/usr/bin:relative",
        "CUDA_HOME": "/usr/local/cuda",
        "TERM": "x/y",
        "UP": str(home.parent),
    }
    assert shown.named_by(said) == (f"{home}/bin", "/usr/bin", "/usr/local/cuda")


def test_packages_hold_the_interpreter_and_no_home() -> None:
    """The standard library, site-packages and this package's data; never a user's home or a folder that holds it."""
    places = shown.packages()
    assert any(os.__file__.startswith(f"{one}/") for one in places) and sys.prefix in places
    assert all(any(Path(one).resolve().is_relative_to(Path(each).resolve()) for each in places) for one in (
        shown.__file__, pytest.__file__, str(Path(shown.__file__).parents[1] / "analysis" / "__init__.py"),
    ))  # fmt: skip
    home = Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    assert not any(home.is_relative_to(Path(one).resolve()) for one in places)


def test_nothing_of_a_user_is_on_the_list_of_every_machine() -> None:
    """No password, key, log or mail of the system either."""
    for secret in ("/etc/shadow", "/etc/ssh", "/etc/sudoers", "/etc/ssl/private", "/var/log", "/home", "/root", "/run"):
        assert not any(secret == one or (one.startswith(f"{secret}/") and "run/" not in one) for one in shown.SYSTEM)
        assert not any(secret.startswith(f"{one}/") for one in shown.SYSTEM)
