"""What a maker is asked to record, and what it answers: plain data over a pipe, nothing pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kopt_kb.base.wire import JsonMap, Wire
from kopt_kb.kernels.launch_case import Scalar
from kopt_kb.launch.record.model import LaunchRecord

__all__ = [
    "CallRequest",
    "Item",
    "MakerAnswer",
    "MakerRequest",
    "OpRequest",
    "Refusal",
    "ScriptRequest",
    "TensorArgument",
]


@dataclass(frozen=True, slots=True)
class TensorArgument(Wire):
    """A tensor that a launcher is given, by its layout: shape in elements, dtype as torch or this project spells it.

    The values of a few elements may be given with it: lengths, offsets, expert ids.
    """

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None
    values: tuple[int | float, ...] | None = None


Item = TensorArgument | Scalar | str
"""A member of a list that a launcher is given; lists may have lists in them."""


@dataclass(frozen=True, slots=True)
class OpRequest(Wire):
    """The `launch` of an op file, on what its `make_inputs` makes for a shape.

    Attributes:
        file: The file.
        shape: Of the problem.
        dtype: Storage type.
        config: Tuning values.
        problem: Reference file of a problem outside the list, which makes the inputs and says how the file is called;
            empty: the file's own.
    """

    file: str
    shape: tuple[int, ...]
    dtype: str
    config: JsonMap = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CallRequest(Wire):
    """A call of a function in a module or file: `package.module:function` or `path/file.py:function`.

    Text that begins with `torch.` is torch's object of that name; `inf`, `-inf` and `nan` behind `float.` are numbers.
    """

    call: str
    arguments: Mapping[str, Item | tuple[Item | tuple[Item, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptRequest(Wire):
    """A Python program as it is started: its words without the interpreter's own, and the folder it is started in.

    `calls`: whether the call that made each launch is wanted with its IR.
    """

    words: tuple[str, ...]
    folder: str
    calls: bool = False


@dataclass(frozen=True, slots=True)
class MakerRequest(Wire):
    """One job of a maker.

    Attributes:
        what: What is recorded.
        target: Such as sm_90.
        device: Name of the product or target, for launchers that ask.
        facts: Sourced properties of the device by torch's names, such as multi_processor_count.
        folder: Where code objects are written.
        autotune: Configuration of autotuned kernels that is recorded; those behind it where it does not fit.
        statics: Whether IR and resources of the launches are wanted too (`statics.Statics`, a file in the folder).
        strict: Whether that configuration is refused where it does not fit; a kernel that has fewer takes its first.
    """

    what: OpRequest | CallRequest | ScriptRequest
    target: str
    device: str
    facts: Mapping[str, int]
    folder: str
    autotune: int = 0
    statics: bool = False
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Refusal(Wire):
    """Why nothing was recorded: an error's code, what, where and fix."""

    code: str
    what: str
    where: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class MakerAnswer(Wire):
    """What a maker answers: a record, or a refusal."""

    record: LaunchRecord | None = None
    refusal: Refusal | None = None
