"""What `kb tune` can be asked for: GPUs of a Ray cluster that rank, and processes that search a space together."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kopt_kb.base.errors import BadInput

if TYPE_CHECKING:
    from kopt_kb.launch.judge.shelf import RecordTarget
    from kopt_kb.packs.cluster.cluster import RayWorker
    from kopt_kb.packs.cluster.searcher import SharedSearch

__all__ = ["add_options", "cluster_workers", "shared_search"]

_MOST_SEARCHERS = 256


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="GPUs of a Ray cluster rank too: auto, local or an address"
    )
    parser.add_argument("--searchers", metavar="N", type=int, help="processes that search together, a GPU each")
    parser.add_argument("--search-command", metavar="CMD", help="starts each of them, such as srun --gpus=1")


def cluster_workers(args: argparse.Namespace) -> Sequence[RayWorker]:
    """Return a worker for each GPU of the cluster that is asked for.

    Raises:
        MissingTool: Ray is not installed, or the cluster has no GPU.
        BadInput: There is no cluster at that address.
    """
    address = getattr(args, "cluster", None)
    if not address:
        return ()
    from kopt_kb.packs.cluster.cluster import ray_workers

    return ray_workers(address)


def shared_search(args: argparse.Namespace, target: RecordTarget) -> SharedSearch | None:
    """Return the processes that search, when some are asked for.

    Raises:
        BadInput: A number that can't be, a launcher without processes, or a cluster besides.
    """
    count, launcher = getattr(args, "searchers", None), getattr(args, "search_command", None)
    if not count:
        if launcher or count == 0:
            fix = "say how many with --searchers N"
            raise BadInput("there are no searchers to start", where="kb tune", fix=fix, code="KB104")
        return None
    if not 1 <= count <= _MOST_SEARCHERS or args.cluster:
        what = f"--searchers {count}" + (" and --cluster" if args.cluster else "")
        fix = f"1 to {_MOST_SEARCHERS} processes, or a cluster"
        raise BadInput(what, where="kb tune", fix=fix, code="KB105")
    from kopt_kb.packs.cluster.searcher import Searchers, SharedSearch

    devices = tuple(one.strip() for one in args.devices.split(",")) if args.devices else ()
    command = tuple(shlex.split(launcher or ""))
    return SharedSearch(Searchers(count, command, () if command else devices), target)
