"""Text, page, JSON and tables of one campaign agree in every digit that they share."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.quantity.readable import duration, reached

CAMPAIGNS = ("gemm", "rms_norm", "rms_norm_2", "softmax", "softmax_2")
FOLDER = "benchmarks/campaigns/h200_sxm"


def cells(page: str) -> list[list[str]]:
    """The rows of all tables of a page, as text."""
    rows = re.findall(r"<tr.*?</tr>", re.sub(r"<sup.*?</sup>", "", page, flags=re.DOTALL), re.DOTALL)
    found = [re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL) for row in rows]
    return [[html.unescape(re.sub(r"<.*?>", "", cell)).strip() for cell in row] for row in found]


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_every_form_has_the_same_digits(
    name: str, repo_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stop Conditions, medians, ratios and the aggregate: as printed, on the page, in JSON, in the table of campaigns."""
    campaign = str(repo_root / FOLDER / name)
    page = tmp_path / "page.html"
    assert main(["tune", "report", campaign, "--json", "--html", str(page)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert main(["tune", "report", campaign]) == 0
    text = capsys.readouterr().out
    judged, total = (
        document["stop_conditions"]["conditions"],
        reached(document["stop_conditions"]["aggregate"]["value"]),
    )
    rows = cells(page.read_text())
    for one in judged:
        wanted = [one["shape"], one["target"], duration(one["median_s"]), reached(one["ratio"])]
        assert re.search(r"\s+".join(map(re.escape, wanted)) + r"\s", text), wanted
        stated = f"{one['quantity']} {one['target']}"
        (row,) = (row for row in rows if row[:2] == [one["shape"], stated])
        assert {wanted[2], wanted[3]} <= set(row)
    assert f"aggregate {total}\n" in text
    assert f"achieved over target {total} (geometric mean)" in page.read_text()
    table = (repo_root / "benchmarks" / "campaigns" / "README.md").read_text()
    assert re.search(rf"^\| `{name}` \|.*\| {re.escape(total)} \|", table, re.MULTILINE)
    assert "MB/s" not in text + page.read_text()
