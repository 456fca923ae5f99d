"""Where a keyword goes, and which kernels can't be walked; what the edits do is shown in test_recipes."""

from __future__ import annotations

import pytest

from kopt_kb.packs.cutile.source.contiguous import Untiled
from kopt_kb.packs.cutile.source.rewrite import grouped, persistent, with_keyword
from kopt_kb.packs.cutile.source.source import edited, read_cutile

HEAD = "import cuda.tile as ct\nimport torch\n"
LAUNCH = "def launch(x):\n    ct.launch(torch.cuda.current_stream(), (x.shape[0], 1, 1), k, (x,))\n"


def test_keywords_come_last_in_any_layout() -> None:
    """Behind a trailing comma, over lines, beside letters that are no ASCII."""
    text = (
        HEAD
        + '@ct.kernel\ndef k(x):\n    "é"; a = ct.load(x, (0,), (1,)); b = ct.load(\n        x, (1,), (1,),\n    )\n'
    )
    file = read_cutile(text)
    made = edited(text, [with_keyword(file, one, "latency=2") for one in file.calls("load")])
    assert "ct.load(x, (0,), (1,), latency=2); b" in made
    assert "        x, (1,), (1,), latency=2,\n" in made


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("def k(x):\n    for at in range(ct.bid(0), 9, ct.num_blocks(0)):\n        pass\n", "walk the grid already"),
        ("def k(x):\n    a = ct.bid(1)\n", "another axis"), ("def k(x):\n    pass\n", "no block's number"),
        ("def k(x):\n    if ct.bid(0):\n        return\n", "returns early"),
        ("def k(x, n=1):\n    a = ct.bid(0)\n", "defaults"), ("def k(x):\n    a = ct.bid(0), '''\n'''\n", "spans lines"),
        ("def other(x):\n    a = ct.bid(0)\n", "0 launches name other"),
    ],
)  # fmt: skip
def test_what_can_not_be_walked(kernel: str, why: str) -> None:
    """It says why."""
    file = read_cutile(f"{HEAD}@ct.kernel\n{kernel}{LAUNCH}")
    found = persistent(file, file.kernels[0], 4)
    assert isinstance(found, Untiled) and why in found.why


def test_grids_that_are_walked_in_groups_are_left() -> None:
    """And those of one axis."""
    for body in ("a = ct.bid(0)", "GROUP = ct.bid(0) + ct.bid(1)"):
        file = read_cutile(f"{HEAD}@ct.kernel\ndef k(x):\n    {body}\n")
        assert isinstance(grouped(file, file.kernels[0], 8), Untiled)
