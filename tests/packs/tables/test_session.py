"""What is settled before a device is asked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.packs.tables.session import LayerAsked, TableSession, session, tokens_of
from kopt_kb.wiki.registry import Registry
from tests.packs.tables.simulated import ENGINE, ROW, Device, table_file


def settled(folder: Path, registry: Registry, more: str = "", rows: Any = None, **given: Any) -> TableSession:
    """A session on a table."""
    path = table_file(folder, rows or {"1": ROW}, more)
    return session(
        LayerAsked(**{"file": str(path), "engine": str(ENGINE), "hidden": 256, "top_k": 2, **given}), registry
    )


def test_a_table_says_product_and_engine(tmp_path: Path, registry: Registry) -> None:
    """What it does not say is given."""
    found = settled(tmp_path, registry, threshold_pct=2.0)
    assert (found.platform.id, found.target, found.engine.name) == ("H200_SXM", "sm_90", "vllm")
    assert found.threshold == pytest.approx(math.log(1.02)) and found.layer.assumed.hidden == 256
    assert settled(tmp_path, registry, platform="H100_SXM", activation="fp16").layer.assumed.dtype == "float16"
    loose = tmp_path / "E=4,N=128,device_name=NVIDIA_H200.json"
    loose.write_bytes(found.path.read_bytes())
    assert session(LayerAsked(str(loose), str(ENGINE), 256, 2), registry).table.engine == "vllm"


@pytest.mark.parametrize(
    ("more", "given", "says"),
    [
        (",dtype=int4_w4a16,backend=flydsl", {}, "Triton kernel alone"),
        ("", {"platform": "nothing"}, "nothing"),
        ("", {"routing": "sideways"}, "no routing"),
        ("", {"top_k": 9}, "9 of 4 experts"),
        ("", {"engine": "/nowhere"}, "no such folder"),
        (",dtype=int4_w4a16", {}, "how many weights share a scale"),
        (",dtype=strange", {}, "no type whose arguments are known"),
        (",dtype=fp8_w8a8,block_shape=[0,0]", {}, "no block of rows and columns"),
        (",dtype=fp8_w8a8,block_shape=[128]", {}, "no block of rows and columns"),
    ],
    ids=[
        "another kernel",
        "no product",
        "no routing",
        "too many experts",
        "no engine",
        "4-bit weights",
        "no type",
        "an empty block",
        "half a block",
    ],
)
def test_what_ends_before_a_device(
    tmp_path: Path, registry: Registry, more: str, given: dict[str, Any], says: str
) -> None:
    """In one line."""
    rows = {"1": {"tile_m": 1, "tile_n": 1, "tile_k": 1}} if "flydsl" in more else None
    with pytest.raises(BadInput, match=says):
        settled(tmp_path, registry, more, rows, **given)


@pytest.mark.parametrize(
    "name", ["E=0,N=128", "E=4,N=0", f"E={10**30},N=128"], ids=["no expert", "no width", "endless"]
)
def test_names_that_say_no_layer(tmp_path: Path, registry: Registry, name: str) -> None:
    """Before rows of so many experts are counted."""
    path = table_file(tmp_path, {"1": ROW})
    path = path.rename(path.with_name(f"{name},device_name=NVIDIA_H200.json"))
    with pytest.raises(BadInput, match="says no layer"):
        session(LayerAsked(str(path), str(ENGINE), 256, 2), registry)


def test_names_that_say_no_product_or_lead_out(tmp_path: Path, registry: Registry) -> None:
    """Several products, another engine's folder, a link to somewhere else."""
    path = table_file(tmp_path, {"1": ROW})
    several = path.rename(path.with_name("E=4,N=128,device_name=NVIDIA_H100.json"))
    with pytest.raises(BadInput, match="--platform"):
        session(LayerAsked(str(several), str(ENGINE), 256, 2), registry)
    other = tmp_path / "sglang"
    other.mkdir()
    named = other / "E=4,N=128,device_name=NVIDIA_H200.json"
    named.write_bytes(several.read_bytes())
    with pytest.raises(BadInput, match="holds no sglang"):
        session(LayerAsked(str(named), str(ENGINE), 256, 2), registry)
    link = path.with_name("E=4,N=128,device_name=NVIDIA_H200.json")
    link.symlink_to(named)
    with pytest.raises(BadInput, match="leads out of its folder"):
        session(LayerAsked(str(link), str(ENGINE), 256, 2), registry)


def test_the_device_has_to_be_the_tables(tmp_path: Path, registry: Registry, simulated: Device) -> None:
    """Of a name that the wiki does not know nothing is said; judges are closed either way."""
    found = settled(tmp_path, registry)
    with found.bouts(registry, print) as bouts:
        assert bouts.target.facts["multi_processor_count"] == 132
    assert simulated.asked == ["makers end", "closed"]
    simulated.device = "NVIDIA H100 80GB HBM3"
    with pytest.raises(BadInput, match="the GPU here is H100_SXM"), found.bouts(registry, print):
        pass
    assert simulated.asked[-1] == "closed"


def test_numbers_of_tokens() -> None:
    """Each once."""
    assert tokens_of("1,64,1") == [1, 64]
    for word in ("0", "-1", "x", "1,", "9999999999"):
        with pytest.raises(BadInput, match="no number of tokens"):
            tokens_of(word)
