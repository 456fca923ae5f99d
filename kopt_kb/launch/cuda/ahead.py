"""Machine code of other languages that was compiled ahead: where a compiler is missing, its work may be at hand.

A language's compiler may weigh more than a GPU machine may be sent. Whoever has it fills a folder (`keep_code`;
`benchmarks/*_gpu.py --ahead DIR` does it for kernels of the package), whoever has the GPU names the folder in
`KOPT_CODE`: a record of the same text, function, tensors, values and target finds its code there.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kopt_kb.base.wire import canonical
from kopt_kb.launch.record.model import TensorView

__all__ = ["CODE_FOLDER", "code_ahead", "code_key", "keep_code"]

CODE_FOLDER = "KOPT_CODE"
"""Variable that names the folder."""

_TUNED = re.compile(r'\n*(?:""")?/\*\s*kb-tuned.*\Z', re.DOTALL)


def code_key(
    language: str, file: Path, function: str, tensors: Sequence[TensorView], names: Mapping[str, int], target: str
) -> str:
    """Return what tells a compilation from others.

    Of `names` only those count that the function takes; values that a search left at the file's end do not.
    """
    text = _TUNED.sub("", file.read_text(encoding="utf-8")).rstrip()
    taken = {
        argument.arg for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function
        for argument in (*node.args.args, *node.args.kwonlyargs)
    }  # fmt: skip
    given = {name: value for name, value in sorted(names.items()) if name in taken}
    asked = [[list(one.shape), list(one.strides), one.dtype] for one in tensors]
    words = [language, hashlib.sha256(text.encode()).hexdigest(), function, asked, given, target]
    return hashlib.sha256(canonical(words)).hexdigest()


def code_ahead(key: str) -> tuple[bytes, Mapping[str, str]] | None:
    """Return the code object of a key and the versions that made it, or None where the folder has none."""
    named = os.environ.get(CODE_FOLDER, "")
    code, said = Path(named) / f"{key}.bin", Path(named) / f"{key}.json"
    if not named or not code.is_file() or not said.is_file():
        return None
    versions = json.loads(said.read_text(encoding="utf-8"))
    return code.read_bytes(), {str(name): str(one) for name, one in versions.items()}


def keep_code(folder: Path, key: str, code: bytes, versions: Mapping[str, str]) -> None:
    """Put a code object into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{key}.bin").write_bytes(code)
    (folder / f"{key}.json").write_text(json.dumps(dict(versions), indent=1) + "\n", encoding="utf-8")
