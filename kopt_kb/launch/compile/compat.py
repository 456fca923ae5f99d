"""Names by which reference files that workspaces keep import what has another name since.

A workspace's reference file is never rewritten, so what its last lines import has to be there under the old name.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "know_old_names"]

MOVED: Mapping[str, Mapping[str, str]] = {
    "kopt_kb.kernels.problems": {},
    "kopt_kb.kernels.problems.kernelbench": {"KernelBench": "kopt_kb.launch.problems.torch_model:TorchModel"},
    "kopt_kb.kernels.problems.stated": {"Stated": "kopt_kb.launch.problems.stated:Stated"},
}
"""Old module → name in it → `module:name` of today."""


class _OldNames(MetaPathFinder, Loader):
    """Finds old modules; the last finder, so that a module that is there goes first."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - as the import system calls it
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return how an old name is imported, None for any other."""
        is_package = any(one.startswith(f"{fullname}.") for one in MOVED)
        return ModuleSpec(fullname, self, is_package=is_package) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Fill an old module with what its names are today."""
        for name, place in MOVED[module.__name__].items():
            where, _, now = place.partition(":")
            setattr(module, name, getattr(import_module(where), now))


_FINDER = _OldNames()


def know_old_names() -> None:
    """Let old names be imported from here on."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
