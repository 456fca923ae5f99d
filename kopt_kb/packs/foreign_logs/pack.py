"""What the pack foreign_logs brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.audit_form import AuditForm, AuditOption
from kopt_kb.doors.command import JsonDocument
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack

__all__ = ["PACK"]

_COMMAND = "kopt_kb.packs.foreign_logs.command"

PACK = Pack(
    name="foreign_logs",
    what="judge logs that other programs wrote",
    words=("foreign_logs",),
    audit_forms=(
        AuditForm(
            name="log",
            what="a log of rounds or speed-ups",
            recognises=later(f"{_COMMAND}:is_log"),
            audit=later(f"{_COMMAND}:audit_log"),
            render=later(f"{_COMMAND}:render_log"),
            codes=later(f"{_COMMAND}:meanings"),
            options=(
                AuditOption("rev", "log of others: read this revision of the git repository", "REVISION"),
                AuditOption("under", "log of others: only this folder of it", "DIR"),
                AuditOption("commits", "log of others: messages of these commits too, as main..branch", "RANGE"),
                AuditOption("platform", "log of others: what was measured (default: what it names)", "NAME"),
                AuditOption("rules", "log of others: hold campaigns against their own rules"),
                AuditOption("import-to", "with --rules: write each campaign there, trust reported", "DIR"),
            ),
        ),
    ),
    schemas=(JsonDocument("audit_foreign", "kopt_kb.packs.foreign_logs.audit:ForeignReport", command="audit"),),
)
