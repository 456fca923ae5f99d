"""TTGIR text, all the IR that Gluon kernels have, read as the operations of Triton IR that a count follows.

Layouts say nothing about work, so that a change of layout is the value itself. What moves through shared or tensor
memory is followed by its operation alone: a copy from global memory is a load whose result is dropped, a product of two
buffers is a product, a value that is stored in a buffer is needed in all its lanes. Barriers, fences and waits count
nothing. Each role of `ttg.warp_specialize` is a region that runs once a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.lines import IrLine, cut_braces
from kopt_kb.analysis.ir.triton.model import Block, Op, Region
from kopt_kb.analysis.ir.triton.parser import IrParser, IrScope

__all__ = ["OPAQUE", "STORE", "TtgirParser", "is_ttgir"]

_ALIASES = (
    "ttg.convert_layout", "ttng.warp_group_dot_wait", "ttg.memdesc_reinterpret_layout", "tt.bitcast_layout",
    "ttg.set_layout", "gluon.set_auto_layout",
)  # fmt: skip
_COPIES_IN = {
    "ttng.async_tma_copy_global_to_local": "tt.descriptor_load", "ttng.async_tma_gather": "tt.descriptor_gather",
}  # fmt: skip
_COPIES_OUT = {
    "ttng.async_tma_copy_local_to_global": "tt.descriptor_store", "ttng.async_tma_scatter": "tt.descriptor_scatter",
    "ttng.async_tma_reduce": "tt.descriptor_reduce",
}  # fmt: skip
_VIEWS = {"ttg.memdesc_trans": "tt.trans", "ttg.memdesc_reshape": "tt.reshape"}
_STORES = ("ttg.local_store", "ttng.tmem_store")
_ALLOCATIONS = ("ttg.local_alloc", "ttng.tmem_alloc")
_PRECISION = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
"""Of products of fp32, in the order of Triton's enumeration."""
OPAQUE, STORE = "ttg.opaque", "ttg.local_store"
"""Operations that this reader leaves: a value that nobody knows, and a value that is needed in all its lanes."""
_WORK = re.compile(r"global|buffer_|tdm|gather|scatter|mma|_dot$|_reduce$")
"""In names of operations that move bytes or multiply: those that are not known may not count as nothing."""
_TYPED = re.compile(r"(?:^|\s):\s")
_TOKENS = re.compile(r"(%[\w$.-]+)\[[^\]]*\]")
_LAYOUT = re.compile(r"#[\w.]+<[^<>]*>")
_LAYOUT_NAME = re.compile(r",\s*#[\w.]+(?=\s*[,>])")
_PARTITION = re.compile(r"^partition\d+\((.*?)\)\s*(?:num_warps\(\d+\)\s*)?\{$")
_BRACKETS = re.compile(r"%[\w$.-]+(?:#\d+)?\[([^\]]*)\]")
_DIALECTS = ("ttg.", "ttng.", "amdg.", "amdgpu.", "nvg.", "gluon.")


def is_ttgir(text: str) -> bool:
    """Return whether IR text is of the stage that has layouts and numbers of warps."""
    return '"ttg.num-warps"' in text


def _bare(line: IrLine) -> IrLine:
    """Return a line without layouts."""
    text, before = line.text, ""
    while text != before:
        text, before = _LAYOUT.sub("#l", text), text
    return replace(line, text=_LAYOUT_NAME.sub("", _LAYOUT_NAME.sub("", text)))


class TtgirParser(IrParser):
    """Reads TTGIR; what has no meaning for a count leaves no operation."""

    def next(self) -> IrLine:
        """Return the next line without layouts."""
        return _bare(super().next())

    def operations(self, scope: IrScope, line: IrLine) -> Sequence[Op]:
        """Return the operations of a line."""
        name, rest, result_text = self.parts(line)
        if name == "ttg.warp_specialize":
            return [self._roles(scope, line, rest, result_text)]
        if not name.startswith(_DIALECTS):
            return super().operations(scope, line)
        return self._gpu(scope, line, name, rest, result_text)

    def _gpu(self, scope: IrScope, line: IrLine, name: str, rest: str, result_text: str) -> Sequence[Op]:
        reader = next((read for names, read in _READERS if name in names), None)
        if reader is not None:
            return reader(self, scope, line, name, rest, result_text)
        if _WORK.search(name):
            raise self.fail(line, f"{name} is not counted yet", "take the closed form: kb roofline --op OP")
        if result_text and not _TYPED.search(cut_braces(rest)[0]):  # a token: its type goes without saying
            token = IrType("other", "!ttg.async.token")
            return self._opaque(Op(name, line.number, (), self.results(scope, result_text, [token])))
        op = self.plain(scope, line, name, rest, result_text)
        if name in _STORES or (name in _ALLOCATIONS and op.operands):
            return [Op(STORE, op.line, op.operands[:1], ()), *self._opaque(op)]
        if name in _VIEWS:
            return [replace(op, name=_VIEWS[name])]
        return self._opaque(op)

    def _end(self, scope: IrScope, line: IrLine, _name: str, rest: str, _results: str) -> Sequence[Op]:
        return [Op("scf.yield", line.number, self.uses(scope, rest.partition(" : ")[0], line), ())]

    def _alias(self, scope: IrScope, line: IrLine, _name: str, rest: str, result_text: str) -> Sequence[Op]:
        """Give values further names."""
        values = self.uses(scope, cut_braces(rest)[0].partition(" : ")[0], line)
        name, _, count = result_text.strip().partition(":")
        names = [one.strip().partition(":")[0] for one in result_text.split(",")]
        if count and "," not in result_text:
            scope.names[name] = values[: int(count)]
            return ()
        for one, value in zip(names, values, strict=False):
            scope.names[one] = (value,)
        return ()

    def _hidden(self, line: IrLine, kind: IrType) -> int:
        """Return a value that no name leads to."""
        self.types.append(replace(kind, kind="tensor"))
        self.names.append(f"%{line.number}")
        return len(self.types) - 1

    def _guarded(self, ops: tuple[Op, ...], condition: int | None) -> list[Op]:
        if condition is None:
            return list(ops)
        region = Region((Block("bb0", (), ops),))
        return [Op("scf.if", ops[0].line, (condition,), (), regions=(region,))]

    def _copy_in(self, scope: IrScope, line: IrLine, name: str, rest: str, _results: str) -> Sequence[Op]:
        """Read a copy `%desc[%i, %j] %buffer, %barrier, %predicate`."""
        head = cut_braces(rest)[0].partition(" : ")[0]
        place = _BRACKETS.match(head.strip())
        if place is None:
            raise self.fail(line, f"{name} in a form this reader does not know")
        operands = self.uses(scope, head.strip()[: place.end()], line)
        buffer, *more = self.uses(scope, head.strip()[place.end() :], line)
        load = Op(
            _COPIES_IN[name], line.number, operands, (self._hidden(line, self.types[buffer]),), {"shared": "unit"}
        )
        return self._guarded((load,), more[-1] if len(more) > 1 else None)

    def _copy_out(self, scope: IrScope, line: IrLine, name: str, rest: str, _results: str) -> Sequence[Op]:
        head = cut_braces(rest)[0].partition(" : ")[0]
        detail = {"kind": head.partition(",")[0].partition("%")[0].strip()}
        return [Op(_COPIES_OUT[name], line.number, self.uses(scope, head, line), (), {"shared": "unit"}, detail)]

    def _pointer_copy(self, scope: IrScope, line: IrLine, _name: str, rest: str, result_text: str) -> Sequence[Op]:
        """Read a copy `%pointers, %buffer mask %mask other %other`."""
        head = cut_braces(rest)[0].partition(" : ")[0]
        pointer, buffer, *more = self.uses(scope, head, line)
        op = Op("tt.load", line.number, (pointer, *more), (self._hidden(line, self.types[buffer]),), {"shared": "unit"})
        if result_text:
            self.define(scope, result_text.strip(), [IrType("other", "!ttg.async.token")])
        return [op]

    def _buffer(self, scope: IrScope, line: IrLine, name: str, rest: str, result_text: str) -> Sequence[Op]:
        """Read a load `%base[%offsets], %mask, %other` or a store of a value before it, as pointers made of offsets."""
        head, _, kind = cut_braces(rest)[0].rpartition(" : ")
        head = head.partition(" stride = ")[0]
        values = self.uses(scope, head, line)
        stored, (base, offsets, *rest_of) = values[:1] * name.endswith("store"), values[name.endswith("store") :]
        pointers = replace(self.types[offsets], element=self.types[base].element, of_pointers=True)
        everywhere, at = self._hidden(line, pointers), self._hidden(line, pointers)
        made = [
            Op("tt.splat", line.number, (base,), (everywhere,)),
            Op("tt.addptr", line.number, (everywhere, offsets), (at,)),
        ]
        results = self.results(scope, result_text, [self.read_type(kind, line)])
        return [*made, Op(f"tt.{name[12:]}", line.number, (at, *stored, *rest_of), results)]

    def _scaled_product(self, scope: IrScope, line: IrLine, name: str, rest: str, result_text: str) -> Sequence[Op]:
        """Read a product of two buffers with their scales: `%a, %b, %d[], %a_scale, %b_scale, %use, %predicate`."""
        op = self.plain(scope, line, name, _TOKENS.sub(r"\1", rest), result_text)
        elements = dict(re.findall(r"\b(lhs|rhs)\s*=\s*(\w+)", rest))
        left, right, kept, left_scale, right_scale, _, predicate, *_ = op.operands
        out = self._hidden(line, self.types[kept])
        detail = {**elements, "a_scaled": "True", "b_scaled": "True"}
        dot = Op("tt.dot_scaled", op.line, (left, left_scale, right, right_scale, kept), (out,), op.attributes, detail)
        return [*self._opaque(op), *self._guarded((dot, Op(STORE, op.line, (out,), ())), predicate)]

    def _product(self, scope: IrScope, line: IrLine, name: str, rest: str, result_text: str) -> Sequence[Op]:
        """Read a product of two buffers, or of a tensor and a buffer, onto a tensor or onto tensor memory."""
        op = self.plain(scope, line, name, _TOKENS.sub(r"\1", rest), result_text)
        order = int(op.attributes.get("inputPrecision", "2").partition(":")[0])
        detail = {"precision": _PRECISION[order]}
        if name == "ttng.warp_group_dot":
            return [replace(op, name="tt.dot", operands=op.operands[:3], detail=detail)]
        out = self._hidden(line, self.types[op.operands[2]])
        dot = Op("tt.dot", op.line, op.operands[:3], (out,), op.attributes, detail)
        kept = Op(STORE, op.line, (out,), ())
        return [*self._opaque(op), *self._guarded((dot, kept), op.operands[4])]

    def _opaque(self, op: Op) -> list[Op]:
        """Return results that nobody knows and that no count needs: tokens, buffers, what is read from one."""
        return [replace(op, name=OPAQUE, operands=(), results=(one,)) for one in op.results]

    def _roles(self, scope: IrScope, line: IrLine, rest: str, result_text: str) -> Op:
        """Read all roles; the default one sees the names around it, the others only their parameters."""
        operands = self.uses(scope, rest.partition(")")[0], line)
        head = self.next()
        if not head.text.startswith("default"):
            raise self.fail(head, "ttg.warp_specialize without its default role")
        region, end = self.region(scope)
        regions = [region]
        while (match := _PARTITION.match(self.peek())) is not None:
            self.next()
            inner = IrScope(scope)
            parameters = self.typed_names(inner, match.group(1), line)
            region, end = self.region(inner, parameters)
            regions.append(region)
        types = self.read_types(end.text.rpartition("→")[2], end) if result_text else []
        values = self.results(scope, result_text, types)
        return Op("ttg.warp_specialize", line.number, operands, values, regions=tuple(regions))

    def peek(self) -> str:
        """Return the next line's text, which is then still the next."""
        return _bare(self.lines[self.at]).text if self.at < len(self.lines) else ""


_Reader = Callable[[TtgirParser, IrScope, IrLine, str, str, str], Sequence[Op]]
_READERS: tuple[tuple[Collection[str], _Reader], ...] = (
    (("ttg.warp_return", "ttg.warp_yield"), TtgirParser._end),
    (_ALIASES, TtgirParser._alias),
    (_COPIES_IN, TtgirParser._copy_in),
    (_COPIES_OUT, TtgirParser._copy_out),
    (("ttg.async_copy_global_to_local",), TtgirParser._pointer_copy),
    (("amdg.buffer_load", "amdg.buffer_store"), TtgirParser._buffer),
    (("ttng.tc_gen5_mma_scaled",), TtgirParser._scaled_product),
    (("ttng.warp_group_dot", "ttng.tc_gen5_mma"), TtgirParser._product),
)
