"""Proposers that read what kernel files declare: structural variants first, then the whole tuning space."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kopt_kb.analysis.frameworks import framework_named
from kopt_kb.analysis.rules.categories import CATEGORIES
from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.source_config import configs_of, structure_of
from kopt_kb.launch.kernel.declared import (
    DeclarationError,
    Declared,
    Variant,
    kernel_name,
    packaged_file,
    read_declared,
)
from kopt_kb.launch.kernel.op_options import pinned
from kopt_kb.problem.shapes import parse_shape
from kopt_kb.tuning.proposals import Proposal, ProposerView

__all__ = ["KnobsProposer", "VariantsProposer", "declared_of", "packaged_kernel"]

Spaces = dict[str, tuple[Mapping[str, object], Mapping[str, Sequence[object]]]]


def declared_of(source: bytes) -> Declared | None:
    """Return what a source declares, or None when it declares nothing that can be read."""
    with tempfile.TemporaryDirectory(prefix="kb-declared-") as folder:
        path = Path(folder) / kernel_name(source)
        path.write_bytes(source)
        try:
            return read_declared(path)
        except DeclarationError:
            return None


def packaged_kernel(op: str, framework: str = "Triton", options: Mapping[str, object] | None = None) -> bytes | None:
    """Return the package's own kernel file of an operation in a framework, of these options, or None."""
    known = framework_named(framework or "Triton")
    if known is None or known.kernels is None:
        return None
    path = packaged_file(op, known.kernels)
    return pinned(path.read_bytes(), op, options or {}) if path is not None else None


@dataclass(frozen=True, slots=True)
class VariantsProposer:
    """Offers the structural variants of the incumbent's file, or of the package's kernel when it declares none."""

    name: str = "variants"
    packaged: bool = True

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the untried variant of the most promising category that is not to be avoided."""
        source, declared = self._file(view)
        if declared is None or declared.op != view.op:
            return None
        order = view.known.order(CATEGORIES)
        for variant in sorted(declared.variants, key=lambda each: order.index(each.category)):
            claim = f"{variant.name}: {variant.summary}"
            if variant.category in view.avoid or view.earlier(variant.category, claim) is not None:
                continue
            spaces = _spaces(view, source, declared, variant)
            if source != view.incumbent and len(spaces) < len(view.shapes):
                continue  # another file replaces the incumbent: the variant has to cover every shape
            if spaces:
                expected = f"less time on {', '.join(spaces)}; other shapes keep what they have"
                return Proposal(variant.category, claim, expected, self.name, source, spaces)
        return None

    def _file(self, view: ProposerView) -> tuple[bytes, Declared | None]:
        own = declared_of(view.incumbent) if view.stage == "optimize" else None
        if (own is not None and own.variants) or not (self.packaged and view.is_listed):
            return view.incumbent, own
        other = packaged_kernel(view.op, view.framework, dict(view.options))
        return (other, declared_of(other)) if other is not None else (view.incumbent, own)


def _spaces(view: ProposerView, source: bytes, declared: Declared, variant: Variant) -> Spaces:
    space = dict(declared.tuning_space)
    knobs = {name: space[name] for name in variant.knobs if name in space}
    current = configs_of(source)
    spaces: Spaces = {}
    for shape in view.shapes:
        if variant.applies(declared.op, parse_shape(shape), view.dtype, view.target):
            spaces[shape] = ({**current.get(shape, {}), **dict(variant.config)}, knobs)
    return spaces


@dataclass(frozen=True, slots=True)
class KnobsProposer:
    """Searches the incumbent's whole tuning space once for each structure and start."""

    name: str = "knobs"
    category: str = "launch_configuration"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the sweep of the incumbent's space, unless it was made from where it stands."""
        declared = declared_of(view.incumbent) if view.stage == "optimize" else None
        if declared is None or not declared.tuning_space or self.category in view.avoid:
            return None
        current = configs_of(view.incumbent)
        names = sorted({str(config["VARIANT"]) for config in current.values() if "VARIANT" in config})
        space = _space(view, declared)
        size = math.prod(map(len, space.values()))
        structure = f" of {'/'.join(names)}" if names else ""
        claim = f"search {size} configurations{structure}: {', '.join(space)}"
        if view.earlier(self.category, claim) is not None:
            return None
        spaces: Spaces = {shape: (current.get(shape, {}), space) for shape in view.shapes}
        if not structure_of(view.incumbent):
            raise BadInput("the kernel is empty", where="kernel.py", code="KB432")
        return Proposal(self.category, claim, "less time on some shapes", self.name, view.incumbent, spaces)


def _space(view: ProposerView, declared: Declared) -> dict[str, tuple[object, ...]]:
    """Return the tuning space without knobs that only variants for other targets name: they change nothing here."""
    elsewhere, here = set[str](), set[str]()
    for variant in declared.variants:
        is_here = not (view.target and variant.targets) or view.target in variant.targets
        (here if is_here else elsewhere).update(variant.knobs, dict(variant.config))
    return {knob: values for knob, values in declared.tuning_space if knob in here or knob not in elsewhere}


@dataclass(frozen=True, slots=True)
class PackagedProposer:
    """Offers the package's own kernel of the operation, as it starts, where one in that framework is to be written."""

    name: str = "package"
    category: str = "implementation"

    def propose(self, view: ProposerView) -> Proposal | None:
        """Return the package's kernel once; None when the kernel is there, or the package has none in its framework."""
        framework = framework_named(view.framework)
        if view.stage != "implement" or framework is None or not view.is_listed:
            return None
        source = packaged_kernel(view.op, framework.name, dict(view.options))
        declared = declared_of(source) if source is not None else None
        if source is None or declared is None or declared.op != view.op:
            return None
        claim = f"implement {view.op} in {framework.name}: the package's kernel as it starts"
        if view.earlier(self.category, claim) is not None:
            return None
        return Proposal(self.category, claim, "a correct kernel on every shape", self.name, source)
