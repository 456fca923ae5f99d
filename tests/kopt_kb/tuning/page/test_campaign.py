"""Pages of all recorded campaigns: small, and every number is that of the report, the journal and the README."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kopt_kb.cli.main import main
from kopt_kb.quantity.readable import reached
from kopt_kb.report.drawing import drawn
from kopt_kb.tuning.page.campaign import campaign_html, campaign_page, campaign_picture
from kopt_kb.tuning.page.fitted import MOST_BYTES
from kopt_kb.tuning.page.markdown import markdown
from kopt_kb.workspace.views.words import spec_line
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.base.markup.test_elements import HOSTILE
from tests.kopt_kb.base.markup.test_html import Outline
from tests.kopt_kb.report.test_drawing import overlaps
from tests.kopt_kb.tuning.page.conftest import CAMPAIGNS, ROOT, lengthened, reported, state_of, told

each_campaign = pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda one: f"{one.parent.name}-{one.name}")
PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


class Tables(HTMLParser):
    """The texts of all tables by caption, without the marks of notes; and every text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.caption, self.cell, self.words = "", "", ""
        self.into = ""
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.rows, self.caption = [], ""
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th", "caption", "sup"}:
            self.into = tag
            self.cell = "" if tag != "sup" else self.cell

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.rows[-1].append(self.cell)
        if tag == "caption":
            self.caption = self.cell
        if tag == "table":
            self.tables[self.caption] = self.rows
        self.into = "td" if tag == "sup" else "" if tag in {"td", "th", "caption"} else self.into

    def handle_data(self, data: str) -> None:
        self.words += data + " "
        if self.into != "sup":
            self.cell += data


def number(text: str) -> float:
    """The number that was printed: with a prefix, a percentage, or as a factor."""
    found = re.fullmatch(r"([+-]?[\d.]+)(?:(×)| (%)| ([numkMGTP]?)(?:s|B/s|FLOP/s))?", text)
    assert found is not None, text
    return float(found[1]) * (0.01 if found[3] else PREFIXES[found[4] or ""])


def made(folder: Path) -> Tables:
    """The tables of a campaign's page."""
    state = state_of(folder)
    return Tables(campaign_html(reported(state), state, "kopt-kb").decode())


@each_campaign
def test_pages_are_small_and_whole(folder: Path) -> None:
    """Below 300 KB with nothing left out; its picture has no overlapping labels; headings of every part."""
    state = state_of(folder)
    text = campaign_html(reported(state), state, "kopt-kb").decode()
    assert len(text.encode()) < 100_000 < MOST_BYTES
    assert "left out" not in text
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", text)
    assert headings[:4] == ["Targets", "Roofline", "Rounds", "Baseline and best"]
    assert headings[-5:] == ["Measurements", "Machines", "Hardware values", "How to do it again", "Sources"]
    picture = campaign_picture(reported(state), state)
    assert picture is not None
    assert overlaps(drawn(picture, titled=False)) == []
    measured = [one for one in picture.points if one.is_measured]
    assert len(measured) == len(state.problem.shapes) * (2 if reported(state).best != reported(state).baseline else 1)


@each_campaign
def test_targets_are_those_of_the_report(folder: Path) -> None:
    """Median, rate, ratio, share and whether it is met, to four digits; and those that the README prints."""
    body = reported(state_of(folder)).to_json()
    rows = made(folder).tables["Targets in force and what the best version reaches"][1:]
    conditions = body["stop_conditions"]["conditions"]
    assert len(rows) == len(conditions) > 0
    readme = (folder / "README.md").read_text()
    for row, one in zip(rows, conditions, strict=True):
        shape, target, median, achieved, ratio, share, met, trust = row
        assert (shape, target) == (one["shape"], f"{one['quantity']} {one['target']}")
        found = [number(text) for text in (median, achieved, share)]
        known = [one["median_s"], one["achieved_si"], one["ceiling_share"]]
        assert found == pytest.approx(known, rel=5e-4)
        assert ratio == reached(one["ratio"])
        assert met == ("yes" if one["met"] else "no")
        assert trust == one.get("trust", "unstated")
        assert f"| {shape} | {one['quantity']}" in readme
        assert one["target"] in readme


@each_campaign
def test_rounds_are_those_of_the_report(folder: Path) -> None:
    """Every round, its claim whole, its decision, gain and times."""
    body = reported(state_of(folder)).to_json()
    head, *rows = next(rows for caption, rows in made(folder).tables.items() if caption.startswith("In order"))
    assert len(rows) == len(body["rounds"])
    for row, one in zip(rows, body["rounds"], strict=True):
        shown = dict(zip(head, row, strict=True))
        assert (shown["round"], shown["hypothesis"]) == (str(one["number"]), f"{one['category']}: {one['claim']}")
        decision = "refuted" if one["refuted"] else one["decision"].replace("_", " ")
        rule = f" ({one['rule']})" if one["rule"] else ""  # a round that a budget cut is open
        assert shown["verdict"].startswith(f"{decision}{rule}")
        if one["gain_pct"] is None:
            assert shown["gain"] == "-"
        elif shown["gain"].endswith("×"):
            assert number(shown["gain"]) == pytest.approx(1 + one["gain_pct"] / 100, rel=5e-4)
        else:
            assert 100 * number(shown["gain"]) == pytest.approx(one["gain_pct"], rel=5e-4)
        for shape, median_s in one["medians_s"].items():
            assert number(shown[shape]) == pytest.approx(median_s, rel=5e-4)
        assert shown["trust"] == one.get("trust", "unstated")


@each_campaign
def test_gaps_values_and_headline_are_those_of_the_report(folder: Path) -> None:
    """Parts of a gap, every registered value as the README prints it, the best version's factor."""
    state, found = state_of(folder), made(folder)
    body = reported(state).to_json()
    for gap in body["gaps"]:
        rows = found.tables[f"Between roof and time of {gap['name']}"][1:]
        parts = [one for one in gap["parts"] if one["seconds"] or one is gap["parts"][-1]]
        assert [100 * number(row[1]) for row in rows] == pytest.approx([one["share_pct"] for one in parts], rel=5e-4)
        assert [number(row[3]) for row in rows] == pytest.approx([one["seconds"] for one in parts], rel=5e-4)
    readme = (folder / "README.md").read_text()
    values = next(rows for caption, rows in found.tables.items() if caption.startswith("Registered values"))[1:]
    for row, one in zip(values, state.specs.values(), strict=False):
        assert f"{row[0]}: {row[1]} <- {row[3]}" == spec_line(one)
        assert spec_line(one) in readme
    assert len(values) == len(state.specs) + len(state.unknown)
    factor = re.search(r"best v\d+: ([\d.]+)× against", found.words)
    assert factor is not None
    assert float(factor[1]) == pytest.approx(1 + body["gain_pct"] / 100, rel=5e-4)
    aggregate = re.search(r"achieved over target ([\d.]+)", found.words)
    assert aggregate is not None
    assert aggregate[1] == reached(body["stop_conditions"]["aggregate"]["value"])


def test_aggregates_are_those_that_the_campaigns_readme_names() -> None:
    """The table that people wrote about the recorded campaigns."""
    text = (ROOT / "README.md").read_text()
    for folder in ROOT.glob("h200_sxm/*/"):
        row = re.search(rf"^\| `{folder.name}` .*\| (1\.\d+) \| (\d) of (\d) \|$", text, re.MULTILINE)
        assert row is not None
        words = made(folder).words
        assert f"{row[2]} of {row[3]} targets met" in words
        aggregate = re.search(r"achieved over target ([\d.]+)", words)
        assert aggregate is not None
        assert f"{float(aggregate[1]):.3f}" == row[1]


@each_campaign
def test_markdown_says_what_html_says(folder: Path) -> None:
    """The same cells in the same tables."""
    state = state_of(folder)
    page = campaign_page(reported(state), state, "kopt-kb")
    text = markdown(page)
    lines = [line for line in text.split("\n") if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    plain = [[re.sub(r"\\(.)", r"\1", re.sub(r"\[\^\d+\]", "", one)).strip() for one in row] for row in cells]
    wanted = [[" ".join(one.split()) for one in row] for rows in made(folder).tables.values() for row in rows]
    assert plain == wanted


@pytest.mark.parametrize("text", [*HOSTILE, "x" * 10_000, ""])
def test_hostile_words_of_anybody_stay_words(text: str) -> None:
    """Claims, reasons, names, devices and documents: the page has the elements of the harmless one."""
    plain = told(state_of(CAMPAIGNS[-1]), "harmless")
    state = told(state_of(CAMPAIGNS[-1]), text)
    found = [
        {
            (tag, frozenset(values))
            for tag, values in Outline(campaign_html(reported(one), one, "kopt-kb").decode()).found
        }
        for one in (plain, state)
    ]
    extra = {one for one in found[1] - found[0] if one[0] not in {"span", "line"}}
    assert not extra
    assert markdown(campaign_page(reported(state), state, "kopt-kb"))


def test_five_hundred_rounds_stay_below_the_limit_and_say_so() -> None:
    """With 10,000 letters in every text too; accepted rounds and the last ones are kept."""
    state = lengthened(state_of(ROOT / "h200_sxm" / "softmax"), 500)
    text = campaign_html(reported(state), state, "kopt-kb").decode()
    assert len(text.encode()) <= MOST_BYTES
    assert ">499</th>" in text
    long = told(state, "y" * 10_000)
    text = campaign_html(reported(long), long, "kopt-kb").decode()
    assert len(text.encode()) <= MOST_BYTES
    assert re.search(r"\d+ rounds that changed nothing are left out", text)


def test_a_campaign_that_has_not_begun_has_a_page() -> None:
    """No round, no machine, no campaign: targets stand, and what is not there is said."""
    state = state_of(CAMPAIGNS[0])
    bare = replace(state, attempts={0: replace(state.attempts[0], seq=0, candidates={}, measured={}, decided=None, snapshot=None)}, campaign=None, stopped=None, environments={}, measured={}, gaps={}, opportunities={})  # fmt: skip
    text = campaign_html(reported(bare), bare, "kopt-kb").decode()
    for words in (
        "No round has begun.",
        "No version has a time yet.",
        "no version is accepted and measured yet",
        "not measured",
    ):
        assert words in text
    nothing = replace(bare, rooflines=(), targets=None, specs={}, unknown={})
    text = campaign_html(reported(nothing), nothing, "kopt-kb").decode()
    assert "No target is in force." in text
    assert "<svg" not in text


@pytest.mark.parametrize("median_s", [0.0, float("nan"), float("inf"), 1e-300])
def test_times_that_are_none_are_not_drawn(median_s: float) -> None:
    """An old journal may hold them; the page says that they have no place."""
    state = state_of(CAMPAIGNS[0])
    rounds = {
        number: replace(one, measured={key: replace(each, median_s=median_s) for key, each in one.measured.items()})
        for number, one in state.attempts.items()
    }
    strange = replace(state, attempts=rounds)
    picture = campaign_picture(replace(reported(state)), strange)
    assert picture is not None
    assert overlaps(drawn(picture)) == []


def test_a_simulated_campaign_says_so_first_and_has_no_dot() -> None:
    """Its times are no measurements."""
    state = state_of(CAMPAIGNS[0])
    assert state.campaign is not None
    played = replace(state, campaign=replace(state.campaign, simulated=True))
    report = reported(played)
    text = campaign_html(report, played, "kopt-kb").decode()
    assert text.index("SIMULATED") < text.index("not evaluable")
    picture = campaign_picture(report, played)
    assert picture is not None
    assert not [one for one in picture.points if one.is_measured]


def test_a_workspace_of_targets_alone_has_a_page(tmp_path: Path) -> None:
    """Made by kb init without a kernel."""
    words = ["--platform", "H20", "--op", "rms_norm", "--shape", "1024x1024"]
    words += ["--dtype", "bf16", "--parent", str(tmp_path)]
    assert main(["init", "aims", *words]) == 0
    page = tmp_path / "aims.html"
    assert main(["tune", "report", str(tmp_path / "kernel_opt_aims"), "--html", str(page)]) in {0, 4}
    assert "Targets in force" in page.read_text()
    assert Workspace.open(tmp_path / "kernel_opt_aims").state().route == "roofline"
