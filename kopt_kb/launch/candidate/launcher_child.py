"""The process that judges a launcher: `python -m kopt_kb.launch.candidate.launcher_child FOLDER DEVICE`.

It starts the process that will call the launcher, imports what it needs itself meanwhile, and waits. The first line of
its input says that FOLDER/job holds a job; its end, that nobody needs it any more. It answers as every child does
(exchange.py), and both end with that job.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kopt_kb.launch.candidate.child import able
from kopt_kb.launch.candidate.exchange import reply, take_job
from kopt_kb.launch.candidate.launcher_check import check_launcher
from kopt_kb.launch.candidate.launcher_program import launcher_program
from kopt_kb.launch.kernel.blocked import preload

__all__ = ["main"]


def main(words: Sequence[str]) -> int:
    """Answer the job that a folder will hold; the exit status is 0 once the answer is in place, or nobody asks."""
    parent, device = Path(words[0]), words[1]
    with launcher_program(parent, device) as program:
        preload()
        if not sys.stdin.readline():
            return 0
        folder = parent / "job"
        _, body, token = take_job(folder)
        reply(folder, token, able(lambda: check_launcher(body, folder, program)))
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # the answer is there: nobody waits for torch to be taken down
