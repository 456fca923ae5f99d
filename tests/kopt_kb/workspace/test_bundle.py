"""Claims about bundles: the same campaign gives the same bytes, and the statement names every one of them."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import parse, read
from kopt_kb.workspace.bundle import PREDICATE, STATEMENT, Statement, bundle
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.workspace import Workspace

CAMPAIGNS = Path(__file__).parents[3] / "benchmarks/campaigns/h200_sxm"


def _bundled(name: str, output: Path) -> Statement:
    workspace = Workspace.open(CAMPAIGNS / name)
    state = workspace.state()
    return bundle(workspace.layout, state, registry_of(state).platform(state.created.platform), output)


@pytest.mark.parametrize("name", ["gemm", "rms_norm", "rms_norm_2", "softmax", "softmax_2"])
def test_the_statement_names_every_file_and_what_the_campaign_came_to(name: str, tmp_path: Path) -> None:
    """Hashes of all members, the journal's head, every decision with its trust, every value with its document."""
    said = _bundled(name, tmp_path / "one.kbb")
    with tarfile.open(tmp_path / "one.kbb") as archive:
        members = archive.getmembers()
        assert members[0].name == STATEMENT
        assert all(one.isreg() and (one.uid, one.mtime) == (0, 0) for one in members)
        held = {one.name: (archive.extractfile(one) or io.BytesIO()).read() for one in members}
    document = parse(held.pop(STATEMENT), where="statement")
    assert isinstance(document, dict)
    assert (document["_type"], document["predicateType"]) == ("https://in-toto.io/Statement/v1", PREDICATE)
    assert read(Statement, document) == said
    assert {one.name: one.digest["sha256"] for one in said.subject} == {
        path: hashlib.sha256(data).hexdigest() for path, data in held.items()
    }
    workspace = Workspace.open(CAMPAIGNS / name)
    state = workspace.state()
    assert said.predicate.head == {"seq": state.seq, "zh": state.head}
    assert {f"objects/{one}" for one in ObjectStore(workspace.layout.objects).names()} <= held.keys()
    assert len(said.predicate.decisions) == sum(one.decided is not None for one in state.attempts.values())
    assert {one.trust for one in said.predicate.decisions} == {"unstated"}  # recorded before there were levels
    assert len(said.predicate.citations) == len(state.specs)
    assert all(one.page in held for one in said.predicate.citations)
    assert any(document["url"] for one in said.predicate.citations for document in one.documents)


def test_the_same_campaign_gives_the_same_bytes(tmp_path: Path) -> None:
    """Whenever and wherever it is made; nothing is overwritten."""
    for name in ("one", "two"):
        _bundled("gemm", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with pytest.raises(BadInput, match="exists already"):
        _bundled("gemm", tmp_path / "one")
    with pytest.raises(BadInput, match="can't be written"):
        _bundled("gemm", tmp_path / "no" / "such" / "folder")
