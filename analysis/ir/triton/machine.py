"""Runs straight-line IR for many programs at once; control flow lives in `control`."""

from __future__ import annotations

from typing import cast

import numpy as np

from kopt_kb.analysis.ir.triton.access import keep, known_contents, run_access, shape_access
from kopt_kb.analysis.ir.triton.arguments import Binding
from kopt_kb.analysis.ir.triton.budget import CountBudget
from kopt_kb.analysis.ir.triton.contractions import record_dot, record_reduce, record_scan
from kopt_kb.analysis.ir.triton.control import CONTROL
from kopt_kb.analysis.ir.triton.costs import op_cost
from kopt_kb.analysis.ir.triton.demand import Tape
from kopt_kb.analysis.ir.triton.folding import fold_reduce, fold_scan
from kopt_kb.analysis.ir.triton.gluon import OPAQUE, STORE
from kopt_kb.analysis.ir.triton.integers import evaluate_elementwise, numpy_type
from kopt_kb.analysis.ir.triton.irtypes import IrType
from kopt_kb.analysis.ir.triton.model import Block, Function, IrError, Op
from kopt_kb.analysis.ir.triton.plan import CountPlan, IrAccess, accesses
from kopt_kb.analysis.ir.triton.shifted import TooDenseError, evaluate_shifted, merged, parts
from kopt_kb.analysis.ir.triton.structure import MOVES, forward
from kopt_kb.analysis.ir.triton.tally import LOWER, IrTally
from kopt_kb.analysis.ir.triton.values import (
    Array,
    BlockView,
    Bools,
    Node,
    Shifted,
    Value,
    expand,
    merge_arrays,
    shape_of,
)

__all__ = ["Machine"]

_AXES = ("x", "y", "z")
_MIXED = ("tt.gather", "tt.histogram", "tt.map_elementwise", "tt.elementwise_inline_asm")
_TERMINATORS = ("scf.yield", "scf.condition", "tt.return", "cf.br", "cf.cond_br", "tt.reduce.return", "tt.scan.return")


class Machine:
    """The state of a batch of programs: their values, their tally and the tape of unevaluated work.

    Args:
        plan: Static facts of the kernel.
        binding: Its arguments.
        grid: Programs along x, y and z.
        ids: Linear program numbers of this batch, or None when no needed value depends on them; then one
            row of values stands for all programs.
        budget: What may still be evaluated, shared between batches.
        most_dense: Elements of a value that may differ both between programs and between lanes; None: any number,
            and no value is kept as a shift of lanes.
    """

    def __init__(
        self, plan: CountPlan, binding: Binding, grid: tuple[int, int, int], ids: Array | None,
        budget: CountBudget, most_dense: int | None = None,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.binding = binding
        self.grid = grid
        self.ids = ids
        self.programs = 1 if ids is None else len(ids)
        self.tally = IrTally()
        self.tape = Tape(plan.module, self.tally, self.programs)
        self.env: dict[int, Value] = {}
        self.exact = plan.mode == "exact"
        self._budget, self.most_dense = budget, most_dense
        self._accesses: dict[int, IrAccess | None] = {}

    def fail(self, op: Op, what: str, fix: str) -> IrError:
        """An error at an operation's line."""
        return IrError(what, where=f"{self.plan.module.file}:{op.line}", fix=fix)

    def get(self, value: int) -> Value:
        """A value's current content; an unevaluated node when nothing computed it."""
        found = self.env.get(value)
        return Node(shape_of(self.plan.module.types[value])) if found is None else found

    def type_of(self, value: int) -> IrType:
        """A value's IR type."""
        return self.plan.module.types[value]

    def itemsize(self, op: Op) -> int:
        """Bytes of one element a memory operation moves."""
        return self.type_of(op.operands[0]).itemsize_bytes

    def dense(self, value: Value, kind: IrType) -> Value:
        """A value as the evaluator's arrays; `TooDenseError` when that is too much at once."""
        if not isinstance(value, Shifted):
            return value
        self.room(value.size)
        return value.dense(numpy_type(kind) or np.int64)

    def room(self, elements: int) -> None:
        """Refuse a value of so many elements, program by program and lane by lane."""
        if self.most_dense is not None and elements > self.most_dense:
            raise TooDenseError

    def spend(self, lane_count: int) -> None:
        """Charge evaluated memory lanes to the budget; `IrError` when it is spent."""
        self._budget.spend(lane_count)

    def check_bounds(self, op: Op, starts: Array, ends: Array) -> None:
        """Note an access that leaves the only tensor its pointer can come from."""
        roots = self.plan.roots.get(op.operands[0], frozenset())
        if len(roots) != 1 or starts.size == 0:
            return
        (root,) = roots
        tensor = self.binding.tensors.get(root)
        if tensor is None:
            return
        low = self.binding.bases[root]
        if starts.min() < low or ends.max() > low + tensor.span_bytes():
            self.tally.note(op.line, f"{op.name} reaches outside its tensor")

    def bind_parameters(self, kernel: Function) -> None:
        """Give the kernel's parameters their values."""
        for index, value in enumerate(kernel.parameters):
            kind = self.type_of(value)
            if index in self.binding.bases:
                self.env[value] = self._tensor_value(index, kind)
            elif kind.is_float:
                self.env[value] = Node()
            elif index in self.binding.scalars:
                width = numpy_type(kind)
                number = np.asarray([int(self.binding.scalars[index])], np.int64)
                self.env[value] = number.astype(width or np.int64)
            elif value in self.plan.required:
                name = kernel.parameter_names[index]
                raise IrError(
                    f"argument {index} (%{name}) is needed: addresses, masks or trip counts depend on it",
                    where=f"{self.plan.module.file}:{kernel.line}",
                    fix=f"give args[{index}] or args[{name!r}]",
                    code="KB042",
                )

    def _tensor_value(self, index: int, kind: IrType) -> Value:
        base: Array = np.asarray([self.binding.bases[index]], np.int64)
        if kind.kind == "pointer":
            return base
        tensor = self.binding.tensors.get(index)
        if tensor is None:
            return Node()
        rank = len(tensor.shape)
        extents = tuple(np.asarray([n], np.int64) for n in tensor.shape)
        strides = tuple(np.asarray([n], np.int64) for n in tensor.element_strides())
        zeros = tuple(np.zeros(1, np.int64) for _ in range(rank))
        block = (1,) * (rank - len(kind.shape)) + kind.shape
        return BlockView(base, extents, strides, zeros, block, kind.itemsize_bytes)

    def run_block(self, block: Block, weight: Array) -> Op | None:
        """Run a block's operations `weight[p]` times in program p; returns its terminator."""
        self._budget.watch()
        summary = self.plan.summary(block)
        times = int(weight.sum())
        if times:
            self.tally.add_cost("executed", summary.cost, times)
            for op in summary.uncounted:
                self._uncounted(op)
            if not self.exact:
                for access in summary.accesses:
                    shape_access(self, access, times)
        for op in summary.walked:
            if op.name not in _TERMINATORS:
                self.run_op(op, weight)
        return block.ops[-1] if block.ops and block.ops[-1].name in _TERMINATORS else None

    def _uncounted(self, op: Op) -> None:
        self.tally.note(op.line, "inline assembly: its operations are not counted")
        kind = self.type_of(op.results[0])
        if kind.is_float:
            self.tally.add(("executed", "flops", kind.dtype, "vector"), 0, LOWER)
            self.tally.add(("useful", "flops", kind.dtype, "vector"), 0, LOWER)

    def run_op(self, op: Op, weight: Array) -> None:
        """Run one operation."""
        handler = CONTROL.get(op.name)
        if handler is not None:
            handler(self, op, weight)
            return
        if op.regions and op.name not in ("tt.reduce", "tt.scan", "tt.map_elementwise"):
            raise self.fail(op, f"{op.name} is not supported", "report the kernel; structured loops and ifs are")
        if op.name == STORE:
            keep(self, op, weight)
            return
        if self.exact:
            key = id(op)
            if key not in self._accesses:
                self._accesses[key] = accesses(op, self.plan.module)
            access = self._accesses[key]
            if access is not None:
                run_access(self, op, weight, access)
                return
        for result, value in zip(op.results, self._compute(op), strict=True):
            self.env[result] = value

    def _compute(self, op: Op) -> list[Value]:
        if not op.results:
            return []
        source = self._source(op)
        if source is not None:
            return [source]
        values = [self.get(value) for value in op.operands]
        known = known_contents(self, op, values)
        if known is not None:
            return [known]
        if op.name.startswith(("tt.make_tensor", "tt.advance")):
            return [self._view(op, values)]
        whole = [value for value in values if isinstance(value, np.ndarray | Shifted)]
        if len(whole) == len(values) and not self.plan.needed.isdisjoint(op.results):
            found = self._evaluated(op, whole)
            if found is not None:
                return found
        if not self.exact:
            return [Node(shape_of(self.type_of(value))) for value in op.results]
        return list(self._unevaluated(op, values))

    def _source(self, op: Op) -> Value | None:
        """Values that come from nowhere: constants, program ids, ranges."""
        kind = self.type_of(op.results[0])
        if op.name == OPAQUE:
            return Node(shape_of(kind), leaf=True)
        if op.name == "arith.constant":
            return _constant(op, kind)
        if op.name == "tt.get_program_id":
            return self._program_id(_AXES.index(op.detail["axis"]))
        if op.name == "tt.get_num_programs":
            return np.asarray([self.grid[_AXES.index(op.detail["axis"])]], np.int32)
        if op.name == "tt.make_range":
            return np.arange(op.integer("start"), op.integer("end"), dtype=np.int32).reshape(1, -1)
        return None

    def _program_id(self, axis: int) -> Value:
        if self.ids is None:
            return Node()
        below = int(np.prod(self.grid[:axis], dtype=np.int64))
        return (self.ids.astype(np.int64) // below % self.grid[axis]).astype(np.int32)

    def _view(self, op: Op, values: list[Value]) -> Value:
        if any(isinstance(value, Node) for value in values):
            return Node()
        if op.name == "tt.advance":
            return cast(BlockView, values[0]).moved([cast(Array, value) for value in values[1:]])
        kind = self.type_of(op.results[0])
        rank = (len(values) - 1) // (3 if op.name == "tt.make_tensor_ptr" else 2)
        fields = [cast(Array, value) for value in values]
        offsets = tuple(fields[1 + 2 * rank :]) or tuple(np.zeros(1, np.int64) for _ in range(rank))
        extents, strides = tuple(fields[1 : 1 + rank]), tuple(fields[1 + rank : 1 + 2 * rank])
        return BlockView(fields[0], extents, strides, offsets[:rank], kind.shape, kind.itemsize_bytes)

    def _evaluated(self, op: Op, values: list[Array | Shifted]) -> list[Value] | None:
        kinds = [self.type_of(value) for value in op.operands]
        if self.most_dense is not None and len(op.results) == 1:
            found = evaluate_shifted(op, kinds, self.type_of(op.results[0]), values)
            if found is not None:
                return [found]
            dims = shape_of(self.type_of(op.results[0]))
            programs = max((value.shape[0] for value in values if isinstance(value, np.ndarray)), default=1)
            varied = [value.size // value.shape[0] for value in values if isinstance(value, np.ndarray)]
            self.room(programs * max(varied, default=1) if dims else 0)
        arrays = [cast(Array, self.dense(value, kind)) for value, kind in zip(values, kinds, strict=True)]
        made = self._evaluate(op, kinds, arrays)
        return None if made is None else list(made)

    def _evaluate(self, op: Op, kinds: list[IrType], values: list[Array]) -> list[Array] | None:
        result = self.type_of(op.results[0])
        if op.name in MOVES:
            return forward(op, kinds, result, values)
        if op.name == "arith.select":
            rank = max(values[1].ndim, values[2].ndim) - 1
            condition = values[0] if values[0].ndim == rank + 1 else expand(values[0], rank)
            return [np.where(condition, values[1], values[2])]
        if op.name == "tt.reduce" and len(values) == 1:
            return fold_reduce(op, self.plan.module, kinds[0], values[0])
        if op.name == "tt.scan" and len(values) == 1:
            return fold_scan(op, self.plan.module, kinds[0], values[0])
        found = evaluate_elementwise(op, kinds, result, values)
        return None if found is None else [found]

    def _unevaluated(self, op: Op, values: list[Value]) -> list[Node]:
        tape, results = self.tape, [self.type_of(value) for value in op.results]
        if op.name in MOVES:
            return self._moved(op, values, results)
        if op.name == "arith.select" and isinstance(values[0], np.ndarray):
            return [tape.select(op.line, values[0].astype(np.bool_), values[1], values[2], results[0])]
        if op.name in ("tt.dot", "tt.dot_scaled"):
            return [record_dot(tape, op, values, results[0])]
        if op.name == "tt.reduce":
            return record_reduce(tape, op, values, results)
        if op.name == "tt.scan":
            return record_scan(tape, op, values, results)
        if op.name in _MIXED or len(results) != 1 or any(isinstance(value, BlockView) for value in values):
            return tape.everything(op, values, results, op_cost(op, self.plan.module))
        node = tape.elementwise(op, values, results[0])
        if op.name == "arith.andi":
            masks = [value.may if isinstance(value, Node) else np.asarray(value, np.bool_) for value in values
                     if not isinstance(value, BlockView)]  # fmt: skip
            known = [mask for mask in masks if mask is not None] if results[0].bits == 1 else []
            node.may = known[0] if len(known) == 1 else (known[0] & known[1] if known else None)
        return [node]

    def _moved(self, op: Op, values: list[Value], results: list[IrType]) -> list[Node]:
        nodes = self.tape.move(op, values, results)
        first = values[0]
        if len(values) == 1 and isinstance(first, Node) and first.may is not None:
            kinds = [self.type_of(op.operands[0])]
            moved = forward(op, kinds, results[0], [first.may])
            for node, may in zip(nodes, moved, strict=True):
                node.may = np.asarray(may, np.bool_)
        return nodes

    def merge(self, choose: Bools, one: Value, two: Value, kind: IrType) -> Value:
        """`one` in programs where `choose` holds, `two` elsewhere."""
        if one is two or bool(choose.all()):
            return one
        if isinstance(one, np.ndarray | Shifted) and isinstance(two, np.ndarray | Shifted):
            return self._merged(choose, one, two, kind)
        if isinstance(one, BlockView) and isinstance(two, BlockView):
            return one.merged(choose, two)
        return self.tape.merge(choose, one, two, shape_of(kind)) if self.exact else Node(shape_of(kind))

    def _merged(self, choose: Bools, one: Array | Shifted, two: Array | Shifted, kind: IrType) -> Value:
        if isinstance(one, Shifted) or isinstance(two, Shifted):
            first, second = parts(one), parts(two)
            if first is not None and second is not None:
                return merged(choose, first, second)
        arrays = [self.dense(value, kind) for value in (one, two)]
        return merge_arrays(choose, cast(Array, arrays[0]), cast(Array, arrays[1]))


def _constant(op: Op, kind: IrType) -> Value:
    rank = len(kind.shape)
    literal = op.literal
    if kind.is_float or literal is None:
        value = float(literal) if isinstance(literal, int | float) else None
        return Node(shape_of(kind), const=value, leaf=True)
    array = np.asarray(literal, dtype=np.int64) if not isinstance(literal, bool) else np.asarray(literal)
    shaped = array.reshape(1, *(array.shape if array.ndim else (1,) * rank))
    width = numpy_type(kind)
    return shaped.astype(width if width is not None else np.int64)
