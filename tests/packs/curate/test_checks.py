"""What the curators' checks add to `kb wiki check`."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.wiki.check import check_page, check_wiki, wiki_of
from kopt_kb.wiki.wiki import Wiki


def test_a_page_answers_what_every_product_has_to(wiki_root: Path, product: Path) -> None:
    """Of one page by itself its own lacks alone."""
    report = check_wiki(Wiki(wiki_root, use_cache=False))
    assert report.unchecked is None
    lacks = {one.path for one in report.faults if one.code == "WK401"}
    assert lacks == {"hardware/nvidia/t10.md", "hardware/nvidia/t10_pro.md"}
    page = check_page(wiki_of(product), product)
    assert {one.path for one in page.faults if one.code == "WK401"} == {"hardware/nvidia/t10.md"}


def test_a_page_by_itself_stands_beside_its_kin(wiki_root: Path, product: Path) -> None:
    """A power far from that of other products of the target is named on its page, and on no other."""
    text = product.read_text()
    for number, watts in enumerate(["900", "300", "300"]):
        row = f'| board_power | {watts} | W | kind=tdp | vendor | [^sheet] table 1 quote="{watts} W" | |'
        named = text.replace("T10", f"X{number}").replace("Test 10", f"Other {number}")
        product.with_name(f"x{number}.md").write_text(named.replace("| memory_type |", f"{row}\n| memory_type |"))
    product.unlink()
    odd = [
        {fault.code for fault in check_page(wiki_of(page), page).faults if "board_power" in fault.message}
        for page in (product.with_name(f"x{number}.md") for number in (0, 1))
    ]
    assert odd == [{"WK406"}, set()]
