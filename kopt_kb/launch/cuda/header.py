"""How a CUDA C++ file is launched, as TOML: a comment `/* kb … */` in it, or a file of the same name with `.toml`.

A Python file of another language has the comment in its docstring.

It says what Python says in a Triton file: operation, tensors, tuning values, and the steps of a launcher. Text is read
and checked here for what is true of every shape; `launches.py` puts numbers in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import JsonMap
from kopt_kb.launch.cuda.tensor_maps import map_tensor
from kopt_kb.launch.kernel.declared import GIVEN
from kopt_kb.problem.dtypes import format_of

__all__ = [
    "Header", "LauncherStep", "Tensor", "read_header", "source_text", "split_argument",
]  # fmt: skip

_COMMENT = re.compile(r"/\*\s*kb[ \t]*\r?\n")
_TUNED = re.compile(r"/\*\s*kb-tuned[ \t]*\r?\n")
_TENSOR = re.compile(r"(?:(?P<dtype>\w+)\s*)?\[(?P<shape>[^\[\]]*)\]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SCALAR = re.compile(r"(?P<type>[a-z]+\d+)\s+(?P<value>.+)")
_KINDS = ("launch", "fill", "copy")
_KEYS = {
    "op", "op_options", "shape", "dtypes", "code", "language", "function", "config", "tuning_space", "variants",
    "inputs", "outputs", "scratch", "zeroed", "let", "defines", "flags", "steps",
}  # fmt: skip
_STEP_KEYS = {
    "launch": {"launch", "grid", "block", "cluster", "shared", "arguments", "cooperative", "when"},
    "fill": {"fill", "value", "when"},
    "copy": {"copy", "to", "when"},
}
ArgumentRole = Literal["inputs", "outputs", "scratch", "zeroed"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A contiguous tensor; extents are expressions, an empty dtype is the problem's."""

    role: ArgumentRole
    shape: tuple[str, ...]
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class LauncherStep:
    """One step of a launcher; expressions are text.

    Attributes:
        kind: What it does.
        what: Kernel as C++ writes it (`rms_norm<{T}, {THREADS}>`), or the tensor that is filled or copied.
        grid: Blocks along x, y, z.
        block: Threads along x, y, z.
        cluster: Blocks of a cluster along x, y, z.
        shared: Bytes of dynamic shared memory.
        arguments: Names of tensors, `TYPE expression` for numbers, `null`, `map …` for a tensor map; of a struct by
            value its members, in order.
        cooperative: Whether all blocks have to be resident at once.
        when: When it is done; empty: always.
        value: Number that a fill writes.
        to: Tensor that a copy writes.
    """

    kind: Literal["launch", "fill", "copy"]
    what: str
    grid: tuple[str, ...] = ("1",)
    block: tuple[str, ...] = ("1",)
    cluster: tuple[str, ...] = ("1",)
    shared: str = "0"
    arguments: tuple[str | tuple[str, ...], ...] = ()
    cooperative: bool = False
    when: str = ""
    value: float = 0
    to: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says.

    Attributes:
        where: File that holds it, for errors.
        op: Operation id; may be empty where a call alone is wanted.
        options: Options of the operation that the kernels implement.
        form: Names of the problem's dimensions, such as `MxN`; empty: the operation's own.
        dtypes: Storage types that it is for; empty: any.
        code: Code object that is given instead of source, beside the header; empty: none.
        language: What compiles a function of a Python file instead: as its pack names it; empty: none.
        function: That function, `FILE.py:NAME`, the file beside the header; `NAME` alone in the header's own file.
        config: Tuning value → what it is unless somebody says otherwise.
        tuning_space: Tuning value → values worth trying.
        variants: Structural changes, as kernel files declare them.
        tensors: By name, inputs in the order of the problem's.
        let: Name → expression over what stands before it.
        defines: Macro → text, with `{name}` for numbers and `{T}` for the element type.
        flags: Further options of the compiler.
        steps: In order.
        tuned: Shape → tuning values that a search left in the file.
    """

    where: str
    op: str
    steps: tuple[LauncherStep, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    form: str = ""
    dtypes: tuple[str, ...] = ()
    code: str = ""
    language: str = ""
    function: str = ""
    config: Mapping[str, int] = field(default_factory=dict)
    tuning_space: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    variants: tuple[Mapping[str, object], ...] = ()
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    let: Mapping[str, str] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    tuned: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def read_header(path: Path) -> Header | None:
    """Return the header of a file, or None when it has none.

    Raises:
        BadInput: It is no TOML, or says what no header says; with file and line where TOML knows it.
    """
    beside = path.with_suffix(".toml")
    try:
        raw = path.read_bytes()
        text = "" if raw[:4] == b"\x7fELF" or path.suffix in GIVEN else raw.decode("utf-8")
        found, tuned = _comment(_COMMENT, text), _comment(_TUNED, text)
        if found is not None:
            made = _Reading(str(path), found[0]).header(found[1])
        elif beside.is_file():
            made = _Reading(str(beside), 0).header(beside.read_text(encoding="utf-8"))
        else:
            return None
        if tuned is None:
            return made
        return replace(made, tuned=_Reading(str(path), tuned[0]).tuned(tuned[1], made))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"can't be read: {error}", where=str(path), code="KB116") from error


def _comment(beginning: re.Pattern[str], text: str) -> tuple[int, str] | None:
    """Return the number of lines before what the first such comment holds, and that; None where it has no end."""
    begin = beginning.search(text)
    end = -1 if begin is None else text.find("*/", begin.end())
    return None if begin is None or end < 0 else (text.count("\n", 0, begin.end()), text[begin.end() : end])


def source_text(path: Path) -> str:
    """Return a source file's text; raises `BadInput` when it has none."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"can't be read as text: {error}", where=str(path), code="KB116") from error


def split_argument(text: str) -> tuple[str, str]:
    """Return (type, expression) of a number among arguments, ("map", all of it) of a tensor map, ("", name) else."""
    if text.split(maxsplit=1)[:1] == ["map"]:
        return "map", text
    found = _SCALAR.fullmatch(text.strip())
    return (found["type"], found["value"]) if found else ("", text.strip())


class _Reading:
    """Reads one header; `first` is the number of lines before it."""

    def __init__(self, where: str, first: int) -> None:
        self._where, self._first = where, first

    def _refuse(self, what: str, fix: str = "") -> BadInput:
        return BadInput(what, where=self._where, fix=fix or "kb record --help shows a header", code="KB077")

    def _toml(self, text: str) -> JsonMap:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"at line (\d+)", str(error))
            where = f"{self._where}:{int(line[1]) + self._first}" if line else self._where
            raise BadInput(f"the header is no TOML: {error}", where=where, code="KB077") from error
        except (RecursionError, ValueError) as error:  # the parser places neither
            raise self._refuse("the header holds a number or a nesting that can't be read") from error

    def tuned(self, text: str, header: Header) -> dict[str, dict[str, int]]:
        """Return tuning values by shape; raises `BadInput` for one that the header does not have."""
        found = {}
        for shape, values in self._toml(text).items():
            table = self._table(shape, {shape: values})
            if strange := sorted(set(table) - {*header.config, *header.tuning_space}):
                raise self._refuse(f"unknown tuning value {', '.join(strange)} for {shape}")
            found[shape] = {name: self._whole(name, one) for name, one in table.items()}
        return found

    def header(self, text: str) -> Header:
        data = self._toml(text)
        if strange := sorted(set(data) - _KEYS):
            raise self._refuse(f"the header has unknown {', '.join(strange)}", f"known: {', '.join(sorted(_KEYS))}")
        steps = data.get("steps", [])
        if not isinstance(steps, list) or not any(isinstance(one, dict) and "launch" in one for one in steps):
            raise self._refuse("the header launches nothing", "write [[steps]] with launch, grid, block, arguments")
        tensors = {name: one for role in ("inputs", "outputs", "scratch", "zeroed")
                   for name, one in self._tensors(role, data.get(role, {})).items()}  # fmt: skip
        space = {name: tuple(self._whole(name, one) for one in self._list("tuning_space", values))
                 for name, values in self._table("tuning_space", data).items()}  # fmt: skip
        made = Header(
            where=self._where,
            op=self._text("op", data.get("op", "")),
            steps=tuple(self._step(number, one, tensors) for number, one in enumerate(steps)),
            options=self._table("op_options", data),
            form=self._text("shape", data.get("shape", "")),
            dtypes=tuple(self._text("dtypes", one) for one in self._list("dtypes", data.get("dtypes", []))),
            code=self._text("code", data.get("code", "")),
            language=self._text("language", data.get("language", "")),
            function=self._text("function", data.get("function", "")),
            config={name: self._whole(name, one) for name, one in self._table("config", data).items()},
            tuning_space=space,
            variants=tuple(one for one in self._list("variants", data.get("variants", [])) if isinstance(one, dict)),
            tensors=tensors,
            let={name: self._expression(one) for name, one in self._table("let", data).items()},
            defines={name: str(one) for name, one in self._table("defines", data).items()},
            flags=tuple(self._text("flags", one) for one in self._list("flags", data.get("flags", []))),
        )
        self._check_code(made)
        return made

    def _check_code(self, made: Header) -> None:
        file, _, name = made.function.rpartition(":")
        for one in (made.code, file):
            if "/" in one or one.startswith("."):
                raise self._refuse(f"{one!r} is no file beside the header")
        placed = bool(name) and (bool(file) or self._where.endswith(".py"))
        if bool(made.language) != placed:
            fix = 'such as language = "NAME" and function = "add.py:add"'
            raise self._refuse("language and function don't go together", fix)
        if made.language and made.code:
            raise self._refuse("code and language: both say where machine code comes from", "leave one out")

    def _table(self, name: str, data: JsonMap) -> dict[str, object]:
        value = data.get(name, {})
        if not isinstance(value, dict) or not all(_NAME.fullmatch(key) for key in value):
            raise self._refuse(f"{name} is no table of names")
        return value

    def _list(self, name: str, value: object) -> Sequence[Any]:
        if not isinstance(value, list):
            raise self._refuse(f"{name} is no list")
        return value

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str):
            raise self._refuse(f"{name} is no text")
        return value

    def _whole(self, name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._refuse(f"{name} is {value!r}, no whole number", "tuning values are whole numbers")
        return value

    def _expression(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self._refuse(f"{value!r} is no expression", 'write a whole number or text such as "cdiv(N, 4)"')
        return str(value)

    def _expressions(self, value: object) -> tuple[str, ...]:
        found = tuple(self._expression(one) for one in (value if isinstance(value, list) else [value]))
        if not 1 <= len(found) <= 3:
            raise self._refuse(f"{value!r} is no one to three extents", 'write such as ["cdiv(M, 4)", 1]')
        return found

    def _tensors(self, role: ArgumentRole, data: object) -> dict[str, Tensor]:
        found = {}
        for name, text in self._table(role, {role: data}).items():
            said = _TENSOR.fullmatch(self._text(name, text).strip())
            if said is None or (said["dtype"] and format_of(said["dtype"]) is None):
                raise self._refuse(f"{name} = {text!r} is no tensor", 'write such as "[M, N]" or "fp32[M]"')
            shape = tuple(one.strip() for one in said["shape"].split(",") if one.strip())
            found[name] = Tensor(role, shape, said["dtype"] or "")
        return found

    def _argument(self, place: str, given: object) -> str | tuple[str, ...]:
        """Return an argument; a list has the members of a struct."""
        if not isinstance(given, list):
            return self._text(place, given)
        if not given:
            raise self._refuse(f"{place}: a struct without members")
        return tuple(self._text(place, one) for one in given)

    def _step(self, number: int, data: object, tensors: Mapping[str, Tensor]) -> LauncherStep:
        place = f"steps[{number}]"
        kinds = [one for one in _KINDS if isinstance(data, dict) and one in data]
        if not isinstance(data, dict) or len(kinds) != 1:
            raise self._refuse(f"{place} is no launch, fill or copy", "give exactly one of the three")
        kind = kinds[0]
        if strange := sorted(set(data) - _STEP_KEYS[kind]):
            fix = f"a {kind} has {', '.join(sorted(_STEP_KEYS[kind]))}"
            raise self._refuse(f"{place} has unknown {', '.join(strange)}", fix)
        value = data.get("value", 0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refuse(f"{place}: value {value!r} is no number")
        made = LauncherStep(
            kind=kind,  # type: ignore[arg-type]
            what=self._text(place, data[kind]),
            grid=self._expressions(data.get("grid", 1)),
            block=self._expressions(data.get("block", 1)),
            cluster=self._expressions(data.get("cluster", 1)),
            shared=self._expression(data.get("shared", 0)),
            arguments=tuple(self._argument(place, one) for one in self._list(place, data.get("arguments", []))),
            cooperative=data.get("cooperative", False) is True,
            when=self._text(place, data.get("when", "")),
            value=value,
            to=self._text(place, data.get("to", "")),
        )
        flat = [one for given in made.arguments for one in ([given] if isinstance(given, str) else given)]
        named = [name for kind_of, name in map(split_argument, flat) if not kind_of and name != "null"]
        maps = [one for one in flat if split_argument(one)[0] == "map"]
        if wrong := [one for one in maps if not map_tensor(one)]:
            fix = "such as map a [BM, 64] swizzle 128; swizzles are 0, 32, 64, 128"
            raise self._refuse(f"{place}: {wrong[0]!r} is no tensor map", fix)
        named += [map_tensor(one) for one in maps]
        named += [made.what] if kind != "launch" else []
        named += [made.to] if kind == "copy" else []
        if unknown := [one for one in named if one not in tensors]:
            fix = f'tensors: {", ".join(tensors) or "none"}; numbers are written "i32 N"'
            raise self._refuse(f"{place} names {unknown[0]!r}, which is no tensor", fix)
        return made
