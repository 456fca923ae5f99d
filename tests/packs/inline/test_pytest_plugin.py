"""The pytest fixtures, in runs of pytest of their own; and what the plugin costs where nobody uses it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.packs.inline.profiled import ProfiledFunction

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "kopt_kb.packs.inline.pytest_plugin", "-p", "no:cacheprovider")
SHARES = """
    WORK = dict(platform="H20", op="rms_norm", shape="8192x4096", dtype="bf16")

    def test_good(assert_roofline):
        assert 0.8 <= assert_roofline("40us", share=0.8, **WORK) <= 1

    def test_timer(assert_roofline):
        assert_roofline(lambda: None, timer=lambda call: 36e-6, **WORK)

    def test_slow(assert_roofline):
        assert_roofline("80us", share=0.8, **WORK)

    def test_impossible(assert_roofline):
        assert_roofline("3us", share=0.8, **WORK)
"""
TIMES = """
    import json, pathlib
    SECONDS = json.loads(pathlib.Path("seconds.json").read_text())

    def test_a(assert_no_regression):
        assert assert_no_regression(SECONDS["a"], platform="H20") == SECONDS["a"]

    def test_two(assert_no_regression):
        assert_no_regression(SECONDS["b"], name="small", platform="H20")
        assert_no_regression("1ms", name="large", platform="H20")
        assert not SECONDS.get("fails")
"""


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, repo_root: Path) -> None:
    """Runs in processes of their own, with no other plugin: one inside would take modules away from later tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(repo_root))


def test_shares(pytester: pytest.Pytester) -> None:
    """A share that is reached passes; below it, and above the roof, the test fails with one line and its source."""
    pytester.makepyfile(SHARES)
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(passed=2, failed=2)
    text = result.stdout.str()
    assert "of the roof, not 80.0%" in text and "[KB470]" in text and "h20.md" in text
    assert "roof_share(" not in text and "another exception" not in text


def _seconds(pytester: pytest.Pytester, **times: object) -> None:
    (pytester.path / "seconds.json").write_text(json.dumps(times))


def test_the_blocks_of_the_page(pytester: pytest.Pytester, repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decorator's takes what it is given; the tests run, here with a clock that says the same each time."""
    page = (repo_root / "docs/how-to/test_kernels.md").read_text()
    decorated, tests = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    scope: dict[str, object] = {"__name__": "bench"}
    exec(compile(decorated, "bench.py", "exec"), scope)
    assert isinstance(scope["bench"], ProfiledFunction)
    pytester.makeconftest(
        "import kopt_kb.launch.kernel.timing as timing\ntiming.measure = lambda *_, **__: [(45e-6,) * 3]"
    )
    pytester.makepyfile("norm = x = w = None\n" + tests)
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=2)


def test_times_against_a_file(pytester: pytest.Pytester) -> None:
    """Taken up, equal, slower, of a test that is not in it; of a failed test nothing is taken up."""
    pytester.makepyfile(TIMES)
    file = pytester.path / "times.json"
    words = (*PLUGIN, f"--kopt-baseline={file}")
    _seconds(pytester, a=1e-3, b=2e-3)
    assert not file.exists()
    result = pytester.runpytest_subprocess(*words)
    result.assert_outcomes(failed=2)
    assert "--kopt-update-baseline" in result.stdout.str()
    pytester.runpytest_subprocess(*words, "--kopt-update-baseline").assert_outcomes(passed=2)
    stored = json.loads(file.read_text())["times"]
    assert len(stored) == 3 and stored["test_times_against_a_file.py::test_a"] == {"seconds": 1e-3, "platform": "H20"}
    pytester.runpytest_subprocess(*words).assert_outcomes(passed=2)
    _seconds(pytester, a=1.2e-3, b=2e-3)
    result = pytester.runpytest_subprocess(*words)
    result.assert_outcomes(passed=1, failed=1)
    assert "20.0 % slower" in result.stdout.str()
    pytester.runpytest_subprocess(*words, "--kopt-tolerance=25").assert_outcomes(passed=2)
    _seconds(pytester, a=1.2e-3, b=9e-3, fails=True)
    pytester.runpytest_subprocess(*words, "--kopt-update-baseline").assert_outcomes(passed=1, failed=1)
    stored = json.loads(file.read_text())["times"]
    assert stored["test_times_against_a_file.py::test_a"]["seconds"] == 1.2e-3
    assert stored["test_times_against_a_file.py::test_two::small"]["seconds"] == 2e-3


def test_a_kernel_against_a_revision(pytester: pytest.Pytester) -> None:
    """Two tests share the false alarms of the run; what is found fails with one line; without a base both are skipped."""
    pytester.makeconftest("""
        import kopt_kb.packs.inline.revisions as revisions
        from kopt_kb.base.errors import FindingError

        def ratio(file, base, problem, kernels):
            assert (base, kernels, problem) == ("main", 2, revisions.KernelProblem("4x4", "bf16", "H20"))
            if file == "slow.py":
                raise FindingError("regression against main: +2 %", code="KB473")
            return 0.99

        revisions.kernel_ratio = ratio
    """)
    pytester.makepyfile("""
        PROBLEM = dict(shape="4x4", dtype="bf16", platform="H20")

        def test_good(assert_kernel_not_slower):
            assert assert_kernel_not_slower("good.py", **PROBLEM) == 0.99

        def test_slow(assert_kernel_not_slower):
            assert_kernel_not_slower("slow.py", **PROBLEM)
    """)
    result = pytester.runpytest_subprocess(*PLUGIN, "--kopt-base=main")
    result.assert_outcomes(passed=1, failed=1)
    assert "regression against main: +2 % [KB473]" in result.stdout.str()
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(skipped=2)


@pytest.mark.parametrize("words", [("--kopt-update-baseline",), ("--kopt-baseline=broken.json",)])
def test_options_that_cannot_be(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """A usage error, before any test runs."""
    (pytester.path / "broken.json").write_text("{")
    result = pytester.runpytest_subprocess(*PLUGIN, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_it_costs_other_runs_nothing(repo_root: Path) -> None:
    """Its module loads nothing of the package beyond the names, and no library."""
    code = "import sys, pytest\nbefore = set(sys.modules)\nimport kopt_kb.packs.inline.pytest_plugin\nprint(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {
        "kopt_kb",
        "kopt_kb.packs",
        "kopt_kb.packs.inline",
        "kopt_kb.packs.inline.pytest_plugin",
    }
    assert 'kopt-kb = "kopt_kb.packs.inline.pytest_plugin"' in (repo_root / "pyproject.toml").read_text()


def test_an_unused_plugin_adds_no_hook(pytester: pytest.Pytester) -> None:
    """Nothing is registered unless times are to be taken up."""
    pytester.makepyfile(
        "def test_it(pytestconfig): assert not pytestconfig.pluginmanager.has_plugin('kopt-kb-updating')"
    )
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)
