"""What `kb table check` and `kb table tune` both need: a table, its engine and product, a layer, judges, one folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.counts.device_facts import device_facts
from kopt_kb.launch.judge.device import DeviceJudging
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.packs.tables.bouts import Bouts, Layer, TableJudge
from kopt_kb.packs.tables.devices import DeviceNames
from kopt_kb.packs.tables.engine import TableEngine, find_engine
from kopt_kb.packs.tables.moe_launch import Assumed, check_layer
from kopt_kb.packs.tables.routing import read_routing
from kopt_kb.problem.trials import RANDOM
from kopt_kb.problem.tuned_table import TunedTable, read_tuned_table
from kopt_kb.sandbox.owned import owned_folder
from kopt_kb.wiki.registry import Platform, Registry

__all__ = ["LayerAsked", "TableSession", "session", "tokens_of"]

_FORM = "fused-moe"
_MOST_TOKENS = 1 << 20
_MOST_EXTENT = 1 << 20
_ACTIVATIONS = {"bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True, slots=True)
class LayerAsked:
    """What a user gives besides.

    Attributes:
        file: The table.
        engine: Folder or package of the program that reads it.
        platform: Product; empty: the table's.
        hidden: Depth of the first product.
        top_k: Experts of a token.
        activation: bf16 or fp16.
        routing: How tokens fall on experts.
        threshold_pct: Least gain that counts.
        makers: Recorders side by side; 0: as many as there are cores.
    """

    file: str
    engine: str
    hidden: int
    top_k: int
    platform: str = ""
    activation: str = "bf16"
    routing: str = "balanced"
    threshold_pct: float = 0.0
    makers: int = 0


@dataclass(frozen=True, slots=True)
class TableSession:
    """Everything that is settled before a device is asked."""

    path: Path
    layer: Layer
    engine: TableEngine
    platform: Platform
    threshold: float
    makers: int

    @property
    def table(self) -> TunedTable:
        """The table."""
        return self.layer.table

    @property
    def target(self) -> str:
        """Target of its product."""
        return str(self.platform.identity.target)

    @contextmanager
    def bouts(
        self, registry: Registry, tell: Callable[[str], None], judge: TableJudge | None = None
    ) -> Iterator[Bouts]:
        """Yield what records and judges; the device is asked first.

        Raises:
            MissingTool: No GPU, or what drives it is not installed.
            BadInput: The GPU is another product than the table's.
        """
        judging = judge or DeviceJudging(trials=(RANDOM.name,))
        try:
            _same_product(judging.machine().name, self.platform, registry)
            identity = self.platform.identity
            target = RecordTarget(identity.target, identity.platform, device_facts(self.platform))
            with owned_folder("kb-table-") as folder:
                made = Bouts(self.layer, target, judging, folder, self.threshold, self.makers, tell)
                with made:
                    yield made
        finally:
            judging.close()


def session(asked: LayerAsked, registry: Registry) -> TableSession:
    """Return what is settled: the table is read, its engine found, its product resolved.

    Raises:
        BadInput: The table is of another form, its name leads out of its folder, or it can't be told whose it is.
        MissingTool: The engine is not installed.
    """
    path = Path(asked.file)
    if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
        what = f"leads out of its folder, to {path.resolve()}"
        raise BadInput(what, where=asked.file, fix="name that file", code="KB103")
    table = read_tuned_table(path)
    if table.form != _FORM or table.kernel != "fused_moe":
        what = f"is a table of {table.kernel or table.form}, and rows of fused MoE's Triton kernel alone are timed"
        raise BadInput(what, where=asked.file, fix="see kb table audit for what is judged without a GPU", code="KB116")
    if not all(0 < table.shape.get(name, 0) <= _MOST_EXTENT for name in ("E", "N")):
        what = f"its name says no layer of 1 to {_MOST_EXTENT} experts and columns"
        raise BadInput(what, where=asked.file, fix="name it as the engine does, E=8,N=512,...", code="KB116")
    check_layer(table)
    engine = _engine(asked.engine, table)
    table = replace(table, engine=engine.name)
    platform = _platform(asked, table, registry)
    assumed = Assumed(asked.hidden, asked.top_k, _ACTIVATIONS[asked.activation])
    layer = Layer(table, engine.root, assumed, read_routing(asked.routing))
    found = TableSession(path, layer, engine, platform, math.log1p(asked.threshold_pct / 100), asked.makers)
    layer.problem(1, found.target).constants()
    return found


def tokens_of(words: str, option: str = "--tokens") -> list[int]:
    """Return numbers of tokens as they are given, `1,2,4`; raises `BadInput` for what is none."""
    found = []
    for word in words.split(","):
        if not (word.isascii() and word.isdecimal() and 0 < int(word) <= _MOST_TOKENS):
            what = f"{word!r} is no number of tokens"
            raise BadInput(what, where=option, fix=f"such as 1,2,4, up to {_MOST_TOKENS}", code="KB102")
        found.append(int(word))
    return list(dict.fromkeys(found))


def _engine(given: str, table: TunedTable) -> TableEngine:
    names = [table.engine] if table.engine in {"vllm", "sglang"} else ["vllm", "sglang"]
    found = [one for name in names if (one := find_engine(given, name)) is not None]
    if len(found) != 1:
        said = "both engines" if found else f"no {names[0]}, which reads the table"
        raise BadInput(f"holds {said}", where=f"--engine {given}", fix="name the folder of one", code="KB110")
    return found[0]


def _platform(asked: LayerAsked, table: TunedTable, registry: Registry) -> Platform:
    if asked.platform:
        return registry.platform(asked.platform)
    resolved = DeviceNames(registry).of(table)
    if resolved.platform is None:
        what = "; ".join(resolved.reasons) or "names no device"
        raise BadInput(what, where=asked.file, fix="name the product with --platform", code="KB105")
    return resolved.platform


def _same_product(name: str, platform: Platform, registry: Registry) -> None:
    """Refuse a device that the wiki knows as another product; of a name that it doesn't know nothing is said."""
    try:
        here = registry.platform(name).id
    except BadInput:
        return
    if here != platform.id:
        what = f"the GPU here is {here}, and the table is for {platform.id}"
        raise BadInput(what, where="--platform", fix="run it there, or give another --platform", code="KB103")
