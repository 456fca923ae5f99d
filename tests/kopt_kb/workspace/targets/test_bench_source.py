"""A version's records are those of its round, or of a later bench of the same bytes on the right product."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.workspace.journal.setup_events import EnvironmentRecorded
from kopt_kb.workspace.targets.bench import RecordSource, records_of

BLOB = "ab" * 32


def machine(device: str = "T10 board") -> dict[str, object]:
    """A machine as a bench records it."""
    return {
        "device": device, "uuid": None, "driver": None, "clocks": {}, "versions": {}, "harness": BLOB, "product": "T10"
    }  # fmt: skip


def bench(story, number: int, kernel: str, median_s: float = 9e-5, device: str = "T10 board") -> None:
    """Play a bench of a kernel: its event, three repeats of both shapes."""
    name = f"bench-{number}"
    seq = story.add("bench_started", bench=name, kernel=kernel, version=None, machine=machine(device))
    for at, share in enumerate((1.02, 1.0, 0.98)):
        times = {"8192x4096": share * median_s, "1024x512": share * median_s / 10}
        story.time(name, times, tag=f"{name}.{at}", environment=seq)


def found(story, version: int | None = None) -> RecordSource | None:
    """What stands for a version on T10 boards."""

    def fits(one: EnvironmentRecorded) -> bool:
        return one.device == "T10 board"

    return records_of(story.workspace.state(), version, fits, "here")


def test_the_last_accepted_round_stands(played) -> None:
    """Version 1, although 2 and 3 came later; both can be asked for, 2 has no times."""
    last = found(played)
    assert last is not None
    assert (last.kind, last.name, last.version, last.records["8192x4096"].median_s) == ("round", "v1", 1, 1e-4)
    third = found(played, 3)
    assert third is not None and third.records["1024x512"].median_s == 4e-5
    assert found(played, 2) is None
    with pytest.raises(BadInput, match="no version 7"):
        found(played, 7)


def test_a_later_bench_of_the_same_bytes_stands(played) -> None:
    """Of its repeats the middle one, under its own name and the version's number."""
    bench(played, 1, played.workspace.state().created.kernel)
    one = found(played)
    assert one is not None
    assert (one.kind, one.name, one.version) == ("bench", "bench-1", 1)
    assert one.records["8192x4096"].median_s == 9e-5
    assert one.to_json()["kind"] == "bench"


def test_benches_of_other_bytes_or_devices_do_not_stand(played) -> None:
    """An edited kernel is no version; another product says nothing about this one."""
    bench(played, 1, BLOB)
    bench(played, 2, played.workspace.state().created.kernel, device="another board")
    one = found(played)
    assert one is not None and one.name == "v1"


def test_without_a_version_the_last_bench_stands(story) -> None:
    """A fresh workspace has none; after a bench its records are there, of no version."""
    assert found(story) is None
    bench(story, 1, BLOB)
    one = found(story)
    assert one is not None
    assert (one.name, one.version, one.kernel, one.simulated) == ("bench-1", None, BLOB, False)


def test_a_bench_before_the_round_does_not_stand(story) -> None:
    """The same bytes were timed once more in the round: the newer records are the round's; a bench after it stands."""
    kernel = story.workspace.state().created.kernel
    story.round(0, "accept", {"8192x4096": 1.2e-4, "1024x512": 9e-6})
    bench(story, 1, kernel)
    assert found(story).name == "bench-1"
    story.round(1, "accept", {"8192x4096": 1.0e-4, "1024x512": 8e-6})
    story.add("snapshot_taken", version=1, blob=kernel, commit=None)
    assert found(story).name == "v1"
    assert found(story, 0).name == "bench-1"
    bench(story, 2, kernel)
    assert (found(story).name, found(story).version) == ("bench-2", 1)


def test_a_bench_before_a_round_without_records_is_all_there_is(story) -> None:
    """A version that was never timed in its round has the bench's records, whenever they were taken."""
    bench(story, 1, story.workspace.state().created.kernel)
    story.round(0, "accept")
    assert found(story, 0).name == "bench-1"


def test_a_failed_or_cut_bench_hides_no_older_one(story) -> None:
    """The last bench that has all its records stands."""
    bench(story, 1, BLOB)
    story.add("bench_started", bench="bench-2", kernel=BLOB, version=None, machine=machine())
    assert found(story).name == "bench-1"
    seq = story.add("bench_started", bench="bench-3", kernel=BLOB, version=None, machine=machine())
    story.time("bench-3", {"8192x4096": 1e-4}, environment=seq)
    assert found(story).name == "bench-1"
    story.time("bench-3", {"1024x512": 1e-5}, environment=seq)
    assert found(story).name == "bench-3"
    story.time("bench-3", {"8192x4096": 1e-4}, tag="b", environment=seq)
    assert found(story).name == "bench-1"


def test_a_bench_above_a_roof_does_not_stand(played) -> None:
    """134,225,920 B in 30 us are 4.47 of 2.0 TB/s; elsewhere the roof is another one, and the version still has v1."""
    kernel = played.workspace.state().created.kernel
    bench(played, 1, kernel, median_s=3e-5)
    assert found(played).name == "v1"
    bench(played, 2, kernel)
    bench(played, 3, kernel, median_s=3e-5)
    assert found(played).name == "bench-2"


def test_when_only_one_above_a_roof_is_left_it_is_returned(story) -> None:
    """So that judging it says what is wrong instead of that there is nothing."""
    bench(story, 1, BLOB, median_s=3e-5)
    assert found(story).name == "bench-1"
    bench(story, 2, BLOB)
    bench(story, 3, BLOB, median_s=3e-5)
    assert found(story).name == "bench-2"
