"""A decorated function is called in a child under the profiler and judged; here the profiler hands over stored reports."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kopt_kb.base.errors import BadInput, KoptError, MissingTool
from kopt_kb.launch.machine.profile import Options, ProfilerFailed, plan
from kopt_kb.packs.inline.profiled import ProfiledCall, annotate, profiled

BENCH = """
import pathlib, sys
from kopt_kb import annotate, profiled

calls = pathlib.Path(__file__).with_name("calls")

@profiled(platform="H100_SXM", configs=[(8,), (16,)])
def bench(n, fails=False):
    "Doc."
    if fails:
        raise RuntimeError("no such size")
    with annotate("part"):
        calls.open("a").write(f"{n}\\n")

@profiled
def plain(n):
    bench(n)

bench_in_module_level = bench(1) if __import__("os").environ.get("KOPT_PROFILED") else None
"""


@pytest.fixture
def bench(tmp_path: Path, ncu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with decorated functions, and an ncu that hands over a report of two kernels."""
    text = ncu.report(("norm_rows(float *)", (128, 1, 1), (256, 1, 1)), ("norm_sum(float *)", (8, 1, 1), (64, 1, 1)))
    ncu.install(tmp_path / "bin", text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "bench_file.py").write_text(BENCH)
    spec = importlib.util.spec_from_file_location("bench_file", tmp_path / "bench_file.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "bench_file", made)
    spec.loader.exec_module(made)
    return made


def test_a_call_is_recorded_and_judged(bench: ModuleType, tmp_path: Path) -> None:
    """In a child: a warm-up and the recorded call; the verdict is that of the reader."""
    found = bench.bench(4)
    assert isinstance(found, ProfiledCall) and found.config == (4,)
    assert {kernel.profile.function for kernel in found.kernels} == {"norm_rows", "norm_sum"}
    assert found.limiter == found.verdict.limiter == "dram" and "norm_rows" in str(found)
    assert {kernel.product for kernel in found.kernels} == {"H100_SXM"}
    assert (tmp_path / "calls").read_text().split() == ["1", "4", "4"]  # the module's own call is a plain one
    log = (tmp_path / "bin" / "calls.txt").read_text()
    assert "--profile-from-start off" in log and "--set full" in log
    assert (bench.bench.__name__, bench.bench.__doc__) == ("bench", "Doc.")


def test_one_record_for_each_configuration(bench: ModuleType, tmp_path: Path) -> None:
    """Those of the decorator, or those of the call; a decorated function that is called inside is called plainly."""
    assert [one.config for one in bench.bench()] == [(8,), (16,)]
    assert [one.config for one in bench.plain(configs=[(2,)])] == [(2,)]
    assert (tmp_path / "calls").read_text().split()[-1] == "2"


def test_a_function_that_raises(bench: ModuleType) -> None:
    """The error quotes its last line."""
    with pytest.raises(ProfilerFailed, match="no such size|returned 1"):
        bench.bench(4, fails=True)


def test_an_empty_record_says_so(bench: ModuleType, ncu: ModuleType, tmp_path: Path) -> None:
    """A copy by the copy engine is no kernel; the way out is none of an option of `kb profile run`."""
    ncu.install(tmp_path / "bin")
    with pytest.raises(ProfilerFailed, match=r"bench launched no kernel.*copy engine") as caught:
        bench.bench(4)
    assert caught.value.error_code == "KB222" and "--kernel" not in str(caught.value)


def test_reports_are_kept_where_asked(bench: ModuleType, tmp_path: Path) -> None:
    """In the folder; the record of ranges names them."""
    profiled(output=tmp_path / "kept", ranges=("part",), platform="H100_SXM")(bench.plain.__wrapped__)(1)
    assert (tmp_path / "kept" / "profile.csv").is_file()
    assert "--nvtx --nvtx-include part/" in (tmp_path / "bin" / "calls.txt").read_text()


def test_without_a_profiler(bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Refused with the way out; so is one that may not read counters."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(MissingTool, match="install Nsight Compute"):
        bench.bench(4)


def test_without_permission(bench: ModuleType, ncu: ModuleType, tmp_path: Path) -> None:
    """As the profile runner says it."""
    ncu.install(tmp_path / "bin", fails="==ERROR== ERR_NVGPUCTRPERM")
    with pytest.raises(MissingTool) as caught:
        bench.bench(4)
    assert caught.value.error_code == "KB123"


def test_what_cannot_be_profiled(bench: ModuleType) -> None:
    """A local function, a built-in one, an argument that is no plain value."""

    @profiled
    def local() -> None:
        """Do nothing."""

    for call in (local, profiled(len), lambda: bench.bench(object())):
        with pytest.raises(BadInput) as caught:
            call()  # type: ignore[operator]
        assert caught.value.fix


def test_ranges(tmp_path: Path) -> None:
    """A name that ncu would read as an expression is refused; so are ranges elsewhere; outside of a child they do nothing."""
    for name in ("", "a/b", "a@b"):
        with pytest.raises(BadInput):
            annotate(name)
    with annotate("part"):
        pass
    with pytest.raises(KoptError, match="records no ranges"):
        plan("rocprofv3", ("x",), tmp_path, Options(ranges=("part",)))


@pytest.mark.corpus
def test_a_real_report(bench: ModuleType, ncu: ModuleType, tmp_path: Path, profile_corpus: Path) -> None:
    """What ncu recorded on a GPU is judged as `kb profile read` judges it."""
    from kopt_kb.cli.kit.judged import judge_reports
    from kopt_kb.wiki.registry import Registry

    report = next(
        path for path in sorted(profile_corpus.rglob("*.csv")) if b'"ID","Process ID"' in path.read_bytes()[:4096]
    )
    ncu.install(tmp_path / "bin", report.read_text(encoding="utf-8", errors="replace"))
    found = profiled(bench.plain.__wrapped__)(1)
    wanted = judge_reports([str(report)], None, Registry.open())
    assert isinstance(found, ProfiledCall) and found.kernels
    assert [(one.profile.name, one.verdict.limiter) for one in found.kernels] == [
        (one.profile.name, one.verdict.limiter) for one in wanted.kernels
    ]
