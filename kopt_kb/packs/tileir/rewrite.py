"""Rewrites the kernels of a file for the TileIR backend, so that every other backend runs what it ran before."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.analysis.ir.source.affine import Poly
from kopt_kb.analysis.ir.source.source import KernelModule, language_name
from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import Wire
from kopt_kb.packs.tileir.classify import Classification, KernelType
from kopt_kb.packs.tileir.descriptors import UNBOUNDED, Descriptor, Tiles, tiles_of
from kopt_kb.packs.tileir.edits import Edits
from kopt_kb.packs.tileir.files import classify_source, module_of, source_text
from kopt_kb.packs.tileir.uses import used_as_numbers

__all__ = ["Applied", "RewriteOptions", "Rewritten", "apply_source", "output_path"]

_HINTS: dict[KernelType, tuple[tuple[int, int, int], ...]] = {
    "dot-related": ((1, 0, 1), (2, 0, 1), (4, 0, 1), (1, 0, 2), (2, 0, 2)),
    "norm-like": ((1, 0, 1), (2, 0, 1), (4, 0, 1)),
    "element-wise": ((1, 2, 1), (1, 4, 1), (2, 3, 1), (4, 3, 1), (8, 3, 1)),
    "reduction": ((1, 0, 1), (2, 0, 1), (4, 0, 1)),
}
"""Type → occupancy, num_stages (0: as it was) and num_ctas to search; the playbook page has the ranges."""

_MARK = "# --- copied from here on\n"


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """What else is written into the file.

    Attributes:
        approx: Allow approximations (TILEIR_ENABLE_APPROX).
        ftz: Flush denormals (TILEIR_ENABLE_FTZ).
    """

    approx: bool = False
    ftz: bool = False


@dataclass(frozen=True, slots=True)
class Applied(Wire):
    """What was done to one kernel.

    Attributes:
        kernel: Its name.
        classification: Its type.
        strategy: What is tried for the type.
        changes: What was changed, a line each; of a file's first kernel also what was changed in the whole file.
        refusals: What was left as it is, and why, a line each.
        descriptors: Tile accesses that go through descriptors.
        tiles: Tile accesses of two axes in all.
    """

    kernel: str
    classification: KernelType
    strategy: str
    changes: tuple[str, ...]
    refusals: tuple[str, ...]
    descriptors: int
    tiles: int


@dataclass(frozen=True, slots=True)
class Rewritten(Wire):
    """A rewritten file.

    Attributes:
        path: What was given.
        output: The file that the text is for.
        kernels: What was done to each.
        changes_applied: All changes, each with its kernel.
        optimized_code: The text.
    """

    path: str
    output: str
    kernels: tuple[Applied, ...]
    changes_applied: tuple[str, ...]
    optimized_code: str


def output_path(path: str) -> str:
    """Return where a rewritten file goes: `<kernel>_tileir.py` beside it."""
    return str(Path(path).with_name(f"{Path(path).stem}_tileir.py")) if path != "--code" else "kernel_tileir.py"


def apply_source(path: str, code: str = "", kernel: str = "", options: RewriteOptions | None = None) -> Rewritten:
    """Return a file's text with its kernels prepared for TileIR.

    Args:
        path: The file.
        code: Inline text instead.
        kernel: Only this kernel.
        options: What else goes in.

    Raises:
        BadInput: No Python, no kernel, prepared already, or a text that would not be Python any more.
    """
    where, text = source_text(path, code)
    if "class TileirChoice" in text:
        raise BadInput("is prepared for TileIR already", where=where, fix="give the file it was made of", code="KB116")
    classified = classify_source(path, code, kernel)
    module = module_of(where, text)
    edits = Edits(text)
    applied = tuple(_Rewriter(module, edits, one).apply() for one in classified.kernels)
    helpers = _sigmoids(module, edits)
    _prelude(module, edits, options or RewriteOptions())
    done = edits.done()
    ast.parse(done)
    changes = tuple(f"{one.kernel}: {each}" for one in applied for each in one.changes)
    switches = tuple(
        f"TILEIR_ENABLE_{name}=1 is set with that backend" for name in _switches(options or RewriteOptions())
    )
    whole = (*switches, *helpers)
    first = tuple(replace(one, changes=(*one.changes, *whole)) for one in applied[:1])
    return Rewritten(where, output_path(where), (*first, *applied[1:]), (*changes, *whole), done)


def _switches(options: RewriteOptions) -> tuple[str, ...]:
    return tuple(name for name, on in (("APPROX", options.approx), ("FTZ", options.ftz)) if on)


class _Rewriter:
    """One kernel of a file."""

    def __init__(self, module: KernelModule, edits: Edits, kind: Classification) -> None:
        self.module, self.edits, self.kind = module, edits, kind
        self.function = module.functions[kind.kernel]
        self.changes: list[str] = []
        self.refusals: list[str] = []

    def apply(self) -> Applied:
        """Edit the kernel and return what was done."""
        top = self.function in self.module.tree.body
        if not top:
            self.refusals.append("it is defined inside another function or class, so nothing can be put beside it")
        hints = self._hints()
        tuned = self._configs(hints)
        tiles = (
            tiles_of(self.function, self.module.names)
            if self.kind.classification == "dot-related"
            else Tiles((), (), ())
        )
        self.refusals += [f"line {one.access.call.lineno}: {one.reason}" for one in tiles.refusals]
        usable = tuple(one for one in tiles.descriptors if self.edits.line_start(one.before) is not None) if top else ()
        loads = [one for one in usable if not one.access.store]
        if loads and self.kind.kernel not in self.module.called:
            self._second(usable, tiles.apart, hints, tuned)
        elif top and not tuned:
            self._tune(self.kind.kernel, hints)
        made = len(usable) if loads else 0
        return Applied(
            self.kind.kernel, self.kind.classification, self.kind.strategy, tuple(self.changes), tuple(self.refusals),
            made, len(tiles.descriptors) + len(tiles.refusals),
        )  # fmt: skip

    def _hints(self) -> tuple[tuple[int, int, int], ...]:
        hints = _HINTS[self.kind.classification]
        names = {one.arg for one in (*self.function.args.args, *self.function.args.kwonlyargs)}
        if "NUM_SMS" in names and any(ctas > 1 for _, _, ctas in hints):
            self.refusals.append(
                "num_ctas=2 is left out: a grid of NUM_SMS programs of two CTAs each is twice what fits, and a hook "
                "before the launch can't change a grid"
            )
            hints = tuple(one for one in hints if one[2] == 1)
        return hints

    def _configs(self, hints: tuple[tuple[int, int, int], ...]) -> bool:
        """Gate the configurations of an autotuned kernel; return whether it is autotuned."""
        for mark in self.function.decorator_list:
            if not isinstance(mark, ast.Call) or not ast.unparse(mark.func).endswith("autotune"):
                continue
            given = {one.arg: one.value for one in mark.keywords}
            configs = given.get("configs") or (mark.args[0] if mark.args else None)
            if configs is not None:
                self.edits.replace(self.edits.begin(configs), self.edits.begin(configs), "tileir_configs(")
                self.edits.replace(self.edits.end(configs), self.edits.end(configs), f", {hints})")
                self.changes.append(f"{len(hints)} TileIR configurations for each of its own, with that backend only")
            return True
        return False

    def _tune(self, name: str, hints: tuple[tuple[int, int, int], ...], new: str = "") -> None:
        """Search the hints of a kernel that has no configurations."""
        if any(not _known_decorator(one) for one in self.function.decorator_list):
            self.refusals.append("it has a decorator besides triton.jit and heuristics; no configurations are added")
            return
        if self.kind.kernel in self.module.called:
            self.refusals.append("other kernels call it; no configurations are added")
            return
        arguments = [*self.function.args.args, *self.function.args.kwonlyargs]
        numbers = used_as_numbers(self.function, self.module.names)
        written = tuple(one.arg for one in arguments if one.arg not in numbers and _written(self.function, one.arg))
        self._after(f"{new or name} = TileirTuned({new or name}, {hints}, written={written!r})")
        self.changes.append(
            f"{len(hints)} hints are searched with that backend; what it writes is put back between trials"
        )

    def _after(self, text: str) -> None:
        end = self.edits.end(self.function)
        self.edits.replace(end, end, f"\n\n\n{text}\n")

    def _second(
        self,
        usable: tuple[Descriptor, ...],
        apart: tuple[str, ...],
        hints: tuple[tuple[int, int, int], ...],
        tuned: bool,
    ) -> None:
        """Put a copy of the kernel with descriptors beside it, and the choice between both."""
        name, second = self.kind.kernel, f"{self.kind.kernel}_descriptors"
        copy = Edits(self.edits.text, list(self.edits.changes))
        _sigmoid_edits(self.function, self.module.names, copy)
        at = copy.text.index(name, copy.begin(self.function))
        copy.replace(at, at + len(name), second)
        made: dict[tuple[int, str], str] = {}
        lines: dict[int, list[str]] = {}
        for one in usable:
            self._descriptor(one, copy, made, lines)
        for start, texts in lines.items():
            copy.replace(start, start, "".join(texts))
        first = min([self.function.lineno, *(one.lineno for one in self.function.decorator_list)])
        body = copy.done(copy.starts[first - 1], copy.end(self.function))
        needs = tuple(dict.fromkeys((n.kind, n.pointer, n.factors, n.number) for one in usable for n in one.needs))
        names = tuple(one.arg for one in (*self.function.args.posonlyargs, *self.function.args.args))
        rows = [name, second, f"names={names!r}", f"needs={needs!r}", f"apart={apart!r}"]
        choice = f"{name} = TileirChoice(\n{''.join(f'    {one},{chr(10)}' for one in rows)})"
        tune = ""
        if not tuned:
            before = len(self.changes)
            self._tune(name, hints, second)
            if len(self.changes) > before:
                tune = self.edits.changes.pop()[2].strip() + "\n"
        self._after(f"{body}\n\n\n{tune}{choice}")
        kinds = [
            f"{'store' if one.access.store else 'load'} of {one.pointer} in line {one.access.call.lineno}"
            for one in usable
        ]
        self.changes.append(f"through descriptors: {', '.join(kinds)}")

    def _descriptor(
        self, descriptor: Descriptor, copy: Edits, made: dict[tuple[int, str], str], lines: dict[int, list[str]]
    ) -> None:
        """Write one descriptor and the access that uses it."""
        start = copy.line_start(descriptor.before)
        base = descriptor.base.text(wide=True)
        pointer = descriptor.pointer if base == "0" else f"{descriptor.pointer} + ({base})"
        shape = ", ".join(
            _extent(extent, guard) for extent, guard in zip(descriptor.shape, descriptor.guarded, strict=True)
        )
        text = (
            f"tl.make_tensor_descriptor({pointer}, shape=[{shape}], strides=[{descriptor.stride.text()}, 1], "
            f"block_shape=[{descriptor.sizes[0].text()}, {descriptor.sizes[1].text()}])"
        )
        key = (start or 0, text)
        if key not in made:
            made[key] = f"{descriptor.pointer}_desc{len(made)}"
            lines.setdefault(start or 0, []).append(f"{copy.indent(descriptor.before)}{made[key]} = {text}\n")
        origins = ", ".join(
            _origin(*each) for each in zip(descriptor.origins, descriptor.shape, descriptor.guarded, strict=True)
        )
        name, call = made[key], descriptor.access.call
        if descriptor.access.store:
            value = ast.get_source_segment(copy.text, call.args[1]) or ast.unparse(call.args[1])
            text = f"{name}.store([{origins}], {value if not descriptor.transposed else f'tl.trans({value})'})"
        else:
            text = f"{name}.load([{origins}])"
            text = f"tl.trans({text})" if descriptor.transposed else text
        copy.replace(copy.begin(call), copy.end(call), text)


def _extent(extent: Poly, guard: bool) -> str:
    return f"tl.maximum({extent.text()}, 1)" if guard else extent.text()


def _origin(origin: Poly, extent: Poly, guard: bool) -> str:
    """Return a block origin; where the extent is 0 or less the block begins behind it: every lane is outside."""
    if guard:
        return f"tl.where({extent.text()} > 0, {origin.text()}, 1).to(tl.int32)"
    if origin.constant is not None or (extent == UNBOUNDED and not origin.terms):
        return origin.text()
    return f"tl.cast({origin.text()}, tl.int32)"


def _known_decorator(mark: ast.expr) -> bool:
    name = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)
    return name.endswith(("jit", "heuristics"))


def _written(function: ast.FunctionDef, name: str) -> bool:
    """Return whether a kernel may write through a parameter: it, or a name made of it, goes to a store or atomic."""
    made = {name}
    for _ in range(3):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AugAssign) and any(
                isinstance(one, ast.Name) and one.id in made for one in ast.walk(node.value)
            ):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                made |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        plain = called in {"load", "dot", "exp", "sum", "max", "where", "arange", "to", "cdiv"}
        if not plain and any(isinstance(one, ast.Name) and one.id in made for one in ast.walk(node.args[0])):
            return True
    return False


def _sigmoids(module: KernelModule, edits: Edits) -> tuple[str, ...]:
    """Write out `tl.sigmoid` in all kernels of a file, by its own definition: some builds of the backend lack it."""
    count = sum(_sigmoid_edits(one, module.names, edits) for one in module.functions.values())
    return (f"tl.sigmoid written out {count} times",) if count else ()


def _sigmoid_edits(function: ast.FunctionDef, names: dict[str, str], edits: Edits) -> int:
    count = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and language_name(node.func, names) == "sigmoid" and len(node.args) == 1:
            inner = node.args[0]
            edits.replace(edits.begin(node), edits.begin(inner), "(1 / (1 + tl.exp(-(")
            edits.replace(edits.end(inner), edits.end(node), "))))")
            count += 1
    return count


def _prelude(module: KernelModule, edits: Edits, options: RewriteOptions) -> None:
    """Put what the file needs behind its imports."""
    body = module.tree.body
    first = next((at for at, one in enumerate(body) if not _leading(one)), len(body))
    last = body[first - 1] if first else None
    at = edits.starts[last.end_lineno or last.lineno] if last is not None else 0
    text = Path(__file__).with_name("runtime.py").read_text(encoding="utf-8").partition(_MARK)[2]
    lines = ["", text.rstrip("\n"), ""]
    switches = _switches(options)
    if switches:
        lines += ["", "if tileir_active():"]
        lines += [f'    _os.environ.setdefault("TILEIR_ENABLE_{name}", "1")' for name in switches]
        lines.append("")
    edits.replace(at, at, "\n".join(lines) + "\n")


def _leading(statement: ast.stmt) -> bool:
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return docstring or isinstance(statement, ast.Import | ast.ImportFrom)
