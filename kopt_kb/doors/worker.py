"""The door `Worker`: an engine that does a campaign's jobs in processes that the core does not start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from kopt_kb.launch.judge.ranking import RankingWorker
    from kopt_kb.launch.judge.search import Shared
    from kopt_kb.launch.judge.shelf import RecordTarget

__all__ = ["Worker"]


@dataclass(frozen=True, slots=True)
class Worker:
    """An engine that does jobs elsewhere; a campaign's decisions rest on the one device of its own process alone.

    Attributes:
        name: Stable name.
        what: The same in a reader's words, for messages.
        extra: Extra of the distribution that brings what it needs; empty: nothing.
        options: Arguments by which it is asked for, as attributes of the namespace; a campaign that is judged by a
            child takes none of them.
        ranking: Called with the arguments; starts and returns GPUs that rank records beside the first, none where the
            arguments ask for none.
        search: Called with the arguments and what records are made for; returns who searches a space in place of this
            process, None where the arguments ask for nobody.
    """

    name: str
    what: str
    extra: str = ""
    options: tuple[str, ...] = ()
    ranking: Callable[[argparse.Namespace], Sequence[RankingWorker]] | None = None
    search: Callable[[argparse.Namespace, RecordTarget], Shared | None] | None = None
