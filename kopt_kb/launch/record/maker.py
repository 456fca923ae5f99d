"""The maker: runs launchers on fake tensors and writes launch records, each in a child that is trusted with nothing.

`serve` starts that child; it writes code objects into the request's folder and answers with one `MakerAnswer` as JSON;
what the launcher prints goes nowhere.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.base.wire import canonical
from kopt_kb.doors.language import LaunchRecorder
from kopt_kb.doors.languages import languages
from kopt_kb.launch.compile.device import DeviceFacts
from kopt_kb.launch.compile.importing import missing_package
from kopt_kb.launch.compile.request import CompileRequest, OpCase
from kopt_kb.launch.compile.target import CompileTarget
from kopt_kb.launch.cuda.build import build_cuda
from kopt_kb.launch.cuda.launches import record_cuda
from kopt_kb.launch.kernel.declared import has_header, packaged_file
from kopt_kb.launch.record.code_request import CodeRequest
from kopt_kb.launch.record.ended import LIMIT, LateError, listening, place_of, within
from kopt_kb.launch.record.later import put_off_dynamo
from kopt_kb.launch.record.model import VERSION, Buffer, Input, LaunchRecord, TensorView
from kopt_kb.launch.record.request import MakerAnswer, MakerRequest, OpRequest, Refusal, ScriptRequest
from kopt_kb.launch.record.serve import READY, serve
from kopt_kb.launch.record.statics import STATICS, StaticLaunch, Statics

__all__ = ["answer", "main"]

T = TypeVar("T")
_MOST_SOURCES = 512


def answer(request: MakerRequest) -> MakerAnswer:
    """Return the record of a request, or why there is none, with the end of what was printed."""
    with listening() as said:
        try:
            with within(LIMIT.seconds):
                return MakerAnswer(record=_record(request))
        except BaseException as error:  # noqa: BLE001 - a maker answers whatever the launcher does
            refusal = _refusal(error, request)
    return MakerAnswer(refusal=replace(refusal, what=refusal.what + said.shown))


def _refusal(error: BaseException, request: MakerRequest) -> Refusal:
    if isinstance(error, KoptError):
        return Refusal(error.error_code, error.what, error.where, error.fix)
    if isinstance(error, ImportError):
        missing = missing_package(error, _where(request))
        return Refusal("KB120", missing.what, missing.where, missing.fix)
    where = place_of(error) or _where(request)
    text = " ".join(str(error).split())[:300]
    if isinstance(error, LateError):
        return Refusal("KB445", text, where, "record a call of one launcher, or fewer steps")
    if isinstance(error, SystemExit):
        return Refusal("KB445", f"the program ended with status {error.code}", where, "record a call of its launcher")
    what = f"the launcher fails on tensors without memory: {type(error).__name__}: {text}"
    return Refusal("KB445", what, where, "see kb record --help for what a launcher may do")


def _where(request: MakerRequest) -> str:
    what = request.what
    if isinstance(what, ScriptRequest):
        return " ".join(what.words)
    return what.file if isinstance(what, OpRequest) else what.call


def _record(request: MakerRequest) -> Any:
    if isinstance(request.what, OpRequest) and has_header(request.what.file):
        record = record_cuda(request, request.what)
        if request.statics:
            _tell_compiled(request, request.what, record.codes)
        return record
    return _traced(request)


def _tell_compiled(request: MakerRequest, what: OpRequest, codes: Mapping[str, int]) -> None:
    """Keep what the compiler says of a file's launches, where it makes the same code objects of them again."""
    case = OpCase(what.file, what.shape, what.dtype, what.config)
    asked = CompileRequest(case, request.target, False, None, request.device, request.facts)
    made = build_cuda(asked, CompileTarget.parse(request.target))
    named = [(hashlib.sha256(one.binary).hexdigest(), replace(one, binary=b"")) for one in made]
    if {code for code, _ in named} <= codes.keys():
        told = Statics(request, tuple(StaticLaunch(code, 1, one) for code, one in named))
        (Path(request.folder) / STATICS).write_bytes(canonical(told.to_json()))


def _tell_traced(request: MakerRequest, told: Sequence[Any], tuned: Any, codes: Mapping[str, int]) -> None:
    """Write what the compiler said of the launches that the record keeps: a program may launch more than one holds."""
    kept = tuple(one for one in told if one.code in codes)
    (Path(request.folder) / STATICS).write_bytes(canonical(Statics(request, kept, tuned).to_json()))


def _traced(request: MakerRequest) -> Any:
    from kopt_kb.launch.compile.stub import activate
    from kopt_kb.launch.record.calls import call_of, op_of, options_of
    from kopt_kb.launch.record.script import of_script
    from kopt_kb.launch.record.trace import CallTrace
    from kopt_kb.launch.record.triton_launches import Launches

    target = CompileTarget.parse(request.target)
    facts = DeviceFacts(request.device, target.name, request.facts)
    activate(target, facts)
    trace = CallTrace(facts, lenient=isinstance(request.what, ScriptRequest))
    launches = Launches(trace, Path(request.folder), request)
    named = {one.name: one.recorder(trace, Path(request.folder), request) for one in languages() if one.recorder}
    others = [*named.values()]
    with ExitStack() as recording:
        for other in others:
            recording.enter_context(other.recording())
        call, label = call_of(request, trace)
        with trace.running(), launches.recording():
            outputs = trace.returned(call.run())
    recorders: list[Any] = [launches, *others]
    codes = _launched(request, _merged(recorder.codes for recorder in recorders), trace.reasons)
    inputs = tuple(Input(name, trace.view(one)) for name, one in call.tensors.items())
    written = outputs or tuple(one.view for one in inputs)
    if not isinstance(request.what, OpRequest):  # what a call fills or copies into an argument is a result of it too
        written += trace.overwritten(inputs, written)
    record = LaunchRecord(
        v=VERSION,
        label=label,
        op=op_of(request, call.module),
        options=options_of(request, call.module),
        shape=request.what.shape if isinstance(request.what, OpRequest) else (),
        dtype=request.what.dtype if isinstance(request.what, OpRequest) else "",
        target=target.name,
        buffers=trace.buffers(inputs, written),
        inputs=inputs,
        outputs=written,
        steps=tuple(trace.steps),
        codes=codes,
        sources=_sources(call.module),
        versions=_merged(recorder.versions for recorder in recorders),
        assumed=tuple(word for recorder in recorders for word in recorder.assumed),
        host=tuple(trace.host),
        not_replayable="; ".join(dict.fromkeys(trace.reasons)),
        requests={**_of_languages(named), **launches.requests},
    )
    record = of_script(record) if isinstance(request.what, ScriptRequest) else _named(record)
    if request.statics:
        told = (launch for other in others for launch in other.told(target))
        _tell_traced(request, (*launches.told, *told), launches.tuned, record.codes)
    return record


def _of_languages(recorders: Mapping[str, LaunchRecorder]) -> dict[str, CodeRequest]:
    """Return the requests of code objects of other languages, of which nothing but the language's name is known."""
    return {code: CodeRequest(name, "", "", "") for name, one in recorders.items() for code in one.codes}


def _launched(request: MakerRequest, codes: dict[str, int], reasons: Sequence[str]) -> dict[str, int]:
    """Return the code objects of launches; raises `BadInput` where nothing was launched."""
    if not codes:
        what = "; ".join(["no kernel is launched", *dict.fromkeys(reasons)])
        raise BadInput(what, where=_where(request), fix="name the launcher itself", code="KB446")
    return codes


def _merged(tables: Iterable[Mapping[str, T]]) -> dict[str, T]:
    return {name: value for table in tables for name, value in table.items()}


def _named(record: Any) -> Any:
    """Call the buffers of results `out`, `out1`, … as whoever reads the record expects; an argument keeps its name."""
    given = {one.view.buffer for one in record.inputs}
    results = dict.fromkeys(one.buffer for one in record.outputs if one.buffer not in given)
    taken = {one.name for one in record.buffers} - results.keys()
    free = (name for number in count() if (name := f"out{number or ''}") not in taken)
    return _renamed(record, dict(zip(results, free, strict=False)))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, TensorView):
        return replace(value, buffer=names.get(value.buffer, value.buffer))
    if isinstance(value, Buffer):
        return replace(value, name=names.get(value.name, value.name))
    if isinstance(value, tuple):
        return tuple(_renamed(one, names) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _renamed(getattr(value, one.name), names) for one in fields(value)})
    return value


def _sources(module: ModuleType) -> dict[str, str]:
    """Return the Python files of the call's own package that were loaded → sha256: what the record was made from."""
    if not module.__file__:
        return {}
    own = Path(module.__file__).resolve()
    files = ((name, getattr(one, "__file__", None)) for name, one in list(sys.modules.items()))
    beside = {
        file for name, file in files
        if file and file.endswith(".py") and name.split(".")[0] != "kopt_kb" and _lies_in(file, str(own.parent))
    }  # fmt: skip
    loaded = (Path(one).resolve() for one in beside)
    kept = {one for one in loaded if one.is_relative_to(own.parent) and one.is_file()} | {own}
    names = sorted(kept)[:_MOST_SOURCES]
    return {one.relative_to(own.parent).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest() for one in names}


def _lies_in(file: str, folder: str) -> bool:
    """Return whether a file's folder is this one or below it: thousands of modules lie in a few hundred folders."""
    where = _real(os.path.dirname(file))  # noqa: PTH120 - a path object for each module takes longer than a compile
    return where == folder or where.startswith(folder + os.sep)


@lru_cache(maxsize=4096)
def _real(folder: str) -> str:
    return os.path.realpath(folder)


def _warm() -> None:
    """Record a kernel of the package and forget it: most of what a first record takes is what torch loads for it."""
    path = packaged_file("elementwise")
    with tempfile.TemporaryDirectory() as folder, suppress(Exception):
        os.environ["TRITON_CACHE_DIR"] = folder
        answer(MakerRequest(OpRequest(str(path), (64, 64), "bf16"), "sm_90", "sm_90", {}, folder))


def main() -> None:
    """Answer requests until stdin closes."""
    answers = os.dup(1)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    warnings.simplefilter("ignore")
    os.environ.update(TRITON_ALWAYS_COMPILE="1", TRITON_DUMP_PTXAS_LOG="1", CUDA_VISIBLE_DEVICES="")
    os.environ.pop("TRITON_INTERPRET", None)
    put_off_dynamo()
    _warm()
    sys.dont_write_bytecode = True  # nothing is left beside the files of others
    os.write(answers, READY)
    serve(sys.stdin.buffer, answers, answer)


if __name__ == "__main__":
    main()
