"""`python -m kopt_kb` is `kb`, and so is the installed command: Ctrl-C ends it quietly from the first import on."""

from __future__ import annotations

import signal
import sys

__all__ = ["run"]


def run() -> int:
    """Run `kb` with the process's words; returns its exit code.

    While modules are loaded there is nothing to put away, so SIGINT may end the process by itself. A shell that
    ignores it for a process in the background is obeyed.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from kopt_kb.cli.main import main

    try:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(run())
