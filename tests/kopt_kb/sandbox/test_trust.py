"""The store of what folders may start."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.sandbox.trust import Grant, TrustStore, store_path

RUN, LAUNCH = Grant("proposer", "python p.py"), Grant("launcher", "srun")


def test_what_is_added_is_there_for_the_next_reader(tmp_path: Path) -> None:
    """By the folder's real path, so that a link to it is the same folder."""
    file, folder, link = tmp_path / "deep" / "trust.json", tmp_path / "w", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    TrustStore(file).add(link, [RUN])
    assert TrustStore(file).missing(folder, [LAUNCH, RUN]) == (LAUNCH,)
    assert TrustStore(file).missing(tmp_path, [RUN]) == (RUN,)
    assert file.stat().st_mode & 0o777 == 0o600
    assert TrustStore(file).remove(folder)
    assert not TrustStore(file).remove(folder)
    assert TrustStore(file).missing(folder, [RUN]) == (RUN,)


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    """A call that finds all allowed leaves the file alone."""
    file = tmp_path / "trust.json"
    TrustStore(file).add(tmp_path, [RUN])
    before = file.stat().st_ino
    TrustStore(file).add(tmp_path, [RUN])
    assert file.stat().st_ino == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"folders": 1}', '{"folders": {"/": [["shell", "x"]]}}', "\xff"])
def test_a_damaged_store_is_refused(text: str, tmp_path: Path) -> None:
    """It allows nothing and says so."""
    file = tmp_path / "trust.json"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        TrustStore(file)
    assert caught.value.error_code == "KB475"


def test_a_store_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """One that others may write to, a link, a pipe."""
    real = tmp_path / "trust.json"
    real.write_text(json.dumps({"folders": {}}))
    real.chmod(0o666)
    link, pipe = tmp_path / "link.json", tmp_path / "pipe.json"
    link.symlink_to(tmp_path / "other.json")
    (tmp_path / "other.json").write_text(json.dumps({"folders": {}}))
    os.mkfifo(pipe)
    for file in (real, link, pipe):
        with pytest.raises(BadInput) as caught:
            TrustStore(file)
        assert caught.value.error_code == "KB475"


def test_the_store_lies_in_the_users_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user's settings are, or where a variable says."""
    monkeypatch.setenv("KOPT_TRUST", "/x/t.json")
    assert store_path() == Path("/x/t.json")
    monkeypatch.delenv("KOPT_TRUST")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    assert store_path() == Path("/c/kopt-kb/trust.json")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert store_path() == Path("/h/.config/kopt-kb/trust.json")
