"""The audit of a log that other programs or people kept: every claim of a round or a speed-up, and what it lacks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.packs.foreign_logs.campaign_rules import ImportedCampaign, broken_rules, imported_campaigns
from kopt_kb.packs.foreign_logs.contradictions import contradictions
from kopt_kb.packs.foreign_logs.documents import json_records, jsonl_records
from kopt_kb.packs.foreign_logs.judge import ASPECTS, Aspect, JudgedClaim, Surroundings, is_source, judged
from kopt_kb.packs.foreign_logs.prose import commit_records, prose_records
from kopt_kb.packs.foreign_logs.record import ForeignRecord, campaign_of, round_in_path
from kopt_kb.packs.foreign_logs.roofs import above_roofs, products_of
from kopt_kb.packs.foreign_logs.tables import LogTable, markdown_tables, records_of, separated
from kopt_kb.packs.foreign_logs.tree import COMMIT, ForeignTree, Unread, folders, open_tree
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.audit.findings import AuditFinding

__all__ = ["FOREIGN_CODES", "ForeignReport", "audit_foreign"]

FOREIGN_CODES: dict[str, str] = {
    "unproven": "a claim lacks evidence of one kind or several",
    "arithmetic": "a speed-up is not the quotient of the times beside it",
    "above-peak": "a share of a peak is above 100 %",
    "above-roof": "a speed is above the documented roof of the product",
    "accepted-wrong": "an accepted version failed its check",
    "zero-spread": "a column of spreads is 0 throughout",
    "aggregate": "a geometric mean is not that of its table",
    "trend-missing": "a round has a result and no row in the table of rounds",
    "round-missing": "a row of the table of rounds has no notes",
    "rounds-unaccounted": "numbers of rounds are skipped",
    "two-numbers": "one metric of one round has two values",
    "mixed-rounds": "one number is of several rounds, so rounds can't be held against each other",
    "scope-changed": "rounds were judged on different cases",
    "broken-chain": "a step does not begin where the one before ended",
    "product": "the steps do not multiply to the total",
    "rule": "a campaign breaks a rule of its own kind",
    "unread": "a note: a place that was not understood",
    "no-roof": "a note: speeds were compared with no roof",
}
"""Code of a finding or note → what it means."""
_ORDER = tuple(FOREIGN_CODES)
_SPEED = re.compile(r"speed-?up|tflops|\blatency\b|geomean|\bround\b", re.IGNORECASE)
_TARGET = re.compile(r"\s*(?:performance_)?(?:target|goal)\s*[:=]\s*(?!null|none|~|$)(?P<value>.*\d.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ForeignReport(Wire):
    """What an audit of a foreign log found.

    Attributes:
        commit: The revision that was read; None for files as they lie.
        platforms: Products that the log names, or the one that was given.
        forms: Form → number of claims in it.
        evidence: Kind of evidence → state → number of claims.
        claims: Every claim, in the order of files and lines.
        unread: What was not understood.
        checked: Number of claims.
        campaigns: As far as their facts allow; None where nobody asked.
    """

    WIRE: ClassVar = (
        "path",
        "clean",
        "findings",
        "notes",
        "checked",
        "commit",
        "platforms",
        "forms",
        "evidence",
        "claims",
        "unread",
        "campaigns?",
    )
    path: str
    findings: tuple[AuditFinding, ...]
    notes: tuple[AuditFinding, ...]
    commit: str | None
    platforms: tuple[str, ...]
    forms: dict[str, int]
    evidence: dict[str, dict[str, int]]
    claims: tuple[JudgedClaim, ...]
    unread: tuple[AuditFinding, ...]
    campaigns: tuple[ImportedCampaign, ...] | None = None

    @property
    def clean(self) -> bool:
        """Whether every claim is proven and none contradicts another."""
        return not self.findings

    @property
    def checked(self) -> int:
        """Number of claims."""
        return len(self.claims)


def audit_foreign(
    path: str | Path,
    registry: Registry,
    *,
    rev: str | None = None,
    under: str = "",
    commits: str | None = None,
    platform: str | None = None,
    rules: bool = False,
) -> ForeignReport:
    """Return every claim of a round or a speed-up in a log, what it lacks, and what contradicts what.

    Args:
        path: A folder, a file, or a git repository.
        registry: The wiki whose documented roofs speeds are held against.
        rev: Read this revision of the repository.
        under: Only this folder of it.
        commits: A range of commits whose messages are read too.
        platform: The product that was measured; None: the ones that the log names.
        rules: Whether campaigns are held against the rules of their own kind, and returned as views.

    Raises:
        BadInput: There is nothing to read, or nothing in it claims a round or a speed-up.
    """
    tree = open_tree(Path(path), rev=rev, under=under, commits=commits)
    records, tables = _read(tree)
    claims = [one for one in records if not one.of_round]
    if not claims:
        raise _nothing(tree, str(path))
    names = (platform,) if platform else tuple(sorted(products_of(tree, registry)))
    parts = [registry.platform(name) for name in names]
    found = list(dict.fromkeys(_found(records, tables, parts)))
    found_claims = tuple(_judged(tree, claims, records))
    findings = [*_unproven(found_claims), *found, *(broken_rules(tree, found_claims) if rules else ())]
    findings.sort(key=lambda one: (_ORDER.index(one.code), one.file, one.line))
    unread = tuple(AuditFinding("unread", one.file, one.line, one.reason, "read it yourself") for one in tree.unread)
    notes = () if parts else (_no_roof(str(path)),)
    return ForeignReport(
        str(path), tuple(findings), notes, tree.commit or None, tuple(one.id for one in parts),
        dict(Counter(one.form for one in found_claims)), _counts(found_claims), found_claims, unread,
        imported_campaigns(tree, found_claims) if rules else None,
    )  # fmt: skip


def _no_roof(path: str) -> AuditFinding:
    return AuditFinding(
        "no-roof", path, 0, "the log names no single product", "--platform NAME holds its speeds against roofs"
    )


def _nothing(tree: ForeignTree, path: str) -> BadInput:
    what = f"is neither a workspace, a bundle, nor a log of rounds or speed-ups ({len(tree.texts)} texts read)"
    more = f"; {tree.unread[0].file}: {tree.unread[0].reason}" if tree.unread else ""
    return BadInput(
        what + more, where=path, fix="name a workspace, a file of kb tune bundle, or a folder of logs", code="KB116"
    )


def _read(tree: ForeignTree) -> tuple[list[ForeignRecord], list[LogTable]]:
    """Return the records and tables of all texts; what is not understood is added to the tree's list."""
    records: list[ForeignRecord] = []
    tables: list[LogTable] = []
    for file, text in sorted(tree.texts.items()):
        before = len(records), len(tree.unread)
        for one in _parsed(file, text):
            if isinstance(one, Unread):
                tree.unread.append(one)
            elif isinstance(one, LogTable):
                tables.append(one)
                records.extend(records_of(one))
            else:
                records.append(one)
        if (len(records), len(tree.unread)) == before and not file.startswith(COMMIT) and _SPEED.search(text[:20_000]):
            tree.unread.append(Unread(file, 0, "speaks of speed, and no claim was understood in it"))
    records.sort(key=lambda one: (one.file, one.line))
    return records, tables


def _parsed(file: str, text: str) -> Iterator[ForeignRecord | LogTable | Unread]:
    suffix = Path(file).suffix.casefold()
    if file.startswith(COMMIT):
        yield from commit_records(file, text)
    elif suffix in {".csv", ".tsv"}:
        yield from separated(file, text, "tsv" if suffix == ".tsv" else "csv")
    elif suffix == ".json":
        yield from json_records(file, text)
    elif suffix in {".jsonl", ".ndjson"}:
        yield from jsonl_records(file, text)
    elif suffix in {".md", ".mdc", ".markdown"}:
        yield from markdown_tables(file, text)
        yield from prose_records(file, text)
    elif suffix in {".txt", ".log"}:
        yield from prose_records(file, text)


def _found(records: list[ForeignRecord], tables: list[LogTable], parts: Iterable[Platform]) -> Iterator[AuditFinding]:
    yield from contradictions(records, tables)
    yield from above_roofs(records, parts)


def _judged(
    tree: ForeignTree, claims: Iterable[ForeignRecord], records: Iterable[ForeignRecord]
) -> Iterator[JudgedClaim]:
    details: dict[tuple[str, int], list[ForeignRecord]] = {}
    for one in records:
        if one.of_round and one.round is not None:
            details.setdefault((campaign_of(one.file), one.round), []).append(one)
    targets = _targets(tree)
    below = folders(tree.names)
    for record in claims:
        campaign = campaign_of(record.file)
        own = round_in_path(record.file) == record.round and record.round is not None
        detail = tuple(details.get((campaign, record.round), ())) if own and record.round is not None else ()
        yield judged(record, Surroundings(tree, detail, _beside(record, below) if own else (), targets.get(campaign)))


def _beside(record: ForeignRecord, below: dict[str, list[str]] | object) -> tuple[str, ...]:
    """Return the sources that lie in the folder of a record's own round."""
    folder = record.file.rsplit("/", 1)[0] if "/" in record.file else ""
    if round_in_path(folder) is None or not isinstance(below, dict):
        return ()
    while "/" in folder and round_in_path(folder.rsplit("/", 1)[1]) is None:
        folder = folder.rsplit("/", 1)[0]
    return tuple(one for one in sorted(below.get(folder, ())) if is_source(one))[:1]


def _targets(tree: ForeignTree) -> dict[str, Aspect]:
    """Return campaign → the target that its manifest declares."""
    found: dict[str, Aspect] = {}
    for file, text in sorted(tree.texts.items()):
        if Path(file).suffix.casefold() in {".yaml", ".yml"}:
            for number, line in enumerate(text.split("\n"), 1):
                if (said := _TARGET.match(line)) is not None:
                    found.setdefault(campaign_of(file), Aspect("partial", said["value"][:90], f"{file}:{number}"))
    return found


def _unproven(claims: Iterable[JudgedClaim]) -> Iterator[AuditFinding]:
    for claim in claims:
        lacks = [f"{name} {aspect.state}" for name, aspect in claim.aspects.items() if aspect.state != "present"]
        if lacks:
            what = f"{claim.label} ({claim.decision}): {', '.join(lacks)}"
            yield AuditFinding(
                "unproven",
                claim.file,
                claim.line,
                what,
                "add what is missing beside the claim, or measure it again with kb tune",
            )


def _counts(claims: Iterable[JudgedClaim]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {name: Counter() for name in ASPECTS}
    for one in claims:
        for name, aspect in one.aspects.items():
            found[name][aspect.state] += 1
    return {
        name: {state: each[state] for state in ("present", "partial", "missing", "failed")}
        for name, each in found.items()
    }
