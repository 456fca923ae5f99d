"""What `kb record` is asked to record, from words: an op file, a call with its arguments, a program."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.base.files import read_words
from kopt_kb.kernels.launch_case import TensorSpec
from kopt_kb.launch.compile.arguments import parse_argument, parse_values
from kopt_kb.launch.record.request import CallRequest, Item, ScriptRequest, TensorArgument

__all__ = ["argument_of", "call_request", "lines_of", "script_request"]

_Value = Item | tuple[Item | tuple[Item, ...], ...]


def call_request(call: str, words: Iterable[str]) -> CallRequest:
    """Return a call with its arguments, NAME=VALUE each; raises `BadInput` for one that is none."""
    return CallRequest(call, dict(_argument(word) for word in words))


def script_request(words: list[str], folder: Path) -> ScriptRequest:
    """Return a program as it is typed, `python FILE.py ...` or `FILE.py ...`, started in a folder."""
    given = words[1:] if words and Path(words[0]).name.startswith("python") else words
    given = [one for one in given[:1] if one not in {"-u", "-P", "-B"}] + given[1:]
    if not given or not (given[0].endswith(".py") or (given[0] == "-m" and len(given) > 1)):
        fix = "kb record --platform H100_SXM --out DIR -- python train.py --steps 1"
        raise BadInput("no Python program behind --", where=" ".join(words) or "--", fix=fix, code="KB102")
    return ScriptRequest(tuple(given), str(folder.resolve()))


def lines_of(path: str) -> list[str]:
    """Return the arguments of a file, one a line; `#` begins a comment."""
    lines = [line.partition("#")[0].strip() for line in read_words(path).splitlines()]
    return [line for line in lines if line]


def _argument(text: str) -> tuple[str, _Value]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise BadInput(f"{text!r} is not NAME=VALUE", where="--arg", fix="such as x=bf16[8192,4096]", code="KB104")
    return name, argument_of(name, value)


def argument_of(name: str, value: str) -> _Value:
    """Return the value of an argument as it is written; raises `BadInput` with the forms for what is none."""
    if not value.startswith("["):
        return _item(name, value)
    return tuple(
        tuple(_item(name, one) for one in _parts(name, part)) if part.startswith("[") else _item(name, part)
        for part in _parts(name, value)
    )


def _item(name: str, value: str) -> Item:
    """Return a tensor, a number or text."""
    if value.startswith("torch."):
        return value
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    if "]=" in value:
        return _tensor(name, value)
    parsed = parse_argument(value)
    if isinstance(parsed, TensorSpec):
        return _tensor(name, value)
    if isinstance(parsed, float) and not math.isfinite(parsed):
        return f"float.{'nan' if math.isnan(parsed) else 'inf' if parsed > 0 else '-inf'}"
    return parsed


def _tensor(name: str, text: str) -> TensorArgument:
    layout, equals, values = text.partition("]=")
    parsed = parse_argument(layout + "]" if equals else text)
    if not isinstance(parsed, TensorSpec):
        raise BadInput(f"{text!r} is no tensor", where=f"--arg {name}", fix="such as bf16[8192,4096]", code="KB104")
    given = parse_values(values, text) if equals else None
    if given is not None and len(given) == 1:
        given *= math.prod(parsed.shape)
    if given is not None and len(given) != math.prod(parsed.shape):
        what = f"{len(given)} values for a tensor of {math.prod(parsed.shape)} elements"
        raise BadInput(what, where=f"--arg {name}", fix="give one for all, or one for each in order", code="KB081")
    return TensorArgument(parsed.shape, parsed.dtype, parsed.strides, given)


def _parts(name: str, value: str) -> list[str]:
    """Return the members of a list: its text apart at commas outside brackets; given values have brackets of their own.

    `[i32[2]=[0,8],[3,4]]` has a tensor with two values and a list.
    """
    if not value.endswith("]"):
        fix = "such as [16,24,24], [fp16[8,4],fp16[9,4]] or [i32[2]=[0,8]]"
        raise BadInput(f"{value!r} is no list", where=f"--arg {name}", fix=fix, code="KB104")
    found, depth = [""], 0
    for one in value[1:-1]:
        depth += (one == "[") - (one == "]")
        if one == "," and depth == 0:
            found.append("")
        else:
            found[-1] += one
    return [part.strip() for part in found if part.strip()]
