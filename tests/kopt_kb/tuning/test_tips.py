"""Tips of a campaign's rounds, and what packs say of them; whole campaigns are in test_naming."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kopt_strange.pack import PACK

from kopt_kb.tuning.tips import add_tips, kept_tips, latest_tips, tip_of
from kopt_kb.tuning.versions import GainInterval
from kopt_kb.workspace.journal.blobs import ObjectStore
from tests.kopt_kb.conftest import OnlyPacks


def _faster(*_: object) -> GainInterval:
    return GainInterval(3.0, 2.0, 4.0)


def test_rounds_teach_in_a_line(make_campaign, workspace, only_packs: OnlyPacks) -> None:
    """The default policy says the gain; nothing is taught by the baseline, or by a round without an end."""
    only_packs()
    with make_campaign(workspace, rounds=2) as campaign:
        campaign.run()
        state = campaign.state()
    state.named = cast("Any", SimpleNamespace(name="norm"))
    blob = ObjectStore(workspace.layout.objects).get
    assert tip_of(state, state.attempts[0], blob, _faster) == ""
    tip = tip_of(state, state.attempts[1], blob, _faster)
    assert tip.startswith(("- worked: ", "- did not work: "))
    assert tip.endswith("(norm v1)")
    assert kept_tips(state, "- never sleep\n") == "- never sleep\n"


@pytest.mark.parametrize(("number", "says"), [(2, "worth a nap"), (1, "- anti-pattern, do not retry: ")])
def test_a_pack_says_what_a_gain_is_worth(make_campaign, workspace, only_packs: OnlyPacks, number, says) -> None:
    """Where the policy requires its gate: in tips of rounds, and in those that are read."""
    only_packs(PACK)
    with make_campaign(workspace, "dreams", rounds=3) as campaign:
        campaign.run()
        state = campaign.state()
    state.named = cast("Any", SimpleNamespace(name="norm"))
    assert says in tip_of(state, state.attempts[number], ObjectStore(workspace.layout.objects).get, _faster)
    assert kept_tips(state, "- never sleep\n- tile\n") == "- tile\n"


def _round(decision: str, rule: str, refuted_by: int | None = None) -> Any:
    """A decided round as tips see it."""
    return SimpleNamespace(
        hypothesis=SimpleNamespace(claim="tile 64; wide", category="tile"), proposal=None, is_baseline=False, name="v3",
        decided=SimpleNamespace(decision=decision, rule=rule), submitted={"v3": None}, refuted_by=refuted_by,
        accepted=decision == "accept" and refuted_by is None, measured={}, incumbent="b", snapshot=None,
    )  # fmt: skip


def _state(tips: str = "", name: str = "norm", rounds: tuple[Any, ...] = ()) -> Any:
    machine = SimpleNamespace(versions={"triton": "3.6.0"}, device="NVIDIA X")
    return SimpleNamespace(
        named=SimpleNamespace(name=name, tips=tips, op="norm", backend="TRITON"), rounds=rounds, environment_seq=1,
        environments={1: machine}, problem=SimpleNamespace(shapes=((1000, 4096), (1024, 4096)), dtype="bf16"),
        task=SimpleNamespace(target="sm_90", policy="default"), policy=None,
    )  # fmt: skip


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pack has a word on gains, and each was replayed."""
    monkeypatch.setattr("kopt_kb.tuning.tips.gain_checks", lambda _: ())
    monkeypatch.setattr("kopt_kb.tuning.tips.round_words", lambda *_: "replayed")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("decided", "gain", "verdict"),
    [
        (("accept", "R3 improved"), (3.0, 2.0, 4.0), "worked"),
        (("rollback", "noise floor"), (73.6, -80.0, 230.0), "undecided"),
        (("rollback", "R3 not improved"), (-3.0, -4.0, -2.0), "did not work"),
        (("rollback", "contest not faster"), (0.1, 0.05, 0.2), "undecided"),
        (("rollback", "R3 regression"), (3.0, 2.0, 4.0), "did not work"),
        (("rollback", "gate correctness"), None, "did not pass"),
        (("accept", "R3 improved", 5), (3.0, 2.0, 4.0), "did not work"),
    ],
    ids=["gain", "within the noise", "loss", "below the threshold", "loss on a shape", "wrong result", "refuted later"],
)
def test_only_what_was_decided_is_a_verdict(decided: Any, gain: Any, verdict: str) -> None:
    """A round whose gain lies within the noise has taught nothing, however large its number."""
    found = tip_of(_state(), _round(*decided), bytes, lambda *_: GainInterval(*gain) if gain else None)
    where = "[shapes about 1024x4096; bf16; triton 3.6.0; NVIDIA X; on the baseline] (norm v3)"
    assert found.startswith(f"- {verdict}: tile: tile 64, wide; ")
    assert found.endswith(where)


@pytest.mark.usefixtures("unchecked")
def test_a_later_verdict_is_added_and_wins(tmp_path: Any) -> None:
    """Both stay readable: a version that was refuted, and another campaign of the same day that found it faster."""
    file = tmp_path / "a" / "tips.md"
    first, refuted = _round("accept", "R3 improved"), _round("accept", "R3 improved", 5)
    assert [add_tips(_state(str(file), "norm", (one,)), bytes, _faster) for one in (first, first, refuted)] == [1, 0, 1]
    assert add_tips(_state(str(file), "other", (first,)), bytes, _faster) == 1
    head, _, *lines = latest_tips(file.read_text()).splitlines()
    assert head == "# norm, TRITON, sm_90"
    assert [line.partition(";")[0] for line in lines] == [
        "- worked: tile: tile 64, wide", "  - earlier: did not work", "  - earlier: worked"
    ]  # fmt: skip


def test_lines_of_earlier_releases_do_not_call_noise_a_failure() -> None:
    """Their rule stands in the line."""
    old = "- did not work: tile: tile 64; +73.60 %, noise floor (n v1)\n- did not work: tile: tile 32; -9.10 %, R3 regression (n v2)\n"
    assert [line.split(":")[0] for line in latest_tips(old).splitlines()] == ["- undecided", "- did not work"]


_HISTORY = st.lists(
    st.tuples(st.sampled_from(["tile 64", "warps 8"]), st.sampled_from(["worked", "did not work", "undecided"]),
              st.sampled_from(["fp16", "bf16"])),
    max_size=12,
)  # fmt: skip


@given(_HISTORY)
def test_no_history_of_campaigns_hides_a_verdict(history: list[tuple[str, str, str]]) -> None:
    """The last verdict of each claim under its conditions stands first, and no line is lost."""
    lines = [
        f"- {word}: tile: {claim}; +1.00 %, rule [{dtype}] (c{at} v1)"
        for at, (claim, word, dtype) in enumerate(history)
    ]
    shown = latest_tips("\n".join(lines)).splitlines()
    tops = [line for line in shown if line.startswith("- ")]
    assert all(any(f"(c{at} v1)" in line for line in shown) for at in range(len(history)))
    last = {(claim, dtype): (at, word) for at, (claim, word, dtype) in enumerate(history)}
    assert len(tops) == len(last)
    assert all(
        any(line.startswith(f"- {word}: ") and f"(c{at} v1)" in line for line in tops) for at, word in last.values()
    )
