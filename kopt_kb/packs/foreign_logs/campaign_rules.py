"""A foreign campaign held against the rules of its own kind, and its rounds as a view of what they report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kopt_kb.base.wire import Wire
from kopt_kb.packs.foreign_logs.judge import JudgedClaim
from kopt_kb.packs.foreign_logs.record import ClaimedDecision
from kopt_kb.packs.foreign_logs.tree import ForeignTree
from kopt_kb.wiki.tables import table
from kopt_kb.workspace.audit.findings import AuditFinding

__all__ = ["MANIFEST_KEYS", "ImportedCampaign", "ImportedRound", "broken_rules", "imported_campaigns"]

MANIFEST_KEYS: tuple[str, ...] = (
    "target_op", "target_backend", "target_lang", "target_gpu", "execution_mode", "project_skill", "performance_target",
    "primary_metric", "target_shapes", "kernel_source", "test_command", "benchmark_command", "quick_command",
    "representative_shapes", "git_commit", "git_branch", "max_iterations", "created",
)  # fmt: skip
"""Keys that a campaign's manifest has."""

_ROUND = re.compile(r"rounds/(?P<folder>round-(?P<number>\d{1,4})(?P<more>[^/]*))/")
_TREND = re.compile(r"^\|\s*\W{0,4}(?:round[- ]?|R|v)?(\d{1,4})\b", re.IGNORECASE | re.MULTILINE)
_KEY = re.compile(r"^(\w+)\s*:", re.MULTILINE)
_LIMIT = 120
"""Rounds that a campaign stays below."""


@dataclass(frozen=True, slots=True)
class ImportedRound(Wire):
    """A round as its log reports it; nothing of it was measured here.

    Attributes:
        number: Its number; None where the log gives none.
        decision: What the log says became of it.
        says: Its claim or numbers, as they stand there.
        evidence: Kind of evidence → how far the log shows it.
        where: File and line.
        trust: Always `reported`.
    """

    number: int | None
    decision: ClaimedDecision
    says: str
    evidence: dict[str, str]
    where: str
    trust: Literal["reported"] = "reported"


@dataclass(frozen=True, slots=True)
class ImportedCampaign(Wire):
    """A campaign as far as its facts allow.

    Attributes:
        name: Its folder.
        commit: Revision that was read; empty for files as they lie.
        manifest: What its manifest says, key → text.
        rounds: Its rounds, in order.
        snapshots: Sources that lie beside rounds.
        broken: Rules of its own kind that it breaks.
    """

    name: str
    commit: str
    manifest: dict[str, str]
    rounds: tuple[ImportedRound, ...]
    snapshots: tuple[str, ...]
    broken: tuple[str, ...]

    def text(self) -> str:
        """Return it as Markdown."""
        rows = [
            ("-" if round_.number is None else str(round_.number), round_.decision, round_.says[:80] or "-",
             round_.trust, ", ".join(f"{name} {state}" for name, state in round_.evidence.items()), round_.where)
            for round_ in self.rounds
        ]  # fmt: skip
        lines = [
            f"# {self.name or 'campaign'}",
            "",
            "Read from another's log: every number is reported, none was measured here.",
            "",
        ]
        lines += table(["Round", "Decision", "Says", "Trust", "Evidence", "Place"], rows)
        lines += ["## Rules of its own that it breaks", "", *(f"- {one}" for one in self.broken or ("none",)), ""]
        return "\n".join(lines)


def _campaigns(tree: ForeignTree) -> list[str]:
    """Return the folders that hold a manifest or rounds."""
    found = {name.rpartition("/")[0] for name in tree.names if name.rsplit("/", 1)[-1] == "manifest.yaml"}
    found |= {name[: match.start()].rstrip("/") for name in tree.names if (match := _ROUND.search(name))}
    return sorted(found)


def _below(tree: ForeignTree, folder: str) -> dict[str, str]:
    """Return path inside a campaign → whole name."""
    head = f"{folder}/" if folder else ""
    return {name[len(head) :]: name for name in sorted(tree.names) if name.startswith(head)}


def broken_rules(tree: ForeignTree, claims: Iterable[JudgedClaim]) -> Iterator[AuditFinding]:
    """Yield what campaigns break of their own rules: manifest, names, rounds, trend, snapshots, shapes, transfer."""
    known = list(claims)
    for folder in _campaigns(tree):
        names = _below(tree, folder)
        own = [one for one in known if one.file.startswith(folder)]
        for message, place in _broken(tree, folder, names, own):
            yield AuditFinding("rule", place or folder or ".", 0, message, "the campaign's own rules ask for it")


def _broken(
    tree: ForeignTree, folder: str, names: dict[str, str], claims: list[JudgedClaim]
) -> Iterator[tuple[str, str]]:
    yield from _manifest(tree, folder, names)
    rounds: dict[int, list[str]] = {}
    for path, name in names.items():
        if match := _ROUND.match(path):
            rounds.setdefault(int(match["number"]), []).append(path)
            if match["more"] and path.endswith(("/summary.md", ".md")):
                yield f"the folder {match['folder']} is not named round-<N>", name
    last = max([*rounds, *(one.round for one in claims if one.round is not None)], default=0)
    trend = next(
        (tree.texts.get(name, "") for path, name in names.items() if path.endswith("performance_trend.md")), ""
    )
    rows = {int(number) for number in _TREND.findall(trend)}
    everything = range(1, last + 1)
    checks = {
        "summary": [at for at in everything if not any(one.endswith("/summary.md") for one in rounds.get(at, ()))],
        "row in performance_trend.md": [at for at in everything if at not in rows],
        "kernel snapshot": [
            at for at in everything if not any("/kernel_snapshot/" in one for one in rounds.get(at, ()))
        ],
    }
    for what, lacking in checks.items():
        if lacking:
            yield f"{len(lacking)} of {last} rounds have no {what}: {', '.join(map(str, lacking))}", ""
    yield from _transfer(tree, names, last)
    yield from _shapes(tree, names)


def _manifest(tree: ForeignTree, folder: str, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    if "manifest.yaml" not in names:
        yield "there is no manifest.yaml", ""
        return
    text = tree.texts.get(names["manifest.yaml"], "")
    keys = set(_KEY.findall(text))
    missing = [key for key in MANIFEST_KEYS if key not in keys]
    if missing:
        yield f"the manifest lacks {', '.join(missing)}", names["manifest.yaml"]
    created = re.search(r"^created\s*:\s*(.*)$", text, re.MULTILINE)
    if created and not re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", created[1]):
        yield f"created is {created[1].strip()!r}, not to the minute", names["manifest.yaml"]
    limit = re.search(r"^max_iterations\s*:\s*(\d+)", text, re.MULTILINE)
    if limit and int(limit[1]) >= _LIMIT:
        yield f"max_iterations is {limit[1]}, not below {_LIMIT}", names["manifest.yaml"]
    name = folder.rsplit("/", 1)[-1]
    if not re.fullmatch(r"[a-z0-9]\w*_[a-z]\w*_(?:gfx|sm_)\w+_\d{8}(?:_[0-9a-f]{6})?", name):
        yield f"the campaign {name!r} is not named <op>_<backend>_<gpu>_<date>", ""


def _transfer(tree: ForeignTree, names: dict[str, str], last: int) -> Iterator[tuple[str, str]]:
    lacking = [
        path for path, name in names.items()
        if path.endswith("/summary.md") and "transfer check" not in tree.texts.get(name, "").casefold()
    ]  # fmt: skip
    if lacking:
        what = "summary has" if len(lacking) == 1 else "summaries have"
        yield f"{len(lacking)} {what} no Real-training transfer check: {', '.join(lacking)}", ""
    log = next((tree.texts.get(name, "") for path, name in names.items() if path.endswith("optimize.md")), "")
    if last and "applicability audit" not in log.casefold():
        yield "the report has no Real-training applicability audit", ""


def _shapes(tree: ForeignTree, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    counts = {}
    for path, name in names.items():
        if _ROUND.match(path) and path.endswith(".csv"):
            counts[path] = sum(bool(line.strip()) for line in tree.texts.get(name, "").splitlines()[1:])
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{path} {count}" for path, count in counts.items())
        yield f"rounds were measured on different numbers of shapes: {said}", ""


def imported_campaigns(tree: ForeignTree, claims: Iterable[JudgedClaim]) -> tuple[ImportedCampaign, ...]:
    """Return the campaigns of a log as far as its facts allow; every number keeps the trust `reported`."""
    known = list(claims)
    found = []
    for folder in _campaigns(tree):
        names = _below(tree, folder)
        own = [one for one in known if one.file.startswith(folder)]
        rounds = tuple(
            ImportedRound(
                one.round, one.decision, one.says, {name: aspect.state for name, aspect in one.aspects.items()},
                f"{one.file}:{one.line}",
            )
            for one in sorted(own, key=lambda one: (one.round is None, one.round or 0, one.file, one.line))
        )  # fmt: skip
        text = tree.texts.get(names.get("manifest.yaml", ""), "")
        manifest = dict(re.findall(r"^(\w+)\s*:\s*(.+?)\s*$", text, re.MULTILINE))
        shots = tuple(path for path in names if "/kernel_snapshot/" in path)
        broken = tuple(message for message, _ in _broken(tree, folder, names, own))
        found.append(ImportedCampaign(folder.rsplit("/", 1)[-1], tree.commit, manifest, rounds, shots, broken))
    return tuple(found)
