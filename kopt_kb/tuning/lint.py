"""The lint gate: is a file a kernel of its own; of a project, what a candidate adds to its Python files."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from kopt_kb.analysis.frameworks import (
    FOREIGN_ENTRIES,
    aliases,
    dotted_name,
    framework_named,
    frameworks,
    kernel_marks,
    kernels_of,
    marks_of,
    missing,
)
from kopt_kb.base.wire import Wire
from kopt_kb.doors.table import behind
from kopt_kb.launch.kernel.declared import has_header, kernel_name
from kopt_kb.tuning.decision import GateResult

__all__ = ["LintFinding", "LintedFile", "lint_files", "lint_source"]

_UNTIMED = frozenset({"reference", "make_inputs", "static_cases"})
"""Functions that are never timed."""
_LIBRARIES = {
    "flashinfer", "flash_attn", "xformers", "vllm", "aiter", "liger_kernel", "apex", "transformer_engine", "cupy",
    "cudnn", "deep_gemm", "torch_npu", "tensorrt", "tensorrt_llm",
}  # fmt: skip
_MODULES = {
    "torch.nn.functional", "torch.ops", "torch.linalg", "torch.fft", "torch.sparse", "torch.utils.cpp_extension",
    "torch.jit", "torch.compiler", "torch.cuda.graph", "torch.cuda.graphs", "torch.cuda.make_graphed_callables",
    "torch._C", "torch._ops", "torch._dynamo", "torch._inductor",
}  # fmt: skip
_FUNCTIONS = {
    "mm", "bmm", "matmul", "addmm", "baddbmm", "einsum", "linear", "conv1d", "conv2d", "conv3d", "softmax",
    "log_softmax", "layer_norm", "rms_norm", "native_layer_norm", "cross_entropy", "nll_loss",
    "multi_head_attention_forward",
    "scaled_dot_product_attention", "chain_matmul", "tensordot", "inner", "outer", "dot", "mv", "vdot", "compile",
    "cumsum", "cumprod", "logsumexp", "logcumsumexp", "addmv", "addbmm", "addr", "ger", "cdist", "int_mm", "scaled_mm",
    "grouped_mm", "scaled_grouped_mm", "addmm_activation", "group_norm", "instance_norm", "batch_norm", "bilinear",
}  # fmt: skip
"""Names without the underscores around them: `addmm_` and `_softmax` are the same libraries' work."""
_PREFIXES = ("scaled_dot_product", "conv", "native_", "fused_", "cudnn", "miopen", "flash_attention", "efficient_")
_LAYERS = {"RMSNorm", "LayerNorm", "Softmax", "Linear", "MultiheadAttention", "CrossEntropyLoss", "CUDAGraph"}
_METHODS = _FUNCTIONS - {"compile", "linear"}
_DYNAMIC = {"exec", "eval", "compile", "__import__", "vars", "globals", "locals"}
_KEYS = {"id", "data_ptr"}
_NEIGHBOUR = "imports a neighbouring file: the kernel must stand alone"
_CACHES = {"lru_cache", "cache", "WeakKeyDictionary", "WeakValueDictionary"}


@cache
def _untimed() -> frozenset[str]:
    """Return the functions that nobody times: the core's, and those that gates of packs call."""
    gates = (gate for _, part in behind("loop_parts") for gate in part.gates)
    return _UNTIMED.union(*(gate.untimed for gate in gates))


@dataclass(frozen=True, slots=True)
class LintFinding(Wire):
    """One thing a kernel may not do: what, and the line."""

    WIRE: ClassVar = ("line", "message=what")
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class LintedFile(Wire):
    """A kernel file and what it may not do."""

    file: str
    findings: tuple[LintFinding, ...]


def lint_source(
    source: bytes, *, standalone: bool = True, framework: str = "", foreign: bool = False, entry: str = ""
) -> tuple[LintFinding, ...]:
    """Return what is wrong with a kernel file, by line; the file is parsed and never run.

    Args:
        source: The file.
        standalone: Whether it must be a kernel that does without neighbouring files; a file of a project may import
            them, and need not launch a kernel.
        framework: Framework whose kernel it has to launch, as users call it; one whose kernels can't be recognised is
            not judged; empty: any that can.
        foreign: Whether it is a candidate of a problem outside the list: it may be a class that builds layers for
            their weights, and is called by other names than `launch`.
        entry: Function that it is called by; empty: one of a usual name.
    """
    if has_header("", source):
        return _of_header(source, framework)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        return (LintFinding(getattr(error, "lineno", None) or 1, "is not valid Python"),)
    names, marks = _aliases(tree), kernel_marks()
    kernels = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and marks_of(node, names) & marks
    }
    findings = {finding for finding in _imports(tree) if standalone or finding.what != _NEIGHBOUR}
    for node in _timed(tree, kernels | ({"__init__"} if foreign else set())):
        findings.update(_node(node, names))
    findings.update(_dead(tree, kernels))
    entries = (entry.partition(".")[0],) if entry else FOREIGN_ENTRIES if foreign else ("launch",)
    if standalone and (lacks := _lacks_kernel(source, framework, entries)):
        findings.add(LintFinding(1, lacks))
    return tuple(sorted(findings, key=lambda finding: (finding.line, finding.what)))


def _of_header(source: bytes, framework: str) -> tuple[LintFinding, ...]:
    """Return what is wrong with a file that a header launches: what Python does besides kernels is never timed."""
    if kernel_name(source) == "kernel.cu":
        return () if b"__global__" in source else (LintFinding(1, "has no __global__ function"),)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        return (LintFinding(getattr(error, "lineno", None) or 1, "is not valid Python"),)
    named = framework_named(framework)
    known = [named] if named is not None else list(frameworks())
    findings = set(_imports(tree))
    if not any(kernels_of(source, one) for one in known):
        marks = " or ".join(one.mark for one in known)
        findings.add(LintFinding(1, f"has no {framework or 'known'} kernel (a function decorated with {marks})"))
    return tuple(sorted(findings, key=lambda finding: (finding.line, finding.what)))


def _aliases(tree: ast.Module) -> dict[str, str]:
    """Return local name → dotted name for everything imported anywhere, and for plain re-assignments of it."""
    names = aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            dotted = dotted_name(node.value, names)
            if dotted and dotted.split(".")[0] in {"torch", "importlib", "functools"}:
                names[node.targets[0].id] = dotted
    return names


def _timed(tree: ast.Module, kernels: set[str]) -> Iterator[ast.AST]:
    """Yield all nodes but those of kernels, of functions that are never timed, and of annotations."""
    for top in tree.body:
        if isinstance(top, ast.ClassDef) and "__init__" in kernels:
            for inner in top.body:
                if not (isinstance(inner, ast.FunctionDef) and inner.name == "__init__"):
                    yield from ast.walk(inner)
        elif not (isinstance(top, ast.FunctionDef) and top.name in _untimed() | kernels):
            yield from ast.walk(top)


def _imports(tree: ast.Module) -> Iterator[LintFinding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module or '.'}.{alias.name}" for alias in node.names] if node.level == 0 else ["."]
        else:
            continue
        for name in modules:
            if name == ".":
                yield LintFinding(node.lineno, _NEIGHBOUR)
            elif name.split(".")[0] in _LIBRARIES or name.startswith("torch.utils.cpp_extension"):
                yield LintFinding(node.lineno, f"delegates to the library {name.split('.')[0]}")


def _node(node: ast.AST, names: dict[str, str]) -> Iterator[LintFinding]:
    line = getattr(node, "lineno", 1)
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        yield LintFinding(line, "multiplies matrices with @: a library call")
    elif isinstance(node, ast.Call):
        yield from _call(node, names)
    elif isinstance(node, ast.Attribute | ast.Name):
        yield from _reference(node, names)


def _call(node: ast.Call, names: dict[str, str]) -> Iterator[LintFinding]:
    dotted = dotted_name(node.func, names)
    last = dotted.rsplit(".", 1)[-1] if dotted else getattr(node.func, "attr", "")
    if dotted in _DYNAMIC or dotted in {f"builtins.{name}" for name in _DYNAMIC}:
        yield LintFinding(node.lineno, f"runs code by {dotted}")
    elif dotted == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant):
        yield LintFinding(node.lineno, "looks a name up that is no literal")
    elif last in _KEYS and (dotted == "id" or last == "data_ptr"):
        yield LintFinding(node.lineno, f"uses {last}() of a tensor, as caches of results do")
    elif dotted.startswith(("tl.", "triton.")):
        return
    elif isinstance(node.func, ast.Attribute) and last.strip("_") in _METHODS:
        yield LintFinding(node.lineno, f"calls {last}: a library operation")


def _reference(node: ast.Attribute | ast.Name, names: dict[str, str]) -> Iterator[LintFinding]:
    dotted = dotted_name(node, names)
    first, last = dotted.split(".")[0], dotted.rsplit(".", 1)[-1]
    if dotted in _untimed() and isinstance(node.ctx, ast.Load):
        yield LintFinding(node.lineno, f"uses {dotted}, which is never timed and may call any library")
    elif last in {"__dict__", "__matmul__"}:
        yield LintFinding(node.lineno, f"goes around names by {last}")
    elif first == "importlib":
        yield LintFinding(node.lineno, "imports by name at run time")
    elif first in {"functools", "weakref"} and last in _CACHES:
        yield LintFinding(node.lineno, f"memoises with {last}")
    elif first != "torch":
        return
    elif any(f"{dotted}.".startswith(f"{name}.") for name in _MODULES) or _is_library(last):
        yield LintFinding(node.lineno, f"delegates to {dotted}")
    elif last in {"Stream", "stream"}:
        yield LintFinding(node.lineno, "uses a stream of its own: the timer does not see it")


def _is_library(name: str) -> bool:
    plain = name.strip("_")
    return name in _LAYERS or plain in _FUNCTIONS or plain.startswith(_PREFIXES)


def _lacks_kernel(source: bytes, framework: str, entries: tuple[str, ...]) -> str:
    """Return what a file lacks to launch a kernel of its framework, or nothing when it does."""
    known = framework_named(framework)
    if known is not None:
        return missing(source, known, entries)
    if framework or any(not missing(source, known, entries) for known in frameworks()):
        return ""
    return f"{entries[-1]} starts no kernel of {', '.join(framework.name for framework in frameworks())}"


def _dead(tree: ast.Module, kernels: set[str]) -> Iterator[LintFinding]:
    """Yield kernels that nothing else in the file names."""
    used: set[str] = set()
    for top in tree.body:
        own = getattr(top, "name", "")
        used |= {node.id for node in ast.walk(top) if isinstance(node, ast.Name) and node.id != own}
    for top in tree.body:
        if isinstance(top, ast.FunctionDef) and top.name in kernels - used:
            yield LintFinding(top.lineno, f"the kernel {top.name} is never launched")


_DEAD = "the kernel "


_CACHED = ("uses id() of", "uses data_ptr() of", "memoises with")


def lint_files(old: Mapping[str, str], new: Mapping[str, str], *, caches: bool = True) -> GateResult:
    """Return pass or fail for the Python files that differ, unavailable when none of the changed ones is Python.

    Files of a project may import their neighbours, and may have called libraries all along: only what a change adds
    counts. A kernel that another file of the candidate names is launched.

    Args:
        old: The baseline's files, path → text.
        new: The candidate's files.
        caches: Whether a cache by identity is a finding; where a gate of a pack judges caches it is not.
    """
    changed = sorted(path for path, text in new.items() if old.get(path) != text)
    judged = [path for path in changed if path.endswith(".py")]
    if changed and not judged:
        return GateResult("lint", "unavailable", f"the lint knows Python, and {', '.join(changed[:3])} is none")
    problems: list[str] = []
    for path in judged:
        added = _added(_findings(old.get(path, ""), path, old), _findings(new[path], path, new))
        added = [one for one in added if caches or not one.what.startswith(_CACHED)]
        problems += [f"{path}:{finding.line} {finding.what}" for finding in added]
    if problems:
        return GateResult("lint", "fail", "; ".join(problems[:5]))
    left = [path for path in changed if path not in judged]
    return GateResult("lint", "pass", f"not judged: {', '.join(left)}" if left else "")


def _findings(text: str, path: str, files: Mapping[str, str]) -> list[LintFinding]:
    others = "\n".join(other for name, other in files.items() if name != path)
    findings = lint_source(text.encode(), standalone=False)
    return [each for each in findings if not (each.what.startswith(_DEAD) and each.what.split()[2] in others)]


def _added(old: list[LintFinding], new: list[LintFinding]) -> list[LintFinding]:
    """Return the findings of `new` beyond as many of the same words in `old`, the last ones of a file."""
    known = Counter(finding.what for finding in old)
    added = []
    for finding in new:
        if known[finding.what]:
            known[finding.what] -= 1
        else:
            added.append(finding)
    return added
