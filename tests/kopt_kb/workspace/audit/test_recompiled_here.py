"""Code that is really made again by the audit: a real maker, this machine's compiler, no GPU, no answer told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.record.source import CodeSource
from kopt_kb.workspace.audit import recompiled
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.round_events import RecordBound
from kopt_kb.workspace.state import WorkspaceState
from tests.kopt_kb.launch.recompile.conftest import recorded
from tests.kopt_kb.launch.recompile.sources import HONEST

pytestmark = [pytest.mark.torch, pytest.mark.triton]


def test_the_recorded_source_alone_gives_the_recorded_code(
    makers: Makers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A journal that calls the code bound is consistent with the first source, and contradicted by the second."""
    made = recorded(makers, tmp_path / "made", HONEST["constants"])
    assert made.record is not None, made.error
    (tmp_path / "objects").mkdir()
    store = ObjectStore(tmp_path / "objects")
    record = store.put((made.folder / "record.json").read_bytes())
    (code,) = (store.put(one.read_bytes()) for one in (made.folder / "objects").iterdir())
    timing = SimpleNamespace(basis=SimpleNamespace(records={"candidate 1000": record}))
    monkeypatch.setattr(recompiled, "last_timing", lambda *_: timing)
    found = {}
    for constant in ("4.0", "8.0"):
        source = store.put(HONEST["constants"].replace("BASE = 4.0", f"BASE = {constant}").encode())
        best = SimpleNamespace(name="v1", snapshot=SimpleNamespace(blob=source))
        claim = RecordBound(code, "r", "triton k", CodeSource("bound", None), {}, {}, made.record.versions)
        state = SimpleNamespace(best=best, task=SimpleNamespace(project=None), bound={code: claim})
        found[constant] = recompiled.made_again((), cast(WorkspaceState, state), store)
    assert found["4.0"].holds, found["4.0"]
    (problem,) = found["8.0"].problems
    assert "is said to come from its source; made again here it is unbound, differs" in problem
