"""Stands in for a launcher's judge: it waits for its job and confirms, dies, or never ends, as the candidate says."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from kopt_kb.launch.candidate.exchange import reply, take_job
from kopt_kb.launch.candidate.launcher_run import LauncherRun


def main(parent: Path, device: str) -> None:
    """Answer one job."""
    if sys.stdin.readline() != "go\n":
        return
    folder = parent / "job"
    _, body, token = take_job(folder)
    word = (folder / "candidate.py").read_text()
    if word == "hangs":
        time.sleep(60)
    sys.stdout.write("what it prints\n")
    if word != "dies":
        reply(folder, token, LauncherRun("confirmed", device=f"{device} {body.device}"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
