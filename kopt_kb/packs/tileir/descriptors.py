"""Which tile accesses may go through a tensor descriptor: what is proven of the source, and what a launch must hold."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from kopt_kb.analysis.ir.source.accesses import Accesses, TileAccess, accesses_of
from kopt_kb.analysis.ir.source.affine import ONE, Affine, Axis, Poly
from kopt_kb.analysis.ir.source.motion import BlockPointer, Known
from kopt_kb.analysis.ir.source.operations import DOTS, REDUCTIONS, SCANS
from kopt_kb.analysis.ir.source.source import language_name
from kopt_kb.packs.tileir.uses import handed_on, shape_of, used_as_numbers

__all__ = ["Descriptor", "DescriptorNeed", "DescriptorRefusal", "Tiles", "tiles_of"]

UNBOUNDED = Poly.number(2**31 - 1)
"""Extent of an axis that no mask bounds: the largest that a descriptor takes, so that it bounds nothing either."""


@dataclass(frozen=True, slots=True)
class DescriptorNeed:
    """What must hold of a launch's arguments.

    Attributes:
        kind: `unit`: the stride is 1. `aligned`: the product is a multiple of 16 bytes. `stride`: that, and not 0.
            `block`: so many lanes are 16 bytes or more. `extent`: it is positive and fits 32 bits. `present`: it is not
            None, since the descriptor is made before the branch that asks.
        pointer: Parameter whose element size counts.
        factors: Parameters multiplied.
        number: Constant factor.
    """

    kind: str
    pointer: str
    factors: tuple[str, ...]
    number: int = 1


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A tile access that may go through a descriptor.

    Attributes:
        access: The load or store.
        pointer: Parameter it points into.
        base: What is added to that parameter's value at the place of creation, in elements.
        shape: Extents, slowest first.
        stride: Stride of the slow axis; that of the fast one is 1.
        sizes: Block shape.
        origins: Block origins.
        transposed: Whether the tile has the fast axis first.
        before: The statement before which it is made.
        guarded: Extents, slowest first, that may be 0 or less: no launch shows them positive.
        needs: What must hold of a launch.
    """

    access: TileAccess
    pointer: str
    base: Poly
    shape: tuple[Poly, Poly]
    stride: Poly
    sizes: tuple[Poly, Poly]
    origins: tuple[Poly, Poly]
    transposed: bool
    before: ast.stmt
    guarded: tuple[bool, bool]
    needs: tuple[DescriptorNeed, ...]


@dataclass(frozen=True, slots=True)
class DescriptorRefusal:
    """A tile access that stays as it is, and why."""

    access: TileAccess
    reason: str


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tile accesses of a kernel.

    Attributes:
        descriptors: Those that may go through a descriptor.
        refusals: Those that stay as they are.
        apart: Parameters whose memory must not be that of what descriptors load: the kernel may write to it.
    """

    descriptors: tuple[Descriptor, ...]
    refusals: tuple[DescriptorRefusal, ...]
    apart: tuple[str, ...]


class _Refused(Exception):
    """An obligation that can't be shown."""


def tiles_of(function: ast.FunctionDef, names: dict[str, str]) -> Tiles:
    """Return what is proven of each tile access of a kernel."""
    accesses = accesses_of(function, names)
    proof = _Proof(function, names, accesses)
    descriptors, refusals = [], []
    for one in accesses.every:
        if _is_vector(one.address):
            continue
        try:
            descriptors.append(proof.descriptor(one))
        except _Refused as error:
            refusals.append(DescriptorRefusal(one, str(error)))
    return Tiles(tuple(descriptors), tuple(refusals), proof.apart())


def _is_vector(address: Affine | BlockPointer | None) -> bool:
    return isinstance(address, Affine) and (address.rank < 2 or len(address.axes) < 2)


@dataclass(frozen=True, slots=True)
class _Side:
    """One axis of a tile: its stride, origin, size and extent."""

    scale: Poly
    origin: Poly
    size: Poly
    extent: Poly


class _Proof:
    """The obligations of one kernel."""

    def __init__(self, function: ast.FunctionDef, names: dict[str, str], accesses: Accesses) -> None:
        arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        self.function = function
        self.names = names
        self.found = accesses
        self.parameters = {one.arg for one in arguments}
        self.numbers = used_as_numbers(function, names)
        pointers = [(one.store, self._pointer(_base(self._settled(one)))) for one in accesses.every]
        self.stores = [one for store, one in pointers if store and one]
        self.stored = set(self.stores)
        self.loaded = {one for store, one in pointers if not store and one}
        self.handed = handed_on(function, names)
        self.unknown_store = any(one.store and not self._pointer(_base(self._settled(one))) for one in accesses.every)

    def descriptor(self, access: TileAccess) -> Descriptor:
        """Return the descriptor of an access; raises `_Refused` with the obligation that can't be shown."""
        place = self._settled(access)
        if place is None:
            raise _Refused("its address is no sum of scalars and index vectors along two axes")
        pointer = self._pointer(_base(place))
        if not pointer:
            raise _Refused("which parameter it points into can't be told")
        self._check_uses(access, pointer)
        sides = self._block_sides(access, place) if isinstance(place, BlockPointer) else self._sides(access, place)
        fast = self._fast(sides)
        slow, quick = sides[1 - fast], sides[fast]
        shape, sizes = (slow.extent, quick.extent), (slow.size, quick.size)
        before, versions, known = self._place(access, [_offset(_base(place), pointer), *shape, slow.scale, *sizes])
        base = self._relative(_base(place), pointer, versions, known)
        needs = self._needs(pointer, _base(place), slow, quick)
        if before is not access.statement and _conditional(before, access.call):
            needs += (DescriptorNeed("present", pointer, ()),)
        extents = tuple(self._extent(pointer, one) for one in shape)
        needs += tuple(one for one in extents if isinstance(one, DescriptorNeed))
        guarded = (extents[0] is True, extents[1] is True)
        return Descriptor(
            access, pointer, base, shape, slow.scale, sizes, (slow.origin, quick.origin), fast == 0, before, guarded,
            needs,
        )  # fmt: skip

    def _extent(self, pointer: str, extent: Poly) -> DescriptorNeed | bool:
        """Return what shows an extent to be positive, or whether the source has to."""
        if extent.constant is not None:
            if extent.constant <= 0:
                raise _Refused("an extent is 0")
            return False
        name = self._parameter(extent.single or "")
        return DescriptorNeed("extent", pointer, (name,)) if name else True

    def _settled(self, access: TileAccess) -> Affine | BlockPointer | None:
        """Return an address whose pointer stands in its base: `p + lanes` reads as lanes that begin at p."""
        address = access.address
        if not isinstance(address, Affine):
            return address
        for at, axis in address.axes:
            if axis.scale == ONE and self._pointer(axis.origin):
                bounds = [one for one in (access.mask.bounds if access.mask else ()) if one.axis == at]
                origin = bounds[0].origin if bounds else Poly()
                axes = tuple((i, replace(one, origin=origin) if i == at else one) for i, one in address.axes)
                return replace(address, base=address.base + axis.origin - origin, axes=axes)
        return address

    def apart(self) -> tuple[str, ...]:
        """Return the parameters through which the kernel writes, or may."""
        writes = self.stored | set(self.handed)
        return tuple(sorted(self.parameters - self.loaded if self.unknown_store or self.handed else writes))

    def _pointer(self, base: Poly) -> str:
        """Return the one parameter that a sum holds by itself and that is no number elsewhere."""
        single = [key[0].partition("|") for key, value in base.terms if len(key) == 1 and value == 1]
        every = {text for text, _, inside in single if inside == f"{text}#0" and text in self.parameters}
        pointers = every - self.numbers
        return next(iter(pointers)) if len(pointers) == 1 else ""

    def _check_uses(self, access: TileAccess, pointer: str) -> None:
        if pointer in self.stored and pointer in self.loaded:
            raise _Refused(
                f"{pointer} is loaded and stored in the kernel; a descriptor's order to plain accesses is its own"
            )
        if pointer in self.handed:
            raise _Refused(f"{pointer} is handed on to {self.handed[pointer]}")
        if access.store and self.stores.count(pointer) > 1:
            raise _Refused(
                f"{pointer} is stored to in several places, and descriptor stores have an order of their own"
            )
        if access.store and self.unknown_store:
            raise _Refused("another store of the kernel goes where nobody can tell")
        if access.mask is not None and access.mask.other:
            raise _Refused(f"its mask tests more than the bounds of the tile: {access.mask.other}")
        given = {one.arg: one.value for one in access.call.keywords}
        other = given.get("other") or next(iter([] if access.store else access.call.args[2:3]), None)
        if other is not None and not (isinstance(other, ast.Constant) and other.value == 0):
            raise _Refused(f"lanes outside get {ast.unparse(other)}, a descriptor gives 0")
        padding = given.get("padding_option")
        if padding is not None and not (isinstance(padding, ast.Constant) and padding.value in {"zero", ""}):
            raise _Refused("lanes outside are padded with something else than 0")
        if "volatile" in given:
            raise _Refused("it is volatile")
        if access.store:
            self._check_value(access)

    def _check_value(self, access: TileAccess) -> None:
        """A descriptor stores a tile of its block's shape; a plain store broadcasts what it is given."""
        value = access.call.args[1] if len(access.call.args) > 1 else None
        shape = shape_of(value, self.function, self.names) if value is not None else None
        address = access.address
        if isinstance(address, BlockPointer):
            sizes = address.sizes
        else:
            sizes = tuple(one.size for _, one in address.axes) if address is not None else ()
        if not shape or [one.text() for one in sizes] != shape:
            raise _Refused("what is stored is not known to have the shape of the block")

    def _sides(self, access: TileAccess, address: Affine) -> tuple[_Side, _Side]:
        axes = dict(address.axes)
        if address.rank != 2 or set(axes) != {0, 1}:
            raise _Refused("the tile has not two axes")
        return self._side(access, 0, axes[0]), self._side(access, 1, axes[1])

    def _side(self, access: TileAccess, at: int, axis: Axis) -> _Side:
        # A mask of one axis alone lies along the last one.
        mask = access.mask
        last = mask is not None and mask.rank == 1
        bounds = [one for one in (mask.bounds if mask else ()) if (1 if last else one.axis) == at]
        extents = {one.limit - one.origin + axis.origin for one in bounds if one.size == axis.size}
        if len(extents) != len({one.limit - one.origin for one in bounds}) or len(extents) > 1:
            raise _Refused(f"axis {at} has bounds that are not one bound of the tile")
        extent = next(iter(extents), UNBOUNDED)
        if axis.wrap is not None:
            if access.store or extents:
                raise _Refused(f"axis {at} wraps around and is masked, or stored")
            self._check_wrap(access, at, axis)
            extent = axis.wrap
        return _Side(axis.scale, axis.origin, axis.size, extent)

    def _check_wrap(self, access: TileAccess, at: int, axis: Axis) -> None:
        """Lanes that wrap around may read 0 instead only if whatever they lead to is masked off where it is stored."""
        reason = f"axis {at} wraps around, and it is not shown that what those lanes give is never stored"
        statement = access.statement
        if not isinstance(statement, ast.Assign) or statement.value is not access.call or len(statement.targets) != 1:
            raise _Refused(reason)
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or not self._only_operand(target.id, at):
            raise _Refused(reason)
        for one in self.found.every:
            bounds = one.mask.bounds if one.store and one.mask and not one.mask.other else ()
            held = any(
                each.axis == at and each.origin == axis.origin and each.limit == axis.wrap and each.size == axis.size
                for each in bounds
            )
            if one.store and not held:
                raise _Refused(reason)

    def _only_operand(self, name: str, at: int) -> bool:
        """Return whether a value is used as one operand of products alone, and nothing in the kernel mixes rows."""
        uses = 0
        for node in ast.walk(self.function):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                uses += 1
            if not isinstance(node, ast.Call):
                continue
            called = language_name(node.func, self.names)
            if called in DOTS and len(node.args) > at and _is_name(node.args[at], name):
                uses -= 1
            elif called in {*REDUCTIONS, *SCANS, "trans", "permute", "reshape", "view", "gather"} or called.startswith(
                "atomic"
            ):
                return False
        return uses == 0

    def _block_sides(self, access: TileAccess, block: BlockPointer) -> tuple[_Side, _Side]:
        given = {one.arg: one.value for one in access.call.keywords}
        checked = given.get("boundary_check") or (access.call.args[2 if access.store else 1 :][:1] or [None])[0]  # type: ignore[list-item]
        if access.store and checked is None:
            raise _Refused("a block pointer is stored through without a boundary check")
        sides = [_Side(block.strides[at], block.offsets[at], block.sizes[at], block.shape[at]) for at in range(2)]
        return sides[0], sides[1]

    def _fast(self, sides: tuple[_Side, _Side]) -> int:
        """Return the axis along which elements are neighbours."""
        ones = [at for at in (0, 1) if sides[at].scale == ONE]
        if ones:
            return ones[-1]
        for at in (1, 0):
            single = sides[at].scale.single
            if single is not None and self._parameter(single):
                return at
        raise _Refused("no axis has a stride of 1, or one that a launch could show to be 1")

    def _parameter(self, name: str) -> str:
        """Return the parameter that a name still is, or nothing."""
        text, _, inside = name.partition("|")
        return text if text in self.parameters and inside == f"{text}#0" else ""

    def _place(self, access: TileAccess, parts: list[Poly]) -> tuple[ast.stmt, dict[str, int], dict[str, Known]]:
        """Return the place before all loops at which all parts have the values they have at the access."""
        needed = {each for one in parts for each in one.names()}
        for node, versions, known in access.loops[:1]:
            if all(versions.get(name) == version for name, version in needed):
                return node, versions, known
            raise _Refused("its descriptor would be made in a loop, which Triton then can't pipeline")
        if not all(access.versions.get(name) == version for name, version in needed):
            late = sorted(name for name, version in needed if access.versions.get(name) != version)
            raise _Refused(f"{', '.join(late)} has another value by then")
        return access.statement, access.versions, access.pointers

    def _relative(self, base: Poly, pointer: str, versions: dict[str, int], known: dict[str, Known]) -> Poly:
        """Return what is to be added to the pointer's name as it is at the place."""
        now = known.get(pointer)
        if not isinstance(now, Affine) or now.axes:
            raise _Refused(f"{pointer} is no plain pointer where the descriptor would be made")
        offset = base - now.base
        if any(versions.get(name) != version for name, version in offset.names()):
            raise _Refused(f"the offset of {pointer} is not known where the descriptor would be made")
        return offset

    def _needs(self, pointer: str, base: Poly, slow: _Side, quick: _Side) -> tuple[DescriptorNeed, ...]:
        needs = []
        if quick.scale != ONE:
            needs.append(DescriptorNeed("unit", pointer, (self._parameter(quick.scale.single or ""),)))
        for what, kind in ((_offset(base, pointer), "aligned"), (slow.scale, "stride"), (quick.origin, "aligned")):
            needs += [self._aligned(kind, pointer, key, value, quick) for key, value in what.terms]
        factors, number = self._factors(quick.size)
        needs.append(DescriptorNeed("block", pointer, factors, number))
        return tuple(dict.fromkeys(needs))

    def _aligned(self, kind: str, pointer: str, key: tuple[str, ...], value: int, quick: _Side) -> DescriptorNeed:
        rest = list(key)
        if quick.scale.single in rest:
            rest.remove(quick.scale.single or "")  # it is 1
        factors: list[str] = []
        for one in rest:
            divisor = self.found.divisors.get(one)
            if self._parameter(one):
                factors.append(self._parameter(one))
            elif divisor is not None and len(divisor.terms) == 1:
                more, number = divisor.terms[0]
                factors += [name for each in more if (name := self._parameter(each))]
                value *= number
        if not factors and value % 2:
            shown = Poly.of({key: value}).text()
            raise _Refused(f"nothing shows that {shown} elements are a multiple of 16 bytes")
        return DescriptorNeed(kind, pointer, tuple(sorted(factors)), abs(value))

    def _factors(self, size: Poly) -> tuple[tuple[str, ...], int]:
        if len(size.terms) != 1:
            raise _Refused(f"the block size {size.text()} is no product of parameters")
        key, number = size.terms[0]
        names = tuple(self._parameter(one) for one in key)
        if not all(names):
            raise _Refused(f"the block size {size.text()} is no product of parameters")
        return names, number


def _conditional(place: ast.stmt, call: ast.Call) -> bool:
    """Return whether a branch below a place decides if a call is reached: its pointer may be None then."""
    branches = [one for one in ast.walk(place) if isinstance(one, ast.If | ast.IfExp)]
    return any(each is call for one in branches for each in ast.walk(one))


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _base(address: Affine | BlockPointer | None) -> Poly:
    return address.target.base if isinstance(address, BlockPointer) else address.base if address is not None else Poly()


def _offset(base: Poly, pointer: str) -> Poly:
    """Return a base less the pointer itself."""
    return Poly(tuple((key, value) for key, value in base.terms if key != (f"{pointer}|{pointer}#0",)))
