"""benchmarks/campaigns/README.md says of every recorded gain what it rests on, as the journals have it."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

MINE = {"knobs": "search", "variants": ""}
"""How the table names what a proposer's claim has before its colon, where that is no variant's name."""


def events(campaign: Path) -> list[dict[str, object]]:
    """The events of a workspace or of a bundle of one."""
    if campaign.is_dir():
        text = (campaign / "journal.jsonl").read_text()
    else:
        with tarfile.open(campaign) as archive:
            (name,) = (one for one in archive.getnames() if one.endswith("journal.jsonl"))
            member = archive.extractfile(name)
            assert member is not None
            text = member.read().decode()
    return [json.loads(line) for line in text.splitlines()]


def accepted(campaign: Path) -> list[str]:
    """What was accepted after the baseline: the variant's name, `search`, or `plan`."""
    stated: dict[object, str] = {}
    found: list[str] = []
    for event in events(campaign):
        data = event["data"]
        assert isinstance(data, dict)
        if event["kind"] == "hypothesis_stated":
            who = str(data["proposer"]).split()[0]
            stated[data["round"]] = str(data["claim"]).partition(":")[0] if who == "variants" else MINE.get(who, who)
        elif event["kind"] == "decided" and str(data["decision"]).startswith("accept") and data["round"]:
            found.append(stated[data["round"]])
    return found


def test_the_table_of_gains_is_that_of_the_journals(repo_root: Path) -> None:
    """Every campaign of the folder, each accepted change in order, and nothing else."""
    folder = repo_root / "benchmarks" / "campaigns"
    campaigns = [one for part in ("h100_sxm", "h200_sxm") for one in (folder / part).iterdir()]
    campaigns = [one for one in campaigns if one.suffix == ".kbb" or (one / "journal.jsonl").is_file()]
    assert len(campaigns) == 16
    text = (folder / "README.md").read_text()
    rows = re.findall(r"^\| `(h\d00_sxm/[\w.]+)` \| (.*?) \| .*\|$", text, re.MULTILINE)
    told = {name: re.findall(r"`(\w+)`", cell) for name, cell in rows}
    assert told == {str(one.relative_to(folder)): accepted(one) for one in campaigns}


def test_the_first_gain_of_the_readme_is_that_of_the_journal(repo_root: Path) -> None:
    """Naive and best of 4096 cubed, and of both shapes, by the lower medians of their own rounds."""
    records: dict[tuple[str, str], list[float]] = {}
    for event in events(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / "gemm"):
        data = event["data"]
        if event["kind"] == "measured" and isinstance(data, dict) and str(data["run"]).startswith(data["candidate"]):
            records.setdefault((data["candidate"], data["shape"]), []).append(data["median_s"])
    times = {key: sorted(values)[(len(values) - 1) // 2] for key, values in records.items()}
    shapes = ("4096x4096x4096", "8192x8192x8192")
    gains = [times["v0", shape] / times["v3", shape] for shape in shapes]
    naive, best = (2 * 4096**3 / times[version, shapes[0]] / 1e12 for version in ("v0", "v3"))
    text = " ".join((repo_root / "README.md").read_text().split())
    assert f"from {naive:.0f} TFLOPS of a naive kernel to {best:.0f} TFLOPS" in text
    assert f"{gains[0]:.0f} times as fast on 4096³, {(gains[0] * gains[1]) ** 0.5:.0f} times over both" in text
