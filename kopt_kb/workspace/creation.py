"""Makes a workspace: values from the wiki, targets, the first events and the README, all or nothing."""

from __future__ import annotations

import hashlib
import platform as host
from collections.abc import Mapping
from pathlib import Path

from kopt_kb.analysis.roofline.roofline import Roofline
from kopt_kb.analysis.roofline.targets import TARGET_FACTOR, parse_performance_target
from kopt_kb.base.errors import BadInput
from kopt_kb.base.installed import version_of
from kopt_kb.launch.kernel.declared import kernel_name
from kopt_kb.launch.kernel.op_options import pinned
from kopt_kb.wiki.registry import Platform, Registry
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.gitview import commit_event, ensure_repository
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import Journal
from kopt_kb.workspace.journal.setup_events import NoteAdded, WikiState, WorkspaceCreated
from kopt_kb.workspace.kernel_test import KERNEL_TEST, TEST_KERNEL
from kopt_kb.workspace.layout import Layout, create_workspace
from kopt_kb.workspace.registration import TimeBounds, rooflines, specs_registered, target_set, unknown_needs
from kopt_kb.workspace.route import RecordedProject, RecordedTask, Route, choose_route
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.views.readme import new_free_text, new_readme
from kopt_kb.workspace.views.words import EDITION, unknown_words

__all__ = ["GITIGNORE", "create"]

GITIGNORE = "__pycache__/\n*.pyc\n.*.partial/\n.kb-tmp-*\nsandbox/\n"


def create(parent: Path, name: str, task: Task, registry: Registry) -> Layout:
    """Create `kernel_opt_<name>` below `parent`; it appears complete or not at all.

    Raises:
        UnknownData: An input of a target is UNKNOWN and the task does not allow it.
        LayoutError: Something has that name already.
        WikiFaults: A row it needs does not load.
    """
    product = registry.platform(task.platform)
    _check_arch(product, task.arch)
    demo = task.demo()
    if task.project is None:
        demo = pinned(demo, task.problem.op, dict(task.problem.options))
    route = choose_route(task.route, task.kernel_demo, demo, task.framework, has_reference=bool(task.reference))
    if route == "pytorch" and not demo:
        demo = task.reference
    aim = parse_performance_target(task.aim) or TARGET_FACTOR
    found = rooflines(task.problem, product, min_grade=task.min_grade, aim=aim)
    missing = unknown_needs(found)
    if missing and not task.allow_unknown:
        raise missing[0].error()

    _check_placeholders(product, found, task.placeholders)

    def build(layout: Layout) -> None:
        _fill(layout, name, task, route, product, demo, found)

    return create_workspace(parent, name, build)


def _check_placeholders(product: Platform, found: list[Roofline], given: Mapping[str, str]) -> None:
    """Refuse a stand-in for a value that the wiki has, and for one that nothing here needs: neither would be kept."""
    registered = specs_registered(product, found, {})
    known = {row.key: row for row in registered.rows}
    for key in given.keys() - {row.key for row in registered.unknown}:
        row = known.get(key)
        if row is not None:
            value, where = f"{row.value} {row.unit}".strip(), f"{row.citation.path}:L{row.citation.line}"
            what, fix = f"{key} is known: {value}", "leave it out"
        else:
            keys = ", ".join(one.key for one in registered.unknown) or "none"
            what, where, fix = f"{key} is no UNKNOWN value that this workspace needs", "--placeholder", f"those: {keys}"
        raise BadInput(what, where=where, fix=fix, code="KB103")


def _check_arch(product: Platform, arch: str) -> None:
    if arch and arch.casefold() not in {product.identity.arch.casefold(), product.identity.target.casefold()}:
        raise BadInput(
            f"--arch {arch} is not the architecture of {product.id}",
            where=product.identity.path,
            fix=f"it is {product.identity.arch} ({product.identity.target}); leave --arch out",
            code="KB103",
        )


def _wiki_state(product: Platform) -> WikiState:
    paths = dict.fromkeys((product.identity.path, *(row.path for row in product.sheet.rows)))
    pages = {path: hashlib.sha256(product.wiki.read(path) or b"").hexdigest() for path in paths}
    return WikiState(product.wiki.label, pages)


def _created(
    name: str, task: Task, route: Route, product: Platform, blobs: tuple[str | None, str | None], project: str
) -> WorkspaceCreated:
    """Return the first event; of which kernel and test: their blobs."""
    kernel, test = blobs
    own = task.project
    recorded = RecordedTask(
        framework=task.framework,
        arch=product.identity.arch,
        target=product.identity.target,
        vendor=product.identity.vendor,
        kernel_demo=task.kernel_demo.name if task.kernel_demo is not None else "",
        reference_project=task.reference_project,
        route=route,
        project=RecordedProject(str(own.file), str(own.root), project, own.compares) if own is not None else None,
    )
    problem = {**task.problem.to_json(), "task": recorded.to_json()}
    versions = {"kopt-kb": version_of("kopt-kb", "unknown"), "python": host.python_version(), "views": EDITION}
    texts = {".gitignore": GITIGNORE.encode(), "README.md": new_free_text(name, task.notes)}
    written = {path: hashlib.sha256(text).hexdigest() for path, text in texts.items()}
    return WorkspaceCreated(name, product.id, problem, kernel, _wiki_state(product), versions, test, written)


def _pitfalls(store: ObjectStore, journal: Journal, found: list[Roofline]) -> None:
    for missing in unknown_needs(found):
        said = unknown_words(has_row=missing.citation is not None)
        text = f"{', '.join(missing.needs)}: {said}. {missing.reason}"
        journal.append("note_added", NoteAdded("pitfall", store.put(text.encode()), "kb init"))


def _fill(
    layout: Layout, name: str, task: Task, route: Route, product: Platform, demo: bytes, found: list[Roofline]
) -> None:
    store = ObjectStore(layout.objects)
    if demo:
        (layout.root / kernel_name(demo)).write_bytes(demo)
    if task.reference:
        layout.reference.write_bytes(task.reference)
        store.put(task.reference)
    has_test = bool(demo) and task.project is None
    if has_test:
        (layout.root / KERNEL_TEST).write_text(TEST_KERNEL, encoding="utf-8")
    layout.gitignore.write_text(GITIGNORE, encoding="utf-8")
    with Journal.create(layout.journal) as journal:
        project = store.put(task.project.data) if task.project is not None else ""
        kernel = store.put(demo) if demo else None
        test = store.put(TEST_KERNEL.encode()) if has_test else None
        journal.append("workspace_created", _created(name, task, route, product, (kernel, test), project))
        journal.append("specs_registered", specs_registered(product, found, dict(task.placeholders)))
        _pitfalls(store, journal, found)
        aim = task.aim if parse_performance_target(task.aim) is not None else ""
        share = f"the performance target {aim}, a share of the documented roof" if aim else "0.9 x the roof"
        reason = f"{share} of each shape's bound, computed from the registered rows"
        bounds = TimeBounds.of(product, found, task.problem.tolerance)
        made = target_set(task.problem, found, reason=reason, by="kb init", aim=aim, bounds=bounds)
        last = journal.append("target_set", made)
        layout.readme.write_bytes(new_readme(fold(journal.events, store.get), task.notes))
    ensure_repository(layout.root, nested=True)
    own = (layout.root / KERNEL_TEST,)
    files = (layout.kernel, layout.reference, layout.readme, layout.gitignore, layout.journal, *own)
    contents = {path.name: path.read_bytes() for path in files if path.exists()}
    commit_event(layout.root, last, f"Create workspace {name} for {task.problem.op} on {product.id}", contents)
