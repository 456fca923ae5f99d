"""Claims about the shelf of records: made once, in order, ahead of their use, and thrown away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kopt_kb.launch.judge.makers import Made, NotRecordedError
from kopt_kb.launch.judge.shelf import Asked, RecordTarget, Shelf, digest_of
from kopt_kb.launch.kernel.judgement import limits_of
from kopt_kb.launch.record.judge import RECORD
from kopt_kb.launch.record.request import MakerRequest, OpRequest
from kopt_kb.problem.tolerances import Tolerance, tolerance_of

pytestmark = pytest.mark.core


class Quick:
    """Makers that write a line instead of a record; configurations with `fails` end in an error."""

    count = 2

    def __init__(self) -> None:
        self.made: list[str] = []
        self.most = 0
        self._running = 0
        self._lock = threading.Lock()

    def make(self, request: MakerRequest, out: Path) -> Made:
        assert isinstance(request.what, OpRequest)
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        time.sleep(request.what.config.get("seconds", 0.0))
        with self._lock:
            self._running -= 1
            self.made.append(request.what.file)
        if request.what.config.get("fails"):
            return Made(out, None, NotRecordedError("no"))
        out.mkdir()
        (out / RECORD).write_text(f"{request.what.shape} {dict(request.what.config)} {request.target}")
        return Made(out)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A shelf for three records."""
    makers: Any = Quick()
    made = Shelf(tmp_path, makers, RecordTarget("sm_90", "Test"), most=3)
    yield made
    made.close()


def test_records_are_made_once(shelf: Shelf) -> None:
    """Source, shape, dtype and configuration tell them apart; a failure is remembered too."""
    asked = [
        Asked(b"a", "4x4", "bf16"), Asked(b"b", "4x4", "bf16", {"fails": True}), Asked(b"a", "8x8", "bf16"),
    ]  # fmt: skip
    first, failed, second = shelf.all(asked)
    assert failed.error is not None
    assert digest_of(first.folder) != digest_of(second.folder)
    assert [one.folder for one in shelf.all(asked[::-1])] == [second.folder, failed.folder, first.folder]
    assert len({asked[0].key, asked[1].key, asked[2].key, Asked(b"a", "4x4", "fp16").key}) == 4


def test_what_is_likely_is_begun_once(shelf: Shelf) -> None:
    """Whoever asks for it then waits for that one, however often it was said to be likely."""
    one = Asked(b"a", "4x4", "bf16")
    shelf.prepare(one)
    shelf.prepare(one)
    begun = next(shelf._count)
    assert shelf.all([one]) == shelf.all([one])
    assert (begun, next(shelf._count)) == (1, 2)


def test_what_is_likely_and_kept_may_go(shelf: Shelf) -> None:
    """It is made again once its folder went; a folder that is not there would be handed out otherwise."""
    one = Asked(b"a", "4x4", "bf16")
    shelf.all([one])
    shelf.prepare(one)
    shelf.all([Asked(b"a", f"{at}x8", "bf16") for at in range(1, 4)])
    assert shelf.all([one])[0].folder.is_dir()


def test_the_oldest_go(shelf: Shelf) -> None:
    """A fourth record takes the place of the one asked for longest ago; that one is made again."""
    asked = [Asked(b"a", f"{at}x4", "bf16") for at in range(1, 4)]
    first, *_ = shelf.all(asked)
    shelf.all([asked[0], Asked(b"a", "9x4", "bf16")])
    assert first.folder.is_dir()
    assert shelf.all(asked[1:2])[0].folder != shelf.all(asked[:1])[0].folder


def test_a_stream_works_ahead_and_ends(shelf: Shelf) -> None:
    """As many as are allowed are begun while one is used; none once it is over, and those begun are yielded."""
    seen: list[str] = []
    asked = (Asked(b"a", f"{at}x4", "bf16", {"seconds": 0.05}) for at in range(1, 10))
    for one, _ in shelf.stream(asked, shelf.ahead, lambda: len(seen) >= 2):
        seen.append(one.shape)
    assert 2 <= len(seen) <= 2 + 2 * shelf._makers.count
    assert len(set(seen)) == len(seen)
    assert shelf._makers.most == 2


def test_of_records_that_are_made_the_chosen_one_comes_first(shelf: Shelf) -> None:
    """Those that are not chosen are kept; no more are begun than may lie ahead."""
    asked = [Asked(b"a", f"{at}x4", "bf16") for at in range(1, 7)]
    pools: list[int] = []

    def last(ready: Any) -> int:
        pools.append(len(ready))
        return len(ready) - 1

    stream = shelf.stream(iter(asked), 3, lambda: False, last)
    seen = []
    for one, _ in stream:
        seen.append(one.shape)
        time.sleep(0.1)  # while one is used, others are made
    assert sorted(seen) == [one.shape for one in asked]
    assert seen != [one.shape for one in asked]
    assert max(pools) <= 3


def test_a_file_is_what_its_name_says(shelf: Shelf) -> None:
    """Other content under a name is replaced."""
    path = shelf.file_of(b"source", "kernel.py")
    path.write_bytes(b"changed")
    assert shelf.file_of(b"source", "kernel.py").read_bytes() == b"source"
    assert shelf.file_of(b"other", "kernel.py") != path


def test_records_that_are_not_made_in_time(shelf: Shelf) -> None:
    """All that is asked is given up; a stream gives what is being made a few seconds, not for ever."""
    begin = time.monotonic()
    slow = Asked(b"a", "4x4", "bf16", {"seconds": 12.0})
    with pytest.raises(TimeoutError, match="not made in time"):
        shelf.all([Asked(b"b", "4x4", "bf16"), slow], begin + 0.2)
    assert list(shelf.stream(iter([slow]), 1, lambda: time.monotonic() > begin + 0.5)) == []
    assert time.monotonic() - begin < 11.0


@pytest.mark.parametrize("source", [b"OP = 'gemm'\ndef reference(a, b): ...\n", b'/* kb\nentry = "k"\n*/\n'])
def test_a_tolerance_that_somebody_gave_stands_in_the_file_that_judges(shelf: Shelf, source: bytes) -> None:
    """The usual one of a storage type adds nothing; another is what the judge's limits are."""
    op = "gemm" if source.startswith(b"OP") else "unknown_op"
    usual, given = tolerance_of("fp32"), Tolerance(Fraction(1, 100), Fraction(1, 50), "given")
    assert shelf.reference_of(source, op, usual).read_bytes() == shelf.reference_of(source, op).read_bytes()
    names: dict[str, object] = {}
    exec(shelf.reference_of(b"OP = 'gemm'\n", op, given).read_text(), names)
    assert limits_of(SimpleNamespace(**names), "fp32") == given
