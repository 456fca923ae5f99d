"""No value of another product enters a result: every page that a result names is its own product's or its target's."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

import pytest

from kopt_kb.analysis.gap.account import GapCase, account
from kopt_kb.analysis.roofline.reach import RooflineInTime, reach
from kopt_kb.analysis.roofline.roofline import roofline
from kopt_kb.base.errors import BadInput
from kopt_kb.problem.work import work
from kopt_kb.tuning.recorded import with_launches
from kopt_kb.wiki.registry import Platform, Registry

REGISTRY = Registry.open()
PRODUCTS = REGISTRY.platforms()
_PAGE = re.compile(r"(?:hardware/\w+|measured|targets)/[\w.-]+\.md")
_NO_VALUE = re.compile(r':L\d+|"reason": "[^"]*"')
"""Line numbers, and why a value is UNKNOWN: a reason may name a product that it is not taken from."""
_WORKS = (("rms_norm", "128x128"), ("rms_norm", "8192x4096"), ("gemm", "128x128x128"), ("gemm", "8192x8192x8192"))


def foreign(platform: Platform, text: str) -> set[str]:
    """Return the pages and products in a text that are neither this product's nor its target's."""
    own = PurePosixPath(platform.identity.path).name
    pages = {
        one for one in _PAGE.findall(text) if PurePosixPath(one).name not in {own, f"{platform.identity.target}.md"}
    }
    words = set(re.findall(r"\w+", _NO_VALUE.sub("", text)))
    return pages | {str(one) for one in PRODUCTS if one != platform.id and one in words}


def results(platform: Platform) -> str:
    """Return what is said of small and large work on a product: rooflines with times, gap accounts with launches."""
    said = []
    for op, shape in _WORKS:
        what = work(op, shape, "fp16")
        try:
            found = roofline(what, platform)
        except BadInput:  # the part lacks the type
            continue
        said.append(RooflineInTime(found, reach(found, platform, (1e-3,))).to_json())
        case = with_launches(GapCase(shape, 1e-3, (), platform, what), None, {}, lambda _: b"")
        said += [account(case).to_json(), dict(case.sources)]
    return json.dumps(said, default=str)


@pytest.mark.parametrize("name", PRODUCTS)
def test_results_name_no_other_product(name: str) -> None:
    """Of every product; results that name nothing at all would prove nothing."""
    platform = REGISTRY.platform(name)
    text = results(platform)
    assert PurePosixPath(platform.identity.path).name in text
    assert foreign(platform, text) == set()


def test_the_search_finds_what_was_planted() -> None:
    """A launch of the H200, by page and by name, in a result of the H20."""
    platform = REGISTRY.platform("H20")
    assert foreign(platform, "by events on H200_SXM (measured/h200_sxm.md:L86), hardware/nvidia/h20.md:L23") == {
        "H200_SXM", "measured/h200_sxm.md",
    }  # fmt: skip
