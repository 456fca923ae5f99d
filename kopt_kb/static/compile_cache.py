"""Static facts of compiled configurations on disk, keyed by everything that can change them."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from kopt_kb.analysis.occupancy.limits import Resources
from kopt_kb.kernels.compile.request import KernelCase, OpCase

__all__ = ["CompileCache", "StaticFacts", "cache_key", "default_cache_folder"]

_FORMAT = 2


@dataclass(frozen=True, slots=True)
class StaticFacts:
    """What pruning needs to know of one kernel, or why it didn't compile.

    Attributes:
        name: Symbol of the kernel; empty when it didn't compile.
        resources: What a block uses; None when it didn't compile.
        spill_bytes: Bytes a thread spills; None when the assembler doesn't say.
        error: The compiler's refusal, one line; empty when it compiled.
        reason: `compiler`, `shared_memory` or `invalid` with an error.
    """

    name: str
    resources: Resources | None
    spill_bytes: int | None
    error: str = ""
    reason: str = ""


class CompileCache:
    """A folder of small JSON files; a missing or read-only folder means no cache, silently."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: str) -> tuple[StaticFacts, ...] | None:
        """Return the facts of that key, or None when there are none that can be read."""
        if self._folder is None:
            return None
        try:
            stored = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
            return tuple(_facts(one) for one in stored)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, facts: tuple[StaticFacts, ...]) -> None:
        """Store the facts: a temporary file, then a rename, so that readers never see half a file."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
                json.dump([asdict(one) for one in facts], file)
            Path(file.name).replace(self._folder / f"{key}.json")


def _facts(data: dict[str, object]) -> StaticFacts:
    resources = data.pop("resources")
    return StaticFacts(resources=Resources(**resources) if isinstance(resources, dict) else None, **data)  # type: ignore[arg-type]


def default_cache_folder() -> Path:
    """Return the user's cache folder for compilations ($XDG_CACHE_HOME or ~/.cache)."""
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "kopt-kb" / "compile"


def cache_key(case: KernelCase | OpCase, target: str, shared_limit_bytes: int | None = None) -> str:
    """Return the content key: source files, arguments, options, target, Triton version, early stop."""
    parts = {
        "format": _FORMAT,
        "source": _source_digest(Path(case.file)),
        "case": asdict(case) | {"file": ""},
        "target": target,
        "shared_limit_bytes": shared_limit_bytes,
        "triton": _version("triton"),
    }
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _source_digest(path: Path) -> str:
    """Return the digest of a file and of the files beside it that it imports, theirs included."""
    digest, todo, seen = hashlib.sha256(), [path.resolve()], set[Path]()
    while todo:
        current = todo.pop()
        if current in seen or not current.is_file():
            continue
        seen.add(current)
        data = current.read_bytes()
        digest.update(data)
        todo += sorted(_neighbours(data, current.parent))
    return digest.hexdigest()


def _neighbours(source: bytes, folder: Path) -> set[Path]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(alias.name for alias in node.names)}
    return {folder / f"{name.rsplit('.', 1)[-1]}.py" for name in names if name}
