"""Fixtures and markers that every test folder shares."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Generator, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType

import pytest

_SKIPPED_CORE: list[str] = []
os.environ["KOPT_TRUST"] = str(Path(tempfile.mkdtemp(prefix="kb-test-trust-")) / "trust.json")
"""No test reads or changes what the person who runs the tests allowed."""
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Threads of torch, here and in children, sleep while they wait: two workers that spin take each other's processors."""
ROOT = Path(__file__).resolve().parent.parent


def _corpus_path() -> Path | None:
    named = os.environ.get("KOPT_PROFILE_CORPUS")
    candidates = [Path(named)] if named else [ROOT.parent / "shared" / "profiles"]
    return next((path for path in candidates if path.is_dir()), None)


@pytest.fixture(scope="session")
def profile_corpus() -> Path:
    """The folder of real profiler reports, or a skip that says how to provide it."""
    path = _corpus_path()
    if path is None:
        pytest.skip("no corpus of profiler reports: set KOPT_PROFILE_CORPUS to its folder")
    return path


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The checkout's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def fake() -> ModuleType:
    """tests/fake_gpu.py as a module."""
    return _module("fake_gpu")


@pytest.fixture(scope="session")
def ncu() -> ModuleType:
    """tests/fake_ncu.py as a module."""
    return _module("fake_ncu")


def _module(name: str) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture
def record(fake: ModuleType, tmp_path: Path) -> Callable[..., Path]:
    """Stores a record whose one launch is an entry of the fake device; returns its folder."""
    return partial(fake.store, tmp_path)


@pytest.fixture(scope="session")
def fits() -> Callable[[str, object], bool]:
    """Whether a document is what its schema in docs/schema says."""
    import jsonschema

    @cache
    def validator(name: str) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator(
            json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text())
        )

    return lambda name, document: validator(name).is_valid(document)


@pytest.fixture
def project_root(tmp_path: Path) -> Path:
    """A copy of the small project: a pure Python kernel, a test and a benchmark that writes a CSV without a GPU."""
    return Path(shutil.copytree(ROOT / "tests" / "data" / "project", tmp_path / "project"))


# The wiki below is invented; tests change it one line at a time.

HEADER = "| Metric | Value | Unit | Conditions | Grade | Source | Note |\n|---|---|---|---|---|---|---|"

TARGET = f"""---
target: sm_00
vendor: NVIDIA
arch: Testarch
title: Test target
---
# Test target

## Residency

{HEADER}
| warp_size | 32 | count | - | vendor | [^guide] table 1 row warp quote="32" | |
| ops_per_clock_per_sm | 1024 | op/clk | dtype=fp16; engine=matrix; sparsity=dense; acc=fp32 | vendor | [^guide] table 2 quote="1024" | |
| lanes_per_sm | 128 | count | dtype=fp32 | vendor | [^guide] table 2 quote="128" | |

[^guide]: title="Guide"; publisher="NVIDIA"; url="https://example.org/guide"; revision="1.0"; read="2026-11-21"
"""

PRODUCT = f"""---
platform: T10
vendor: NVIDIA
sku: Test 10
arch: Testarch
target: sm_00
aliases: [NVIDIA T10 48GB]
family: [T10]
not: [T10_PRO]
---
# Test 10

## Compute

{HEADER}
| sm_count | 100 | count | - | vendor | [^sheet] table 1 quote="100 SMs" | |
| sm_clock | 1000 | MHz | class=boost; ops=all | vendor | [^sheet] table 1 quote="1,000 MHz" | |
| peak_compute | 102.4 | TFLOPS | dtype=fp16; engine=matrix; sparsity=dense; acc=fp32; clock=boost | vendor | [^sheet] table 1 quote="102.4 teraFLOPS" | |
| peak_compute | 204.8 | TFLOPS | dtype=fp16; engine=matrix; sparsity=2:4; acc=fp32; clock=boost | vendor | [^sheet] table 1 quote="204.8 TF*" | |
| peak_compute | 25.6 | TFLOPS | dtype=fp32; engine=vector; sparsity=dense; acc=fp32; clock=boost | derived | - | formula: sm_count * lanes_per_sm[dtype=fp32] * 2 * sm_clock[class=boost;ops=all] |
| peak_compute | UNKNOWN | TFLOPS | dtype=bf16; engine=matrix; sparsity=dense; acc=unstated; clock=unstated | - | - | reason: the sheet prints fp16 only |
| peak_compute | NONE | TFLOPS | dtype=fp8; engine=matrix; sparsity=dense; acc=unstated; clock=unstated | vendor | [^sheet] table 1 | reason: no FP8 units |

## Memory

{HEADER}
| memory_capacity | 48 | GB | - | vendor | [^sheet] memory row quote="48GB" | |
| memory_bandwidth | 2.0 | TB/s | - | vendor | [^sheet] bandwidth row quote="2.0TB/s" | chosen: the sheet of the shipped part |
| memory_bandwidth | 2.2 | TB/s | - | secondary | [^blog] table quote="2.2 TB/s" | rejected: a blog before launch |
| memory_bus_width | 4096 | bit | - | vendor | [^sheet] memory row quote="4096-bit" | |
| memory_data_rate | 3.9 | Gbit/s | - | vendor | [^sheet] memory row quote="3.9 Gbps" | |
| l2_capacity | 50 | MiB | - | vendor | [^sheet] cache row quote="50 MB" | |
| memory_type | HBM3 | - | - | vendor | [^sheet] memory row quote="HBM3" | |

[^sheet]: title="Sheet"; publisher="NVIDIA"; url="https://example.org/sheet"; revision="2026-01"; read="2026-11-21"
[^blog]: title="Blog"; publisher="Someone"; url="https://example.org/blog"; revision="undated"; read="2026-11-21"
"""

SIBLING = (
    PRODUCT.replace("platform: T10", "platform: T10_PRO")
    .replace("sku: Test 10", "sku: Test 10 Pro")
    .replace("aliases: [NVIDIA T10 48GB]", "aliases: []")
    .replace("family: [T10]", "family: []")
    .replace("not: [T10_PRO]", "not: [T10]")
)


@pytest.fixture(scope="session")
def page_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of compiled pages for the whole run: its keys are the pages' bytes and the code, so it is never stale."""
    return tmp_path_factory.mktemp("page-cache")


@pytest.fixture
def wiki_root(tmp_path: Path, page_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The invented wiki in a folder of its own."""
    monkeypatch.setenv("KOPT_CACHE", str(page_cache))
    root = tmp_path / "wiki"
    for folder in ("hardware/nvidia", "targets"):
        (root / folder).mkdir(parents=True)
    (root / "targets" / "sm_00.md").write_text(TARGET)
    (root / "hardware" / "nvidia" / "t10.md").write_text(PRODUCT)
    (root / "hardware" / "nvidia" / "t10_pro.md").write_text(SIBLING)
    return root


@pytest.fixture
def product(wiki_root: Path) -> Path:
    """The page of the invented product T10."""
    return wiki_root / "hardware" / "nvidia" / "t10.md"


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """No test cuts the power: to wait for a disk after each event takes most of a campaign's time. Bad files still fail."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda file: os.fstat(file) and None)
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Let examples of hypothesis be the same each time, and none fail for the seconds it took; tables have one width.

    `--hypothesis-profile searching` draws new examples.
    """
    os.environ.pop("COLUMNS", None)  # tables are folded to it
    if importlib.util.find_spec("hypothesis") is not None:
        from hypothesis import HealthCheck, settings

        unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.register_profile("searching", unhurried)
        settings.register_profile("same", unhurried, derandomize=True)
        settings.load_profile(config.getoption("--hypothesis-profile", None) or "same")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without the garbage collector, and keep it from walking them later: it took a quarter of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def _is_traced(item: pytest.Item) -> bool:
    """Return whether a test counts for coverage: those in the rooms of the modules it speaks of, but no long campaign.

    The others, traced, take twice as long and reach little that these do not.
    """
    in_room = item.nodeid.startswith(_covered_rooms())
    return in_room and not ("slow" in item.keywords and item.nodeid.startswith("tests/kopt_kb/tuning/"))


@cache
def _covered_rooms() -> tuple[str, ...]:
    """Return the folders of the tests of those modules whose coverage is measured."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return tuple(f"tests/{name.rpartition('/')[0]}/" for name in tool["coverage"]["run"]["include"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that tests/slow.txt names, `-m "not slow"` is the quick lane; skip what needs packs without them."""
    slow = set((ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").split("\n"))
    for item in items:
        if " at 0x" in item.nodeid:  # differs between the workers of one run, which then collect different tests
            raise pytest.UsageError(f"{item.nodeid}: an address stands in this test's name; give its cases ids")
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker("slow")
        if config.pluginmanager.hasplugin("_cov") and not _is_traced(item):
            item.add_marker("no_cover")
        if item.get_closest_marker("packs") is not None and not (ROOT / "kopt_kb" / "packs").is_dir():
            item.add_marker(pytest.mark.skip(reason="needs the packs of this distribution, which are not installed"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember core tests that were skipped: they may never be."""
    if report.skipped and "core" in report.keywords:
        _SKIPPED_CORE.append(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a core test was skipped."""
    if _SKIPPED_CORE and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the core tests that were skipped."""
    for name in _SKIPPED_CORE:
        terminalreporter.write_line(f"CORE TEST SKIPPED: {name}")
