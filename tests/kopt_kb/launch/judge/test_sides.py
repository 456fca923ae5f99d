"""What a word of two revisions names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.judge.sides import sides


@pytest.mark.parametrize(
    ("name", "kind"), [("kernel.py", "file"), ("kernel.cu", "file"), ("table.json", "table"), ("table.csv", "table")]
)
def test_files_by_their_names(name: str, kind: str, tmp_path: Path) -> None:
    """Tables by their suffix; both sides are of one kind."""
    file = tmp_path / name
    file.write_text("")
    with sides(str(file), str(file)) as both:
        assert [one.kind for one in both] == [kind, kind]
    with pytest.raises(BadInput, match="is a folder"), sides(str(tmp_path), str(file)):
        pass


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is no file is named, whether or not it would be a branch elsewhere."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="no file, folder, interpreter or git revision"), sides("main", "main"):
        pass
