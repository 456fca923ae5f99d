"""Reports in profiles/ are the journal's blobs, byte for byte, under plain names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.setup_events import ProfileRead
from kopt_kb.workspace.views.files import ViewError
from kopt_kb.workspace.views.profiles import edited_reports, named_reports, write_reports


@dataclass(frozen=True)
class Attempt:
    """A round with profiles."""

    profiles: tuple[ProfileRead, ...]


@dataclass(frozen=True)
class Told:
    """A state of such rounds."""

    rounds: tuple[Attempt, ...]


def told(*named: tuple[str, str]) -> Any:
    """A state whose only round has reports of these names and blobs."""
    return Told((Attempt(tuple(ProfileRead(sha, "ncu", None, "x", (), name) for name, sha in named)),))


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    """An empty store."""
    (tmp_path / "objects").mkdir()
    return ObjectStore(tmp_path / "objects")


@pytest.mark.parametrize("name", ["", "..", "../x.csv", "/tmp/x", "a/b.csv", ".hidden", "a\nb", "x" * 200])
def test_other_names_are_no_files(name: str) -> None:
    """A journal that somebody else wrote leads nowhere else; earlier journals have no names."""
    assert named_reports(told((name, "ab" * 32))) == {}


def test_the_later_report_of_a_name_stands(tmp_path: Path, store: ObjectStore) -> None:
    """Written once; then nothing changes."""
    first, second = store.put(b"first"), store.put(b"second")
    state = told(("v1_2x4.csv", first), ("v1_2x4.csv", second))
    assert [one.changed for one in write_reports(tmp_path, state, store).values()] == [True]
    assert (tmp_path / "profiles" / "v1_2x4.csv").read_bytes() == b"second"
    assert [one.changed for one in write_reports(tmp_path, state, store).values()] == [False]
    assert list(edited_reports(tmp_path, state, store)) == []


def test_nothing_is_written_through_a_link(tmp_path: Path, store: ObjectStore) -> None:
    """Neither as the folder nor as the file."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "profiles").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="link"):
        write_reports(tmp_path, told(("v1_2x4.csv", store.put(b"x"))), store)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (tmp_path / "profiles").unlink()
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "v1_2x4.csv").symlink_to(tmp_path / "victim")
    state = told(("v1_2x4.csv", store.put(b"x")))
    with pytest.raises(ViewError):
        write_reports(tmp_path, state, store)
    assert [path for path, _ in edited_reports(tmp_path, state, store)] == ["profiles/v1_2x4.csv"]
    assert not (tmp_path / "victim").exists()
