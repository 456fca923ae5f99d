"""The child under the profiler: imports a function from its file and calls it, the last call between start and stop.

Where the calls before it had parts (`kopt_kb.annotate`), only those of the last call are recorded. It is run by its
path with the request as its only argument, so that it needs nothing of this package.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import operator
import os
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["main"]


def _imported(module: str, file: str) -> Any:
    """Return the module of a function; a script is imported under a name of its own, its main part stays away."""
    if module:
        return importlib.import_module(module)
    spec = importlib.util.spec_from_file_location("kopt_profiled_script", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """Let the profiler record what torch launches in between; without torch or a GPU there is nothing to tell it."""
    torch = sys.modules.get("torch")
    inline: Any = sys.modules.get("kopt_kb.packs.inline.profiled")
    if torch is None or not torch.cuda.is_available():
        yield
        return
    if inline is not None and inline.Parts.seen:
        inline.Parts.alone = True  # each part starts and stops the record itself
        yield
        return
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    try:
        yield
        torch.cuda.synchronize()
    finally:
        torch.cuda.cudart().cudaProfilerStop()


def main(file: str) -> None:
    """Call the function that a request names."""
    with open(file, encoding="utf-8") as stream:  # noqa: PTH123 - nothing of the package is loaded here
        request = json.load(stream)
    os.environ["KOPT_PROFILED"] = "1"
    sys.path[:] = request["path"]
    found = operator.attrgetter(request["name"])(_imported(request["module"], request["file"]))
    function = getattr(found, "__wrapped__", found)
    for _ in range(request["warmup"]):
        function(*request["args"], **request["kwargs"])
    with _watched():
        function(*request["args"], **request["kwargs"])


if __name__ == "__main__":
    main(sys.argv[1])
