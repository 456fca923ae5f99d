"""A pack: a feature that the core does not know, with everything that it brings through the doors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kopt_kb.analysis.readers.common.base import Reader
    from kopt_kb.base.error_codes import PackCode
    from kopt_kb.doors.arguments import Arguments
    from kopt_kb.doors.audit_form import AuditForm
    from kopt_kb.doors.command import Command, JsonDocument
    from kopt_kb.doors.export import Export
    from kopt_kb.doors.language import Language
    from kopt_kb.doors.later import Later
    from kopt_kb.doors.loop_part import LoopPart
    from kopt_kb.doors.problem_source import ProblemSource
    from kopt_kb.doors.table_form import TableForm
    from kopt_kb.doors.wiki_check import WikiCheck
    from kopt_kb.doors.worker import Worker
    from kopt_kb.launch.machine.health import HealthFinding, Host

__all__ = ["Pack", "PackCause"]


@dataclass(frozen=True, slots=True)
class PackCause:
    """An error code of a pack.

    Attributes:
        code: `KB…` for packs of this distribution, any other prefix for strangers'.
        name: Short name, unique like the code.
        cause: Why the error is raised.
        remedy: What a reader can do about it in general.
    """

    code: PackCode
    name: str
    cause: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Pack:
    """What one pack brings. Functions are given as `later("module:name")`, so that reading the table imports nothing.

    Attributes:
        name: Its name; journals prefix its event kinds with it.
        what: One line for `kb doctor`.
        words: Words that are its own: no identifier and no string of the core contains one.
        readers: Report formats.
        languages: Kernel languages.
        problem_sources: Forms in which others write problems down.
        table_forms: Forms of tuned tables.
        loop_parts: Policies, proposers, gates, views and stop reasons.
        workers: Engines that do jobs elsewhere.
        audit_forms: Logs of other programs that `kb audit` judges.
        exports: Forms in which values leave.
        wiki_checks: What `kb wiki check` asks of pages besides.
        commands: Words of the command line.
        arguments: Arguments of the core's commands that it alone serves.
        events: Event kind without the prefix → `later` of the dataclass of its data.
        causes: Its error codes; may be given as `later`.
        schemas: Documents that no command of its own declares.
        extras: Extras of the distribution that it needs, each with what for.
        names: Public name of `kopt_kb` that it adds → `module:name`.
        doctor: Returns its lines of `kb doctor`, for a machine as it can be asked.
        audit_rules: Each called with what an audit has read; yields findings.
    """

    name: str
    what: str
    words: tuple[str, ...] = ()
    readers: tuple[Reader, ...] = ()
    languages: tuple[Language, ...] = ()
    problem_sources: tuple[ProblemSource, ...] = ()
    table_forms: tuple[TableForm, ...] = ()
    loop_parts: tuple[LoopPart, ...] = ()
    workers: tuple[Worker, ...] = ()
    audit_forms: tuple[AuditForm, ...] = ()
    exports: tuple[Export, ...] = ()
    wiki_checks: tuple[WikiCheck, ...] = ()
    commands: tuple[Command, ...] = ()
    arguments: tuple[Arguments, ...] = ()
    events: Mapping[str, Later] = field(default_factory=dict)
    causes: tuple[PackCause, ...] = ()
    schemas: tuple[JsonDocument, ...] = ()
    extras: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    doctor: Callable[[Host], Iterable[HealthFinding]] | None = None
    audit_rules: tuple[Callable[..., Iterable[object]], ...] = ()
