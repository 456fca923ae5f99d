"""pytest fixtures for kernels: a share of the roof, no regression against a revision, or against a file of times.

pytest loads this module in every run where the package is installed: it imports nothing of the package until a fixture
is used, and adds no hook unless its options are given.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kopt_kb.packs.inline.shares import Baseline, TimedShare

__all__ = [
    "assert_kernel_not_slower",
    "assert_no_regression",
    "assert_roofline",
    "pytest_addoption",
    "pytest_configure",
]

_TOLERANCE_PCT = 5.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("kopt-kb", "kernels against roofs and earlier times")
    group.addoption("--kopt-baseline", metavar="FILE", help="times that assert_no_regression compares with (JSON)")
    group.addoption(
        "--kopt-base", metavar="REVISION", help="what assert_kernel_not_slower compares with: git or folder"
    )
    group.addoption("--kopt-update-baseline", action="store_true", help="take up the times of tests that pass")
    group.addoption("--kopt-tolerance", metavar="PCT", type=float, default=_TOLERANCE_PCT, help="default %(default)s")


def pytest_configure(config: pytest.Config) -> None:
    """Read the baseline where one is named; refuse what could not be written whole."""
    file, updates = config.getoption("--kopt-baseline"), config.getoption("--kopt-update-baseline")
    if updates and not file:
        raise pytest.UsageError("--kopt-update-baseline needs --kopt-baseline FILE")
    if updates and (hasattr(config, "workerinput") or config.getoption("numprocesses", None)):
        raise pytest.UsageError("--kopt-update-baseline: run in one process, such as with -n 0; timings share the GPU")
    if not file:
        return
    from kopt_kb.base.errors import KoptError
    from kopt_kb.packs.inline.shares import Baseline

    try:
        baseline = Baseline.at(Path(file))
    except KoptError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[_KEY] = baseline
    if updates:
        config.pluginmanager.register(_Updating(baseline), "kopt-kb-updating")


class _Updating:
    """Takes up the times of tests that passed, and writes them at the end."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._measured: dict[str, dict[str, TimedShare]] = {}

    def take(self, test: str, name: str, timed: TimedShare) -> None:
        """Keep a time until its test has passed."""
        self._measured.setdefault(test, {})[name] = timed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Drop what a failed test measured."""
        if report.failed:
            self._measured.pop(report.nodeid, None)

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        for times in self._measured.values():
            self._baseline.times.update(times)
        if self._measured:
            self._baseline.write()


_KEY: pytest.StashKey[Any] = pytest.StashKey()


def _judged(judge: Callable[[], float]) -> float:
    """Return a judgement; fail the test with the finding alone, without the lines of this package."""
    __tracebackhide__ = True
    from kopt_kb.base.errors import FindingError

    try:
        return judge()
    except FindingError as error:
        told = str(error)
    pytest.fail(told, pytrace=False)


@pytest.fixture
def assert_roofline() -> Callable[..., float]:
    """Assert that work reaches a share of its roof; returns the share.

    `assert_roofline(what, platform=…, op=…, shape=…, dtype=…, share=0.8, timer=None)`: `what` is a callable that is
    timed on the GPU (or by `timer`), seconds, or a text such as `52us`. A time below what the roof allows fails too.
    """

    def check(what: object, *, share: float = 0.8, timer: Any = None, **work: Any) -> float:
        __tracebackhide__ = True
        from kopt_kb.packs.inline.shares import roof_share, seconds_of

        return _judged(lambda: roof_share(seconds_of(what, timer), share=share, **work))

    return check


@pytest.fixture
def assert_kernel_not_slower(request: pytest.FixtureRequest) -> Callable[..., float]:
    """Assert that a kernel file is not slower than in `--kopt-base`, by interleaved blocks; returns the ratio of times.

    `assert_kernel_not_slower(file, shape=…, dtype=…, platform=…, config=None, regression=2.0, reference="")`, as
    `kb bench compare` decides: at most 1 % of runs fail in which no kernel changed, over all tests with this fixture.
    Undecided fails too. Without the option the test is skipped.
    """

    def check(file: str, **problem: Any) -> float:
        __tracebackhide__ = True
        base = request.config.getoption("--kopt-base")
        if not base:
            pytest.skip("give --kopt-base REVISION to compare with")
        from kopt_kb.packs.inline.revisions import KernelProblem, kernel_ratio

        sharing = [
            one for one in request.session.items if "assert_kernel_not_slower" in getattr(one, "fixturenames", ())
        ]
        return _judged(lambda: kernel_ratio(file, base, KernelProblem(**problem), max(1, len(sharing))))

    return check


@pytest.fixture
def assert_no_regression(request: pytest.FixtureRequest) -> Callable[..., float]:
    """Assert that work is not slower than in `--kopt-baseline`; returns the time in seconds.

    `assert_no_regression(what, name="", platform="", timer=None, tolerance=None)`: `what` as for `assert_roofline`;
    `name` tells several times of one test apart; `platform` keeps times of products apart; `tolerance` in percent.
    Without the option the time is taken and compared with nothing.
    """

    def check(
        what: object, *, name: str = "", platform: str = "", timer: Any = None, tolerance: float | None = None
    ) -> float:
        __tracebackhide__ = True
        from kopt_kb.packs.inline.shares import TimedShare, seconds_of

        config = request.config
        test = request.node.nodeid
        key, found = f"{test}::{name}" if name else test, TimedShare(seconds_of(what, timer), platform)
        updating = config.pluginmanager.get_plugin("kopt-kb-updating")
        baseline = config.stash.get(_KEY, None)
        if updating is not None:
            updating.take(test, key, found)
        elif baseline is not None:
            allowed = config.getoption("--kopt-tolerance") if tolerance is None else tolerance
            _judged(lambda: baseline.check(key, found, allowed))
        return found.seconds

    return check
