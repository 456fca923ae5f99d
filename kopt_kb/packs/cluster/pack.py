"""What the pack cluster brings through the doors."""

from __future__ import annotations

from kopt_kb.doors.arguments import Arguments
from kopt_kb.doors.later import later
from kopt_kb.doors.pack import Pack
from kopt_kb.doors.worker import Worker

__all__ = ["PACK"]

PACK = Pack(
    name="cluster",
    what="GPUs of several processes and machines",
    words=("ray", "optuna"),
    workers=(
        Worker(
            name="cluster",
            what="GPUs of a Ray cluster, which rank records beside the first",
            extra="cluster",
            options=("cluster",),
            ranking=later("kopt_kb.packs.cluster.options:cluster_workers"),
        ),
        Worker(
            name="searchers",
            what="processes that search a space together through an Optuna study",
            extra="tune",
            options=("searchers", "search_command"),
            search=later("kopt_kb.packs.cluster.options:shared_search"),
        ),
    ),
    arguments=(
        Arguments(("tune run", "tune resume", "tune step"), later("kopt_kb.packs.cluster.options:add_options")),
    ),
    extras={"cluster": "GPUs of a Ray cluster", "tune": "processes that search together"},
    doctor=later("kopt_kb.packs.cluster.health:lines"),
)
