"""`python -m kopt_kb` is `kb`, and so is the installed command: Ctrl-C ends it quietly from the first import on."""

from __future__ import annotations

import gc
import signal
import sys
import types

__all__ = ["run"]

_QUICK = {"list", "lookup"}
"""Commands that print what is stored and start no thread."""
_HELP = {"help", "-h", "--help"}


def _is_quick(words: list[str]) -> bool:
    return not words or words[0] in _QUICK or (len(words) == 1 and words[0] in _HELP)


class _PutOff(types.ModuleType):
    """A module that is loaded when something of it is asked for."""

    def __getattr__(self, name: str) -> object:
        """Load it; whoever holds this stand-in has all of it from then on."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        loaded = __import__(self.__name__)
        vars(self).update(vars(loaded))
        return getattr(loaded, name)


def _put_off_inspect() -> None:
    """Put off inspect, which dataclasses imports for classes without a docstring: it brings ast, dis and tokenize.

    Since Python 3.13 dataclasses uses it for each class.
    """
    if "inspect" not in sys.modules and sys.version_info < (3, 13):
        sys.modules["inspect"] = _PutOff("inspect")


def run() -> int:
    """Run `kb` with the process's words; returns its exit code.

    While modules are loaded there is nothing to put away, so SIGINT may end the process by itself. A shell that
    ignores it for a process in the background is obeyed.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _is_quick(sys.argv[1:]):
        _put_off_inspect()
        gc.disable()  # what they load is needed to their end: a fifth of their time would go into looking for garbage
    from kopt_kb.cli.main import main

    try:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        if not gc.isenabled():
            gc.freeze()  # the end of the process looks no more through it either
            gc.enable()
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(run())
