"""Claims about the audit of bundles: a whole one is clean anywhere, and whatever is changed in one is named."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError
from kopt_kb.wiki.places import packaged_root
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.audit.bundled import bundle_findings, is_bundle, statement_in
from kopt_kb.workspace.bundle import STATEMENT, bundle
from kopt_kb.workspace.retarget import registry_of
from kopt_kb.workspace.workspace import Workspace

CAMPAIGN = Path(__file__).parents[4] / "benchmarks/campaigns/h200_sxm/softmax_2"

Members = dict[str, bytes]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A bundle of a recorded campaign."""
    workspace = Workspace.open(CAMPAIGN)
    state = workspace.state()
    bundle(workspace.layout, state, registry_of(state).platform(state.created.platform), tmp_path / "whole.kbb")
    return tmp_path / "whole.kbb"


def _members(path: Path) -> Members:
    with tarfile.open(path) as archive:
        return {one.name: (archive.extractfile(one) or io.BytesIO()).read() for one in archive.getmembers()}


def _packed(members: Members, path: Path, extra: tarfile.TarInfo | None = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            one = tarfile.TarInfo(name)
            one.size = len(data)
            archive.addfile(one, io.BytesIO(data))
        if extra is not None:
            archive.addfile(extra)
    return path


def _resealed(members: Members) -> Members:
    """Return the members with a statement that names them as they are."""
    import hashlib

    document = json.loads(members[STATEMENT])
    document["subject"] = [
        {"name": name, "digest": {"sha256": hashlib.sha256(data).hexdigest()}}
        for name, data in sorted(members.items()) if name != STATEMENT
    ]  # fmt: skip
    return {**members, STATEMENT: json.dumps(document).encode()}


def test_a_whole_bundle_is_clean_where_nothing_else_is(
    whole: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its own pages are its wiki; every registered value is read again."""
    monkeypatch.chdir(tmp_path)
    report = audit(whole)
    assert report.clean and report.checked > 20
    assert not [one for one in report.notes if one.file == "README.md"]


def _cut_journal(members: Members) -> Members:
    *lines, _ = members["journal.jsonl"].splitlines(keepends=True)
    return _resealed({**members, "journal.jsonl": b"".join(lines)})


def _edited_page(members: Members) -> Members:
    page = "wiki/hardware/nvidia/h200_sxm.md"
    return _resealed(
        {**members, page: members[page].replace(b"| memory_bandwidth | 4.8 ", b"| memory_bandwidth | 9.8 ")}
    )


def _other_trust(members: Members) -> Members:
    return {**members, STATEMENT: members[STATEMENT].replace(b'"trust":"unstated"', b'"trust":"replayed"', 1)}


def _other_value(members: Members) -> Members:
    document = json.loads(members[STATEMENT])
    document["predicate"]["citations"][0]["value"] = "1"
    return {**members, STATEMENT: json.dumps(document).encode()}


def _without_blob(members: Members) -> Members:
    lost = next(name for name in members if name.startswith("objects/"))
    return _resealed({name: data for name, data in members.items() if name != lost})


def _swapped_blob(members: Members) -> Members:
    name = next(name for name in members if name.startswith("objects/"))
    return _resealed({**members, name: b"other"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_cut_journal, "the statement's head is not what the journal says"),
        (_edited_page, "memory_bandwidth"),
        (_other_trust, "the statement's decisions is not what the journal says"),
        (_other_value, "the statement's citations is not what the journal says"),
        (_without_blob, "is missing"),
        (_swapped_blob, "do not have the hash in its name"),
        (lambda members: {**members, "journal.jsonl": members["journal.jsonl"] + b" "}, "the file is changed"),
        (lambda members: {**members, "objects/" + "0" * 64: b""}, "the file is not in the statement"),
        (lambda members: {name: data for name, data in members.items() if "targets/" not in name}, "the file is missing"),
        (lambda members: {**members, "../outside": b""}, "no file of a campaign"),
        (lambda members: {**members, "/etc/outside": b""}, "no file of a campaign"),
        (lambda members: {**members, "wiki/hardware/nvidia/../../x.md": b""}, "no file of a campaign"),
        (lambda members: {**members, "kernel.py": b""}, "no file of a campaign"),
        (lambda members: {name: data for name, data in members.items() if name != STATEMENT}, "the bundle lacks it"),
        (lambda members: {**members, STATEMENT: b"{}"}, "is missing"),
        (lambda members: {**members, STATEMENT: b"[" * 100_000}, "nested too deeply"),
    ],
)  # fmt: skip
def test_whatever_is_changed_is_named(
    change: Callable[[Members], Members], words: str, whole: Path, tmp_path: Path
) -> None:
    """A forger who seals the files again is found by what they say."""
    report = audit(_packed(change(_members(whole)), tmp_path / "forged.kbb"))
    assert not report.clean
    assert words in " ".join(one.message for one in report.findings)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_no_member_but_a_regular_file_is_written(kind: bytes, whole: Path, tmp_path: Path) -> None:
    """Links, pipes, devices and folders."""
    extra = tarfile.TarInfo("journal.jsonl")
    extra.type, extra.linkname = kind, "/etc/passwd"
    (one,) = audit(_packed(_members(whole), tmp_path / "odd.kbb", extra)).findings
    assert (one.code, one.message) == ("bundle", "the bundle holds what is no file of a campaign")


def test_a_file_twice_and_a_cut_file(whole: Path, tmp_path: Path) -> None:
    """The second would win in other readers; a cut one can't be read to the end of its last file."""
    twice = tarfile.TarInfo("journal.jsonl")
    (one,) = audit(_packed(_members(whole), tmp_path / "twice.kbb", twice)).findings
    assert "a file twice" in one.message
    data = whole.read_bytes()
    for end in range(3, len(data) - 200, len(data) // 23):
        cut = tmp_path / "cut.kbb"
        cut.write_bytes(data[:end])
        assert [one.code for one in audit(cut).findings] == ["bundle"]
    cut.write_bytes(gzip.compress(b"x" * 5000))
    assert [one.code for one in audit(cut).findings] == ["bundle"]


def _other_wiki(root: Path, row: str, old: str, new: str) -> Registry:
    """Return the packaged wiki with one row of a page changed."""
    shutil.copytree(packaged_root(), root)
    page = root / "hardware/nvidia/h200_sxm.md"
    lines = page.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"| {row} |"))
    lines[at] = lines[at].replace(old, new)
    page.write_text("\n".join(lines) + "\n")
    return Registry.open(root, use_cache=False)


def test_a_row_that_targets_rest_on_and_this_machine_says_otherwise_is_a_finding(whole: Path, tmp_path: Path) -> None:
    """The bundle stands on its own pages: whoever made it wrote them."""
    here = _other_wiki(tmp_path / "wiki", "memory_bandwidth", "4.8", "4.7")
    (one,) = [one for one in audit(whole, here).findings if one.code == "foreign-row"]
    assert "memory_bandwidth is 4.8 TB/s" in one.message and "4.7 TB/s" in one.message


def test_a_product_that_only_a_bundle_has_is_a_finding(whole: Path, wiki_root: Path) -> None:
    """This machine's wiki does not know it."""
    findings = audit(whole, Registry.open(wiki_root)).findings
    assert "foreign-row" in {one.code for one in findings}


def test_another_row_of_this_machine_is_a_note(whole: Path, tmp_path: Path) -> None:
    """No target rests on it; what this machine says otherwise is told."""
    here = _other_wiki(tmp_path / "wiki", "sm_count", "132", "131")
    found = bundle_findings(whole, here)
    (one,) = [one for one in found.all if one.code == "this-wiki"]
    assert "sm_count is 132" in one.message and "131" in one.message
    assert audit(whole, here).clean


def test_anchors(whole: Path, tmp_path: Path) -> None:
    """A journal has to go on from where a bundle ended; one that was rewritten or cut does not."""
    statement = tmp_path / "statement.json"
    statement.write_bytes(_members(whole)[STATEMENT])
    assert statement_in(whole) == statement_in(statement)
    for anchor in (whole, statement):
        assert audit(CAMPAIGN, anchor=anchor).clean
        assert audit(whole, anchor=anchor).clean
    shutil.copytree(CAMPAIGN, tmp_path / "w")
    journal = tmp_path / "w" / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))
    assert "anchor" in {one.code for one in audit(tmp_path / "w", anchor=whole).findings}
    other = Path(CAMPAIGN).parent / "gemm"
    assert [one.code for one in audit(other, anchor=statement).findings] == ["anchor"]
    for wrong in (journal, tmp_path, tmp_path / "none"):
        with pytest.raises(BadInput, match="is no anchor"):
            audit(CAMPAIGN, anchor=wrong)


def test_what_is_no_bundle(tmp_path: Path) -> None:
    """A folder, a text, nothing; a gzipped text is one that can't be read."""
    (tmp_path / "text").write_text("x")
    assert not any(is_bundle(one) for one in (tmp_path, tmp_path / "text", tmp_path / "none"))
    (tmp_path / "gz").write_bytes(gzip.compress(b"text"))
    assert is_bundle(tmp_path / "gz")
    with pytest.raises(WireError):
        statement_in(tmp_path / "gz")
