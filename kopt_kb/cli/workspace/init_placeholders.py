"""The question about stand-ins for UNKNOWN values that `kb init` asks a person."""

from __future__ import annotations

import sys
from dataclasses import replace

from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.registration import rooflines, specs_registered
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.views.words import unknown_words

__all__ = ["with_placeholders"]


def with_placeholders(task: Task, registry: Registry) -> Task:
    """Ask for a stand-in for each needed value that nobody publishes; an empty answer is none."""
    product = registry.platform(task.platform)
    unknown = specs_registered(product, rooflines(task.problem, product), {}).unknown
    kept = dict(task.placeholders)
    for row in unknown:
        if row.key in kept:
            continue
        print(f"{row.key}: {unknown_words(has_row=row.citation is not None)}. {row.reason}", file=sys.stderr)
        print("  a stand-in, recorded and never part of a target (empty: none): ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip()
        if answer:
            kept[row.key] = answer
    return replace(task, placeholders=kept)
