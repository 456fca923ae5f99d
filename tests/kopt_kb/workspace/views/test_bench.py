"""logs/bench.md shows benches; other views don't change because of them."""

from __future__ import annotations

from kopt_kb.workspace.views.render import texts_of

BLOB = "ab" * 32


def bench(story, product: str | None, median_s: float = 1e-4) -> None:
    """Play a bench of one shape on a device that is this product."""
    machine = {"device": "a board", "uuid": None, "driver": "5", "clocks": {}, "versions": {"torch": "2"}}
    machine |= {"harness": BLOB, "product": product}
    seq = story.add("bench_started", bench="bench-1", kernel=BLOB, version=None, machine=machine)
    story.time("bench-1", {"8192x4096": median_s}, tag="b", environment=seq)


def test_other_views_stay_as_they_are(played) -> None:
    """No attempt gets a candidate, a record or a note from a bench; without one there is no file."""
    before = texts_of(played.workspace.state(), played.store.get)
    bench(played, "T10")
    after = texts_of(played.workspace.state(), played.store.get)
    assert "logs/bench.md" not in before.files
    assert {path: text for path, text in after.files.items() if path != "logs/bench.md"} == before.files
    assert after.blocks == before.blocks


def test_records_and_targets_are_shown(played) -> None:
    """134,225,920 B in 100 us are 1342 GB/s, 74.57 % of 1.8 TB/s."""
    bench(played, "T10")
    text = texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]
    assert "| 8192x4096 | b:bench-1:8192x4096 | 100 | 100 |" in text
    assert "| 1342 | 74.57 |" in text
    assert f"sha256 {BLOB}" in text


def test_another_product_is_not_judged(played) -> None:
    """The time stays, the target column is empty, and the reader is told."""
    bench(played, "T10_PRO")
    text = texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]
    assert "| 1342 | - |" in text
    assert "not T10: its conditions are not evaluable here" in text


def test_a_record_above_a_roof_is_no_share_of_a_target(played) -> None:
    """134,225,920 B in 40 us are below the floor at 2.0 TB/s: the page says so instead of 186 % of the target."""
    bench(played, "T10", 4e-5)
    text = texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]
    assert (
        "- above a roof, so no measurement of the kernel: 8192x4096 took 40 us, less than its floor of 40.9 us" in text
    )
    assert "| 3356 | above a roof |" in text


def test_a_bench_that_was_cut_off_says_so(played) -> None:
    """One of two shapes is there; with both nothing is said."""
    bench(played, "T10")
    assert "cut off" in texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]
    played.time("bench-1", {"1024x512": 1e-5}, tag="b")
    assert "cut off" not in texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]


def test_the_level_of_trust_is_shown(played) -> None:
    """Where the records state one."""
    bench(played, "T10")
    assert "trust:" not in texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]
    played.add(
        "measured", id="c", candidate="bench-1", shape="1024x512", n=100, median_s=1e-5, spread={}, run="r1",
        environment=4, trust="replayed",
    )  # fmt: skip
    assert "- trust: replayed" in texts_of(played.workspace.state(), played.store.get).files["logs/bench.md"]
