"""The door `AuditForm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from kopt_kb.wiki.registry import Registry
    from kopt_kb.workspace.audit.findings import AuditFinding

__all__ = ["AuditForm", "AuditOption", "AuditedLog"]


class AuditedLog(Protocol):
    """The report of an audit of somebody's log; it is a `Wire` too, which `--json` prints.

    Attributes:
        path: What was audited.
        findings: What is wrong or lacks.
        notes: What a reader should know besides.
    """

    @property
    def path(self) -> str: ...  # noqa: D102

    @property
    def findings(self) -> tuple[AuditFinding, ...]: ...  # noqa: D102

    @property
    def notes(self) -> tuple[AuditFinding, ...]: ...  # noqa: D102

    @property
    def clean(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class AuditOption:
    """An option of `kb audit` for logs of one form.

    Attributes:
        name: Without dashes, such as `import-to`.
        help: Line of `kb audit --help`.
        metavar: Of its value; empty: it takes none.
    """

    name: str
    help: str
    metavar: str = ""


@dataclass(frozen=True, slots=True)
class AuditForm:
    """A log of another program that `kb audit` judges.

    Attributes:
        name: Stable name.
        what: The same in a reader's words, for messages.
        recognises: Whether a path, which is neither a workspace nor a bundle, is such a log. Of several forms the last
            that is installed takes it: one that takes any folder goes behind those that know theirs.
        audit: Returns the report of a path, given the wiki and the options that were set (a switch: "yes").
        render: Returns a report of its own as text for people.
        codes: Returns code of a finding or note → what it means.
        options: Options of the command that are for its logs alone.
    """

    name: str
    what: str
    recognises: Callable[[Path], bool]
    audit: Callable[[str, Registry, Mapping[str, str]], AuditedLog]
    render: Callable[[Any], str]
    codes: Callable[[], Mapping[str, str]]
    options: tuple[AuditOption, ...] = ()
