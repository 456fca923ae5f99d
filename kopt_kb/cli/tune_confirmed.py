"""What an open campaign was confirmed with: used again by every later call, and another flag is refused by name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from kopt_kb.errors import BadInput
from kopt_kb.tuning.settings import Settings

__all__ = ["DEVICE", "as_confirmed", "launch_of", "settings_of"]

DEVICE = "cuda"
"""Device of candidates when no other is named."""

_SETTINGS = {
    "samples": "samples", "evaluations": "evaluations", "search_s": "search_s", "prune_s": "prune_s", "run_s": "run_s",
    "memory_bytes": "resident_bytes", "flush_bytes": "flush_bytes", "seed": "seed",
}  # fmt: skip
"""Argument → field of the settings."""


def settings_of(args: argparse.Namespace, campaign: Mapping[str, Any] | None) -> Settings:
    """Return the settings an open campaign was confirmed with, else those asked for."""
    if campaign is not None:
        return Settings(**campaign["settings"])
    asked = {field: getattr(args, name) for name, field in _SETTINGS.items()}
    return Settings(**{field: value for field, value in asked.items() if value is not None})


def launch_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return what a campaign's note keeps of the command line, to ask and run the same again."""
    return {
        "proposers": list(args.proposer), "executor_command": args.executor_command or "",
        "device": args.device or DEVICE,
    }  # fmt: skip


def as_confirmed(args: argparse.Namespace, campaign: Mapping[str, Any] | None) -> argparse.Namespace:
    """Return the arguments with an open campaign's own proposers, launcher and device; without one as they are.

    Journals of earlier releases do not say these three: then the command line does.

    Raises:
        BadInput: A flag asks for something else than what was confirmed.
    """
    if campaign is None:
        return args
    for flag, asked, confirmed in _given(args, campaign):
        if asked != confirmed:
            raise BadInput(
                f"{flag} {_text(asked)}: the campaign was confirmed with {_text(confirmed)}",
                where=args.workspace,
                fix="leave the flag out, or end the campaign with kb tune stop and start another",
                code="KB420",
            )
    launch = campaign.get("launch")
    if launch is None:
        return args
    own = {"proposer": launch["proposers"], "executor_command": launch["executor_command"], "device": launch["device"]}
    return argparse.Namespace(**{**vars(args), **own})


def _given(args: argparse.Namespace, campaign: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield (flag, asked, confirmed) of the flags that were given."""
    policy, launch = campaign["policy"], campaign.get("launch") or {}
    confirmed = {field: campaign["settings"].get(field) for field in _SETTINGS.values()}
    found = [
        ("--policy", args.policy, policy["name"]),
        ("--core-shape", args.core_shape, policy["core_shapes"]),
        ("--max-rounds", args.max_rounds, policy["max_rounds"]),
        ("--every-shape", "every_shape" if args.every_shape else None, policy["stop_scope"]),
        *((f"--{name.replace('_', '-')}", getattr(args, name), confirmed[field]) for name, field in _SETTINGS.items()),
    ]
    if launch:
        found += [
            ("--proposer", args.proposer or None, launch["proposers"]),
            ("--executor-command", args.executor_command, launch["executor_command"]),
            ("--device", args.device, launch["device"]),
        ]
    found += [("--no-stop", one, f"stop reason {one}") for one in args.no_stop if one in policy["stop_reasons"]]
    yield from (one for one in found if one[1] is not None)


def _text(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text or "none"
