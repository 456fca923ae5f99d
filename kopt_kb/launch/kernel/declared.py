"""What a kernel file declares about itself, read as literals: the file is never imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal, get_args

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.kernel.integers import ExpressionError, holds
from kopt_kb.problem.dtypes import dtype_of
from kopt_kb.problem.ops import definition, op_id
from kopt_kb.problem.shapes import Shape

__all__ = [
    "GIVEN", "Category", "DeclarationError", "Declared", "Variant", "has_header", "kernel_name", "packaged_file",
    "packaged_reference", "read_declared", "refuse_unknown",
]  # fmt: skip

Category = Literal[
    "memory_traffic",
    "memory_access",
    "caching",
    "latency_hiding",
    "parallelism",
    "scheduling",
    "compute",
]

GIVEN = frozenset({".cubin", ".fatbin", ".hsaco", ".co"})
"""How files of machine code are called."""
_SUFFIXES = frozenset({".cu", ".cuh", ".toml"}) | GIVEN
_HEAD = re.compile(rb'\s*(?:(?://|#)[^\n]*\n\s*)*(?P<doc>r?"""[^"]*?)?/\*\s*kb[ \t]*\r?\n')
_HEAD_BYTES = 4096
_NAMES = ("OP", "OP_OPTIONS", "TUNING_SPACE", "VARIANTS")
_OPTIONS = ("num_warps", "num_stages")
"""Settings that any launch may have."""


class DeclarationError(BadInput):
    """A kernel file's declared data are missing or don't fit together."""

    code = "KB077"


@dataclass(frozen=True, slots=True)
class Variant:
    """One structural change that a file offers, as a hypothesis to try.

    Attributes:
        name: Unique in the file.
        category: Kind of bottleneck it works on.
        summary: What changes and why it may help.
        precondition: Comparisons joined by `and`, over the operation's dimension letters, `elements`
            (their product) and `element_bytes`.
        config: Values laid over the default configuration.
        knobs: Keys of the tuning space worth searching with it.
        targets: Compile targets that it is written for, as `sm_90`; empty for every target.
    """

    name: str
    category: Category
    summary: str
    precondition: str
    config: tuple[tuple[str, object], ...]
    knobs: tuple[str, ...]
    targets: tuple[str, ...] = ()

    def applies(self, op: str, shape: Shape, dtype: str, target: str = "") -> bool:
        """Return whether the precondition holds for a shape and storage type, and the target is one it is written for.

        A target that nobody named rules nothing out.
        """
        if target and self.targets and target not in self.targets:
            return False
        letters = [one for one in definition(op).form.split("x") if one != "..."]
        # A form of any rank names its last dimension.
        dims = shape if len(letters) == len(shape) else shape[-len(letters) :]
        names = dict(zip(letters, dims, strict=True))
        names |= {"elements": prod(shape), "element_bytes": dtype_of(dtype).storage_bytes(1)}
        try:
            return holds(self.precondition, names)
        except ExpressionError as error:
            raise DeclarationError(f"precondition {self.precondition!r}: {error}", fix=error.fix) from error


@dataclass(frozen=True, slots=True)
class Declared:
    """The declared data of a kernel file.

    Attributes:
        op: Operation id.
        options: Options of the operation that the kernel implements.
        tuning_space: Values worth trying, by knob.
        variants: Structural changes; empty when the file has none.
    """

    op: str
    options: tuple[tuple[str, object], ...]
    tuning_space: tuple[tuple[str, tuple[object, ...]], ...]
    variants: tuple[Variant, ...]


def has_header(path: str | Path, source: bytes | None = None) -> bool:
    """Return whether a header says how a file is launched: CUDA C++, a code object, another language's Python.

    By its name, else by a header at its head.

    Args:
        path: The file; it is read where `source` is not given, and one that can't be read is none.
        source: What it holds, of a candidate that has no file of its own.
    """
    if Path(path).suffix in _SUFFIXES:
        return True
    if source is None:
        try:
            with Path(path).open("rb") as opened:
                source = opened.read(_HEAD_BYTES)
        except OSError:
            return False
    return bool(_HEAD.match(source[:_HEAD_BYTES]))


def kernel_name(source: bytes) -> str:
    """Return the name of a kernel's file in a workspace, by its language."""
    found = _HEAD.match(source[:_HEAD_BYTES])
    return "kernel.cu" if found is not None and not found["doc"] else "kernel.py"


def read_declared(path: Path) -> Declared:
    """Return what a kernel file declares at its top level.

    Raises:
        DeclarationError: No Python, no `OP`, a value that is no literal, or parts that don't fit together.
    """
    values = _header(path) if has_header(path) else _literals(path)
    op, given, offered = values.get("OP"), values.get("OP_OPTIONS", {}), values.get("VARIANTS", [])
    if not isinstance(op, str):
        raise DeclarationError("the file declares no OP", where=str(path), fix='write OP = "rms_norm" or such')
    if not isinstance(given, dict) or not isinstance(offered, list | tuple):
        raise DeclarationError(
            "OP_OPTIONS is no table or VARIANTS no list", where=str(path), fix="write {...} and [{...}, ...]"
        )
    space = _tuning_space(path, values.get("TUNING_SPACE", {}))
    variants = tuple(_variant(path, one, space) for one in offered)
    names = [one.name for one in variants]
    if len(set(names)) != len(names):
        raise DeclarationError("two variants share a name", where=str(path), fix="rename one")
    return Declared(op_id(op), tuple(given.items()), tuple(space.items()), variants)


def refuse_unknown(path: Path, config: Mapping[str, object]) -> None:
    """Refuse settings that a Python file can't heed, which a launch may ignore: they would be taken for tried.

    Known are the names of its TUNING_SPACE and whatever else it spells as a text or a parameter; of VARIANT the values
    that it spells. A file without a TUNING_SPACE says nothing about its settings, so none is refused.

    Raises:
        BadInput: The file has no such setting, or no such variant.
    """
    if not config or path.suffix != ".py" or not path.is_file() or has_header(path):
        return
    try:
        space = _literals(path).get("TUNING_SPACE")
        tree = ast.parse(path.read_bytes())
    except DeclarationError:  # who reads its declaration says so
        return
    if not isinstance(space, dict) or not space:
        return
    declared = [one for one in tree.body if isinstance(one, ast.Assign) and "VARIANTS" in map(_text, one.targets)]
    spelt = {_text(node) for one in tree.body if one not in declared for node in ast.walk(one)}
    values = _variant_values(tree)
    names = [*(["VARIANT"] if values else []), *space]
    if unknown := sorted({*config} - spelt - {*names, *_OPTIONS}):
        what = f"the file has no setting {', '.join(unknown)}"
        raise BadInput(what, where=str(path), fix=f"it has {', '.join(map(str, names))}", code="KB081")
    variants, asked = {_text(node) for value in values for node in ast.walk(value)} - {""}, config.get("VARIANT")
    if variants and "VARIANT" in config and str(asked) not in variants | spelt:
        fix = f"it has {', '.join(sorted(variants))}"
        raise BadInput(f"the file has no VARIANT {asked!r}", where=str(path), fix=fix, code="KB081")


def _text(node: ast.AST) -> str:
    """Return what a node spells: a text, a parameter or a name that is assigned to."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""


def _variant_values(tree: ast.Module) -> list[ast.expr]:
    """Return what stands under the key VARIANT in the tables of a file."""
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    return [value for one in tables for key, value in zip(one.keys, one.values, strict=True)
            if isinstance(key, ast.Constant) and key.value == "VARIANT"]  # fmt: skip


def _header(path: Path) -> dict[str, object]:
    """Return what a CUDA C++ file's header declares, by the names of a Python file."""
    try:
        from kopt_kb.launch.cuda.header import read_header  # few kernels have a header

        header = read_header(path)
    except BadInput as error:
        raise DeclarationError(error.what, where=error.where, fix=error.fix) from error
    if header is None:
        return {}
    values: dict[str, object] = {"OP_OPTIONS": dict(header.options), "TUNING_SPACE": dict(header.tuning_space)}
    return values | {"VARIANTS": list(header.variants)} | ({"OP": header.op} if header.op else {})


def _literals(path: Path) -> dict[str, object]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError) as error:
        raise DeclarationError(f"not a readable Python file ({error})", where=str(path), code="KB116") from error
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name) and target.id in _NAMES:
                found[target.id] = _value(path, target.id, node.value)
    return found


def _value(path: Path, name: str, node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        where = f"{path}:{node.lineno}"
        raise DeclarationError(f"{name} is not a literal", where=where, fix="write plain values") from error


def _tuning_space(path: Path, data: object) -> dict[str, tuple[object, ...]]:
    if not isinstance(data, dict) or not all(isinstance(one, list | tuple) and one for one in data.values()):
        raise DeclarationError(
            "TUNING_SPACE is not a table of lists", where=str(path), fix='write {"num_warps": [4, 8]}'
        )
    return {str(name): tuple(one) for name, one in data.items()}


def _variant(path: Path, data: object, space: Mapping[str, object]) -> Variant:
    fields = {*Variant.__slots__} - {"targets"}
    if not isinstance(data, dict) or {*data} - {"targets"} != fields:
        names = ", ".join(sorted(fields))
        raise DeclarationError(f"a variant needs exactly {names}, and may have targets", where=str(path))
    where = f"{path} (variant {data['name']})"
    if data["category"] not in get_args(Category):
        raise DeclarationError(
            f"unknown category {data['category']!r}", where=where, fix=f"one of {', '.join(get_args(Category))}"
        )
    strange = {*data["knobs"], *data["config"]} - {*space, "VARIANT"}
    if strange:
        raise DeclarationError(f"{', '.join(sorted(strange))} not in TUNING_SPACE", where=where)
    _check_precondition(data["precondition"], where)
    targets = data.get("targets", [])
    if not isinstance(targets, list | tuple) or not all(isinstance(one, str) for one in targets):
        raise DeclarationError(f"targets {targets!r} is no list of names", where=where, fix='write ["sm_90"]')
    return Variant(
        name=data["name"],
        category=data["category"],
        summary=data["summary"],
        precondition=data["precondition"],
        config=tuple(data["config"].items()),
        knobs=tuple(data["knobs"]),
        targets=tuple(targets),
    )


def _check_precondition(text: str, where: str) -> None:
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise DeclarationError(f"precondition {text!r} is no expression", where=where) from error
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    # One stands for every name: this finds what the grammar does not have.
    try:
        holds(text, dict.fromkeys(names, 1))
    except ExpressionError as error:
        raise DeclarationError(f"precondition {text!r}: {error}", where=where, fix=error.fix) from error


def packaged_file(op: str, folder: str = "") -> Path | None:
    """Return the package's own kernel file of an operation, or None; `folder`: of another language than Triton."""
    names = {"gemm": "matmul"}
    path = Path(__file__).parents[2] / "kernels" / folder / f"{names.get(op, op)}.py"
    return path if op.isidentifier() and path.is_file() else None


def packaged_reference(op: str) -> Path | None:
    """Return the package's file with `make_inputs` and `reference` of an operation: its kernel's, else one without."""
    alone = Path(__file__).parents[2] / "kernels" / "references" / f"{op}.py"
    return packaged_file(op) or (alone if op.isidentifier() and alone.is_file() else None)
