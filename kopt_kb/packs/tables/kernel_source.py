"""One Triton kernel out of a program's file, letter by letter, with what it calls: nothing of the program is imported.

What the kernel names is looked up where its file defines or imports it: other kernels and plain assignments are taken
along, `triton` and its `tl` are the real ones. Lines keep their numbers, so the compiler's complaints name the file's.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_input

__all__ = ["standalone"]

_MOST_BYTES = 4 << 20
_HEAD = "import triton, triton.language as tl\n"
_TRITON = {"triton": "import triton", "tl": "import triton.language as tl", "language": "from triton import language"}
_KEPT = (ast.FunctionDef, ast.Assign, ast.AnnAssign)


def standalone(file: Path, kernel: str, root: Path) -> str:
    """Return the text of a kernel and of all that it names.

    Args:
        file: The program's file that defines it.
        kernel: Its name.
        root: Folder that the program's imports start from.

    Raises:
        BadInput: The file is no Python, defines no such kernel, or the kernel names what stands in no file.
    """
    taking = _Taking(root)
    taking.take(file, kernel, f"{file}")
    return "".join([_HEAD, *(part for path in taking.order for part in taking.parts(path, is_first=path == file))])


@dataclass
class _File:
    """A parsed file, and the statements of it that are taken."""

    text: str
    defined: dict[str, ast.stmt]
    imported: dict[str, tuple[str, int, str]]
    taken: set[int] = field(default_factory=set)


class _Taking:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[Path, _File] = {}
        self.order: list[Path] = []

    def take(self, path: Path, name: str, where: str) -> None:
        """Take what a name stands for in a file, and all that this names in turn."""
        file = self._file(path)
        if name in file.defined:
            node = file.defined[name]
            if node.lineno in file.taken:
                return
            file.taken.add(node.lineno)
            for one in _names(node):
                if one != name and one not in _TRITON and not hasattr(builtins, one):
                    self.take(path, one, f"{path}:{node.lineno}")
        elif name in file.imported:
            module, level, original = file.imported[name]
            if module.partition(".")[0] == "triton" or name in _TRITON:
                return
            found = self._find(path, module, level)
            if found is None or original != name:
                what = f"{name} is imported from {module or '.'}, which is no file below {self._root}"
                raise BadInput(
                    what, where=where, fix="name the folder that the program's imports start from", code="KB110"
                )
            self.take(found, original, where)
        else:
            raise BadInput(
                f"names {name}, which the file does not define", where=where, fix="name another file", code="KB081"
            )
        if path not in self.order:
            self.order.append(path)

    def parts(self, path: Path, *, is_first: bool) -> Iterator[str]:
        """Yield what is taken of a file; of the first one with blank lines in place of the rest."""
        file = self._files[path]
        lines = file.text.splitlines(keepends=True)
        kept: set[int] = set()
        for node in {id(one): one for one in file.defined.values() if one.lineno in file.taken}.values():
            begin = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            kept.update(range(begin, (node.end_lineno or begin) + 1))
        for number, line in enumerate(lines, 1):
            if number in kept:
                yield line
            elif is_first and number > 1:
                yield "\n"

    def _file(self, path: Path) -> _File:
        if path not in self._files:
            text = read_input(path, _MOST_BYTES).decode("utf-8", "replace")
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError) as error:
                raise BadInput(
                    "is not valid Python", where=str(path), fix="name the program's file", code="KB116"
                ) from error
            defined: dict[str, ast.stmt] = {}
            imported: dict[str, tuple[str, int, str]] = {}
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    imported |= {
                        one.asname or one.name: (node.module or "", node.level, one.name) for one in node.names
                    }
                elif isinstance(node, ast.Import):
                    imported |= {one.asname or one.name: (one.name, 0, "") for one in node.names}
            for node in tree.body:
                if isinstance(node, _KEPT):
                    defined |= dict.fromkeys(_bound(node), node)
            self._files[path] = _File(text, defined, imported)
        return self._files[path]

    def _find(self, path: Path, module: str, level: int) -> Path | None:
        base = path.parents[level - 1] if level else self._root
        stem = base.joinpath(*module.split("."))
        return next((one for one in (stem.with_suffix(".py"), stem / "__init__.py") if one.is_file()), None)


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [one.id for one in targets if isinstance(one, ast.Name)]


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement reads and does not bind itself."""
    if not isinstance(node, ast.FunctionDef):
        return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    own = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    inner = [one for part in node.body for one in ast.walk(part)]
    own |= {one.id for one in inner if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    own |= {one.arg for one in inner if isinstance(one, ast.arg)}
    read = [*inner, *(one for part in node.decorator_list for one in ast.walk(part))]
    found = [one.id for one in read if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    return [one for one in dict.fromkeys(found) if one not in own]
