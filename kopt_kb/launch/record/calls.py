"""What a maker runs: the launcher of an op file, a function of any package, or a whole program."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JsonMap, plain
from kopt_kb.launch.compile.importing import import_name, load_published
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.record.model import Keywords
from kopt_kb.launch.record.request import CallRequest, MakerRequest, OpRequest, ScriptRequest, TensorArgument
from kopt_kb.launch.record.script import Script
from kopt_kb.launch.record.trace import CallTrace
from kopt_kb.problem.dtypes import format_of

__all__ = ["Call", "call_of", "op_of", "options_of"]


class Call:
    """A function with its arguments; `tensors` are those of them that lie on the device."""

    def __init__(self, module: ModuleType, function: Callable[..., Any], arguments: Keywords) -> None:
        self.module, self.function, self.arguments = module, function, arguments
        self.tensors = {name: one for name, one in arguments.items() if isinstance(one, torch.Tensor)}

    def run(self) -> object:
        """Call the function; `apply` of an autograd function takes its arguments by place only."""
        owner = getattr(self.function, "__self__", None)
        if not (isinstance(owner, type) and issubclass(owner, torch.autograd.Function)):
            return self.function(**self.arguments)
        kind: Any = owner
        names = list(inspect.signature(kind.forward).parameters.values())
        alone = kind.setup_context is not torch.autograd.Function.setup_context  # forward has no context then
        places = [one for one in names if one.kind is one.POSITIONAL_OR_KEYWORD][0 if alone else 1 :]
        given = [self.arguments.get(one.name, one.default) for one in places]
        unknown = set(self.arguments) - {one.name for one in places}
        missing = [one.name for one, value in zip(places, given, strict=True) if value is inspect.Parameter.empty]
        if unknown or missing:
            wrong = ", ".join(sorted(unknown) or missing)
            fix = f"forward takes {', '.join(one.name for one in places)}"
            raise BadInput(f"unknown or missing arguments: {wrong}", where=owner.__name__, fix=fix, code="KB447")
        return self.function(*given)


def call_of(request: MakerRequest, trace: CallTrace) -> tuple[Call | Script, str]:
    """Return what a request runs, with a label for its record.

    Raises:
        BadInput: It names no function, or arguments that there are not.
    """
    if isinstance(request.what, ScriptRequest):
        return Script(request.what, trace), " ".join(request.what.words)
    if isinstance(request.what, OpRequest):
        return _op_call(request.what, trace)
    return _free_call(request.what, trace)


def _op_call(what: OpRequest, trace: CallTrace) -> tuple[Call, str]:
    with trace.importing():
        module = load_module(what.file)
    if what.problem:
        return _problem_call(what, module, trace)
    for name in ("launch", "make_inputs"):
        if not callable(getattr(module, name, None)):
            named = " or ".join(f"FILE:{one}" for one in _launching(module)) or "FILE:FUNCTION"
            fix = f"record a call instead: --call {named} --arg NAME=VALUE"
            raise BadInput(f"the file has no {name}()", where=what.file, fix=fix, code="KB447")
    with FakeTensorMode():
        made = module.make_inputs(what.shape, what.dtype, device="cpu", seed=0)
    parameters = inspect.signature(module.launch).parameters
    tensors = made if isinstance(made, tuple | list) else (made,)
    given = {
        name: trace.tensor(name, tuple(one.shape), one.dtype, tuple(one.stride()))
        for name, one in zip(parameters, tensors, strict=False)
    }
    config = {"config": plain(what.config)} if "config" in parameters and what.config else {}
    shape = "x".join(map(str, what.shape))
    return Call(module, module.launch, {**given, **config}), f"{Path(what.file).name} {shape} {what.dtype}"


def _launching(module: ModuleType) -> list[str]:
    """Return the functions of a file that launch something, by `name[grid](...)` in them."""
    tree = ast.parse(Path(str(module.__file__)).read_bytes())
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    return [one.name for one in functions if any(map(_launches, ast.walk(one)))]


def _launches(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name)


def _problem_call(what: OpRequest, module: ModuleType, trace: CallTrace) -> tuple[Call, str]:
    """Return the call of a candidate as its problem's reference file makes it."""
    with trace.importing():
        problem = load_module(what.problem)
    with FakeTensorMode(allow_non_fake_inputs=True):
        made = problem.make_inputs(what.shape, what.dtype, device="cpu", seed=0)
        launch = problem.launcher(module)
    given = {
        name: trace.tensor(name, tuple(one.shape), one.dtype, tuple(one.stride()))
        for name, one in zip(problem.PROBLEM.names, made, strict=True)
    }

    def run(config: object = None, **tensors: Any) -> Any:
        return launch(*tensors.values(), config=config)

    arguments: dict[str, object] = {**({"config": plain(what.config)} if what.config else {}), **given}
    label = f"{Path(what.file).name} for {problem.OP} {'x'.join(map(str, what.shape))} {what.dtype}"
    return Call(module, run, arguments), label


def op_of(request: MakerRequest, module: ModuleType) -> str:
    """Return the operation that a record is of: the problem's, else the one that the file declares."""
    if not isinstance(request.what, OpRequest):
        return ""
    if request.what.problem:
        return str(load_module(request.what.problem).OP)
    return str(getattr(module, "OP", ""))


def options_of(request: MakerRequest, module: ModuleType) -> JsonMap | None:
    """Return the options of the operation that a recorded file declares, or None."""
    if not isinstance(request.what, OpRequest) or request.what.problem:
        return None
    declared = getattr(module, "OP_OPTIONS", None)
    return (
        ({str(name): plain(value) for name, value in declared.items()} or None) if isinstance(declared, dict) else None
    )


def _free_call(what: CallRequest, trace: CallTrace) -> tuple[Call, str]:
    place, _, name = what.call.rpartition(":")
    if not place or not name:
        raise BadInput(f"{what.call!r} names no function", where="--call", fix="write module:function", code="KB447")
    with trace.importing():
        module = _module(place)
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise BadInput(f"{place} has no function {name}", where="--call", code="KB447")
    arguments = {key: _value(key, value, trace) for key, value in what.arguments.items()}
    if any(one.values is not None for one in tree_leaves(dict(what.arguments)) if isinstance(one, TensorArgument)):
        trace.reasons.append("values of tensors were given, which a replay does not fill in")
    return Call(module, function, arguments), what.call


def _value(key: str, value: object, trace: CallTrace) -> object:
    """Return what a call is given for an argument."""
    if isinstance(value, TensorArgument):
        known = format_of(value.dtype)
        if known is None:
            raise BadInput(f"unknown dtype {value.dtype!r}", where=f"--arg {key}", code="KB061")
        return trace.tensor(key, value.shape, getattr(torch, known.torch), value.strides, value.values)
    if isinstance(value, tuple):
        parts = [_value(f"{key}{number}", one, trace) for number, one in enumerate(value)]
        return tuple(parts) if all(isinstance(one, int) for one in parts) else parts
    if isinstance(value, str) and value.startswith("torch."):
        return getattr(torch, value.removeprefix("torch."))
    if isinstance(value, str) and value in {"float.inf", "float.-inf", "float.nan"}:
        return float(value.removeprefix("float."))
    return value


def _module(place: str) -> ModuleType:
    return load_published(place).module if place.endswith(".py") else import_name(place)
