"""The reference's side of an exchange: fresh contents for a judge child's slots, and its outputs held against float64.

Inputs follow from seeds: where memory does not hold those that were written, they are made again when their outputs
come back.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kopt_kb.base.errors import FindingError, KoptError
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.blocked import available_bytes
from kopt_kb.launch.kernel.judgement import Case, Judgement, limits_of, trials_of
from kopt_kb.launch.record.exchange import (
    Close,
    Compared,
    CompareSlots,
    Filled,
    FillSlots,
    Open,
    Opened,
    SlotResult,
    Windows,
)
from kopt_kb.launch.record.keeping import Keeping
from kopt_kb.launch.record.model import TensorView
from kopt_kb.problem.dtypes import format_of
from kopt_kb.problem.trials import RANDOM, Trial

__all__ = ["Contents", "answered", "said", "span_of", "tensor_of"]

_KEPT_SHARE = 0.1
"""Share of the memory that was free at first which inputs, and float64 results, may take that are kept."""

_POOL = 8
"""Contents of a problem that are used again and again where nothing is decided by what they show."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What lies in a slot: all that its inputs follow from."""

    trial: Trial
    part: int
    seed: int
    pooled: bool = False


_Problem = tuple[str, tuple[int, ...], str]
"""Hash of the reference file, shape, dtype."""


@dataclass(slots=True)
class _Offer:
    asked: Open
    digest: str
    module: Any
    trials: tuple[Trial, ...]
    slots: dict[int, _Content] = field(default_factory=dict)
    queue: list[_Content] = field(default_factory=list)


class Contents:
    """Answers the messages of `exchange` for any number of offers."""

    def __init__(self) -> None:
        import torch

        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._windows = Windows()
        self._offers: dict[str, _Offer] = {}
        most = int(_KEPT_SHARE * available_bytes(self._device))
        self._results: Keeping[Any] = Keeping(most)
        self._inputs: Keeping[Case] = Keeping(most)
        self._pools: dict[_Problem, list[_Content]] = {}
        self._cases: dict[tuple[str, str, int], Case] = {}

    def open(self, asked: Open) -> Opened:
        """Map the windows of an offer and load its reference file."""
        module = load_module(asked.file)
        self._windows.open(asked.slots)
        digest = hashlib.sha256(Path(asked.file).read_bytes()).hexdigest()
        op = asked.op or str(getattr(module, "OP", ""))
        self._offers[asked.key] = _Offer(asked, digest, module, trials_of(op, asked.trials))
        return Opened()

    def close(self, asked: Close) -> Opened:
        """Let go of an offer."""
        offer = self._offers.pop(asked.key, None)
        self._cases = {key: case for key, case in self._cases.items() if key[0] != asked.key}
        if offer is not None:
            self._windows.close(offer.asked.slots)
        return Opened()

    def fill(self, asked: FillSlots) -> Filled:
        """Write fresh contents, or those that another offer's slots hold."""
        offer = self._offer(asked.key)
        contents = self._contents(offer, asked)
        for slot, content in zip(asked.slots, contents, strict=True):
            case = self._case(offer, content)
            windows = offer.asked.slots[slot].inputs
            if len(windows) != len(case.inputs):
                what = f"the launcher has {len(windows)} inputs, the reference {len(case.inputs)}"
                raise FindingError(what, where="reference", fix="record it again for these inputs", code="KB453")
            for window, one in zip(windows, case.inputs, strict=True):
                self._windows.write(window, span_of(one))
            offer.slots[slot] = content
        return Filled(tuple(one.seed for one in contents), tuple(_kind(one) for one in contents))

    def compare(self, asked: CompareSlots) -> Compared:
        """Hold the outputs of slots against what was written there last."""
        offer = self._offer(asked.key)
        return Compared(tuple(self._result(offer, slot) for slot in asked.slots))

    def _offer(self, key: str) -> _Offer:
        if key not in self._offers:
            raise FindingError(f"nothing was opened as {key[:80]!r}", where="reference", code="KB453")
        return self._offers[key]

    def _contents(self, offer: _Offer, asked: FillSlots) -> list[_Content]:
        if asked.like:
            return self._like(asked)
        if asked.again:
            return self._pooled(offer, len(asked.slots))
        return [self._drawn(offer, check=asked.check) for _ in asked.slots]

    def _pooled(self, offer: _Offer, count: int) -> list[_Content]:
        """Return contents of the problem's pool in an order that nobody knows, each as rarely as can be."""
        pool = self._pools.setdefault(_problem(offer), [])
        while len(pool) < _POOL:
            pool.append(replace(self._drawn(offer, check=False), pooled=True))
        drawn: list[_Content] = []
        while len(drawn) < count:
            drawn += secrets.SystemRandom().sample(pool, min(_POOL, count - len(drawn)))
        return drawn

    def _like(self, asked: FillSlots) -> list[_Content]:
        held = self._offer(asked.like).slots
        if missing := [slot for slot in asked.slots if slot not in held]:
            raise FindingError(
                f"slots {missing} of {asked.like[:80]!r} were not filled", where="reference", code="KB453"
            )
        return [held[slot] for slot in asked.slots]

    def _drawn(self, offer: _Offer, *, check: bool) -> _Content:
        """Return the next content: of a check each trial in turn, else one whose values are dense, chosen in secret."""
        if not check:
            dense = [one for one in offer.trials if one.dense]
            return _Content(secrets.choice(dense or [RANDOM]), 0, _seed())
        if not offer.queue:
            for trial in offer.trials:
                seed = _seed()
                offer.queue.extend(_Content(trial, part, seed) for part in range(trial.parts))
        return offer.queue.pop(0)

    def _case(self, offer: _Offer, content: _Content) -> Case:
        """Return the inputs of a content: those that are kept, or made from its seed."""
        asked, key = offer.asked, (_problem(offer), content)
        if (kept := self._inputs.find(key)) is not None:
            return kept
        case = Case(offer.module, asked.shape, asked.dtype, content.trial, content.seed, str(self._device), asked.op)
        if content.part:
            case.second()
        if content.trial.parts == 1:  # a case of two runs knows which of them it is at
            self._inputs.keep(key, case, sum(one.nbytes for one in case.inputs))
        return case

    def _result(self, offer: _Offer, slot: int) -> SlotResult:
        content, asked = offer.slots.get(slot), offer.asked
        if content is None:
            return SlotResult(None, f"slot {slot} was not filled")
        case = self._held_case(offer, content)
        outs = []
        for window, view in zip(asked.slots[slot].outputs, asked.outputs, strict=True):
            out = tensor_of(self._windows.read(window), view, case.inputs)
            if isinstance(out, str):
                return SlotResult(None, out)
            outs.append(out)
        result = outs[0] if len(outs) == 1 else tuple(outs)
        found = case.judge(result, limits_of(offer.module, asked.dtype), self._reference(offer, content, case))
        return _slot_result(found, content.trial.name)

    def _held_case(self, offer: _Offer, content: _Content) -> Case:
        """Return the case of a content; of a second run the one whose first run was judged, when it was."""
        key = (offer.asked.key, content.trial.name, content.seed)
        if content.part and key in self._cases:
            case = self._cases.pop(key)
            case.second()
            return case
        case = self._case(offer, content)
        if not content.part and content.trial.parts > 1:
            self._cases = {key: case}
        return case

    def _reference(self, offer: _Offer, content: _Content, case: Case) -> Any:
        """Return the float64 result; kept for the other side of a comparison, or the next use of the pool."""
        key = _problem(offer), content
        wide = self._results.find(key)
        if wide is None:
            before = [one._version for one in case.inputs]  # torch counts writes to a tensor
            wide = case.reference()
            if before != [one._version for one in case.inputs]:
                self._inputs.drop(key)  # a reference that writes to its inputs: made again next time
            self._results.keep(key, wide, _bytes_of(wide))
        elif not content.pooled:
            self._results.drop(key)
            self._inputs.drop(key)
        return wide


def _bytes_of(wide: Any) -> int:
    """Return what a float64 result, or several, take."""
    return sum(one.nbytes for one in (wide if isinstance(wide, tuple) else (wide,)))


def _problem(offer: _Offer) -> _Problem:
    return offer.digest, offer.asked.shape, offer.asked.dtype


def _seed() -> int:
    return secrets.randbelow(2**31)


def _kind(content: _Content) -> str:
    return f"{content.trial.name}, second run" if content.part else content.trial.name


def _slot_result(judgement: Judgement, trial: str) -> SlotResult:
    """Return what was found as an answer; numbers that JSON lacks are null."""
    problem, errors = f"{trial}: {judgement.problem}" if judgement.problem else "", judgement.errors
    if errors is None:
        return SlotResult(None, problem, skipped=judgement.skipped)
    norms = (errors.rel_l2_err, errors.block_err, errors.element_err)
    whole, block, element = (one if math.isfinite(one) else None for one in norms)
    return SlotResult(whole, problem, block, element, judgement.relation_err, judgement.skipped)


def span_of(tensor: Any) -> Any:
    """Return a tensor's bytes as they lie in memory, first to last element: a record counts in its strides."""
    import torch

    if not tensor.numel():
        return torch.empty(0, dtype=torch.uint8, device=tensor.device)
    span = 1 + sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.detach().as_strided((span,), (1,), tensor.storage_offset()).view(torch.uint8)


def tensor_of(raw: Any, view: TensorView, inputs: tuple[Any, ...]) -> Any:
    """Return the tensor that a buffer's bytes hold at a view, on the inputs' device; a sentence when they hold none."""
    import torch

    known = format_of(view.dtype)
    width = next((one.element_size() for one in inputs if one.is_floating_point()), inputs[0].element_size())
    if known is None or not known.torch or view.item_bytes < width:
        return f"the result has elements of {view.dtype}, the problem's have {width} bytes"
    if view.end_bytes > raw.numel():
        return f"the result ends at byte {view.end_bytes} of {raw.numel()}"
    whole = raw.view(getattr(torch, known.torch)).to(inputs[0].device)
    return whole.as_strided(view.shape, view.strides, view.offset)


def said(error: BaseException) -> str:
    """Return an error as one line."""
    if isinstance(error, KoptError):
        return f"{error.what}; {error.fix}" if error.fix else error.what
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def answered(contents: Contents, message: Open | FillSlots | CompareSlots | Close) -> Opened | Filled | Compared:
    """Return the answer to a message; whatever goes wrong is one."""
    try:
        if isinstance(message, Open):
            return contents.open(message)
        if isinstance(message, FillSlots):
            return contents.fill(message)
        if isinstance(message, CompareSlots):
            return contents.compare(message)
        return contents.close(message)
    except Exception as error:  # noqa: BLE001 - whatever a reference or an offer does, this process answers
        kinds: dict[type, type[Opened | Filled | Compared]] = {FillSlots: Filled, CompareSlots: Compared}
        return kinds.get(type(message), Opened)(error=said(error))
