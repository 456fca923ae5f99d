"""A bench measures with the loop's own jobs, keeps records that belong to no round, and judges them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput, FindingError, MissingTool, UnknownData
from kopt_kb.launch.candidate.answers import read_answer
from kopt_kb.launch.candidate.job import Job, Outcome, Started
from kopt_kb.problem.problem import Problem
from kopt_kb.tuning.bench import BenchOptions, WrongKernelError, bench_kernel, bench_plan, utilization
from kopt_kb.tuning.options import Settings
from kopt_kb.tuning.session import Session
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.fold import fold
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.journal import Journal, JournalBusyError
from kopt_kb.workspace.journal.setup_events import BenchStarted
from kopt_kb.workspace.targets.conditions import AboveCeilingError
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.workspace import Workspace

AMOUNT = {
    "8192x4096": 134_225_920, "1024x512": 2_098_176, "16384x8192": 536_887_296, "4096x16384": 268_468_224
}  # fmt: skip
"""Bytes that an RMS norm in bf16 moves."""
CAMPAIGNS = Path(__file__).parents[3] / "benchmarks" / "campaigns" / "h200_sxm"
RIGHT = {"build_error": "", "passed": True, "problem": "", "rel_l2_err": 0.0, "checks": 4}


class Device:
    """An executor whose device moves bytes at a rate; it remembers the jobs."""

    name, simulated, trust = "device", False, "reported"
    close = staticmethod(lambda: None)

    def __init__(self, rate_per_s: float = 1.9e12, device: str = "NVIDIA T10 48GB", **more: Any) -> None:
        self.rate_per_s, self.device, self.more, self.jobs = rate_per_s, device, more, list[Job]()

    def run(self, job: Job, started: Started) -> Outcome:
        """Answer from the rate; `check` and `environment` can be given other answers."""
        started((job.kind,), 1, None)
        self.jobs.append(job)
        machine = {"device": self.device, "uuid": None, "driver": "5", "clocks": {}, "versions": {"torch": "2"}}
        answers = {"environment": machine, "check": RIGHT, "timing": {"shapes": {}}, **self.more}
        result = dict(answers[job.kind])
        if job.kind == "timing":
            shapes = {text: self._times(text, job.body.repeats) for text in job.body.shapes}
            result = {"shapes": {text: {"incumbent": one, "candidate": one} for text, one in shapes.items()}}
        return Outcome("ok", 0, None, 0.1, "", read_answer(job.kind, result))

    def _times(self, shape: str, repeats: int) -> list[dict[str, float]]:
        at = AMOUNT[shape] / self.rate_per_s
        return [{"n": 9, "median_s": at * (1 + one / 1000), "mad_s": 0.0} for one in range(repeats)]


@pytest.fixture
def registry(wiki_root: Path) -> Registry:
    """The invented wiki."""
    return Registry.open(wiki_root)


def test_records_are_kept_and_judged(workspace: Workspace, registry: Registry) -> None:
    """1.9 of 1.8 TB/s is met; events name kernel, machine, runs and records; the audit stays clean but for targets."""
    executor = Device()
    found = bench_kernel(workspace, registry, executor, BenchOptions(repeats=3, settings=Settings(samples=9)))
    assert (found.verdict, [job.kind for job in executor.jobs]) == ("met", ["environment", "check", "timing"])
    assert executor.jobs[2].body.samples == 9
    events = workspace.events()
    (started,) = [e for e in events if e.kind == "bench_started"]
    assert ObjectStore(workspace.layout.objects).get(started.data.kernel) == workspace.layout.kernel.read_bytes()
    records = {e.data.id: e.data for e in events if e.kind == "measured"}
    assert len(records) == 6 and {one.environment for one in records.values()} == {started.seq}
    assert found.evaluation is not None
    assert all(one.record in records for one in found.evaluation.judged)
    assert [e.data.run for e in events if e.kind == "run_finished"] == ["bench-1.check.1", "bench-1.timing.1"]
    assert (workspace.layout.root / "logs" / "bench.md").is_file()
    assert audit(workspace.layout.root, registry).clean


def test_a_second_bench_has_its_own_name(workspace: Workspace, registry: Registry) -> None:
    """And utilization then judges the later one."""
    for rate in (1.0e12, 1.9e12):
        bench_kernel(workspace, registry, Device(rate), BenchOptions())
    found = utilization(workspace, registry)
    assert (found.source.name, found.verdict) == ("bench-2", "met")


def test_without_a_record_nothing_is_written(workspace: Workspace, registry: Registry) -> None:
    """The numbers are the same, no record has an id."""
    before = workspace.layout.journal.read_bytes()
    found = bench_kernel(workspace, registry, Device(1.0e12), BenchOptions(record=False))
    assert (found.verdict, found.to_json()["shapes"][0]["record"]) == ("unmet", None)
    assert workspace.layout.journal.read_bytes() == before


@pytest.mark.parametrize(
    "answer", [{**RIGHT, "passed": False, "problem": "8192x4096, seed 1: NaN"}, {**RIGHT, "build_error": "no NaN"}]
)
def test_a_wrong_kernel_gets_no_numbers(workspace: Workspace, registry: Registry, answer: dict[str, Any]) -> None:
    """Exit 1 with the reason; nothing is timed."""
    executor = Device(check=answer)
    with pytest.raises(WrongKernelError, match="NaN") as caught:
        bench_kernel(workspace, registry, executor, BenchOptions())
    assert caught.value.exit_code == 1
    assert "timing" not in {job.kind for job in executor.jobs}
    assert not [e for e in workspace.events() if e.kind == "measured"]


def test_a_library_is_no_kernel(workspace: Workspace, registry: Registry) -> None:
    """The lint of the loop speaks before anything runs."""
    workspace.layout.kernel.write_text("def launch(a, b, config=None, out=None):\n    return a @ b\n")
    executor = Device()
    with pytest.raises(WrongKernelError, match="line 2"):
        bench_kernel(workspace, registry, executor, BenchOptions())
    assert not executor.jobs


def test_no_gpu_is_missing(workspace: Workspace, registry: Registry) -> None:
    """Exit 3 and no event."""
    before = workspace.layout.journal.read_bytes()
    with pytest.raises(MissingTool, match="no GPU"):
        bench_kernel(workspace, registry, Device(environment={"missing": "no GPU is visible"}), BenchOptions())
    assert workspace.layout.journal.read_bytes() == before


@pytest.mark.parametrize(("device", "word"), [("NVIDIA T10 Pro", "T10_PRO"), ("NVIDIA T99", "no page")])
def test_another_device_is_measured_and_never_met(
    workspace: Workspace, registry: Registry, device: str, word: str
) -> None:
    """Times are kept, conditions are not judged; nor do they stand for the workspace's product later."""
    found = bench_kernel(workspace, registry, Device(9e12, device), BenchOptions())
    assert found.verdict == "not evaluable"
    assert word in found.why_not
    assert utilization(workspace, registry).verdict == "not evaluable"


def test_above_the_roof_is_an_error(workspace: Workspace, registry: Registry) -> None:
    """90 of 2.0 TB/s, in the bench and whenever its records are judged."""
    with pytest.raises(AboveCeilingError):
        bench_kernel(workspace, registry, Device(9e13), BenchOptions())
    with pytest.raises(AboveCeilingError, match=r"bench-1\.timing"):
        utilization(workspace, registry)


def test_a_bench_above_the_roof_hides_no_other_one(workspace: Workspace, registry: Registry) -> None:
    """logs/bench.md says what it is, and the bench before it stands."""
    bench_kernel(workspace, registry, Device(1.9e12), BenchOptions())
    with pytest.raises(AboveCeilingError):
        bench_kernel(workspace, registry, Device(9e13), BenchOptions())
    assert "above a roof, so no measurement" in (workspace.layout.root / "logs" / "bench.md").read_text()
    assert utilization(workspace, registry).source.name == "bench-1"
    assert {one.code for one in audit(workspace.layout.root, registry).findings} == {"floor"}


def test_a_failed_bench_hides_no_other_one(workspace: Workspace, registry: Registry) -> None:
    """A wrong kernel is not timed: the bench before it stands, and the views know that it was tried."""
    bench_kernel(workspace, registry, Device(1.9e12), BenchOptions())
    with pytest.raises(WrongKernelError):
        bench_kernel(workspace, registry, Device(check={**RIGHT, "passed": False, "problem": "NaN"}), BenchOptions())
    assert utilization(workspace, registry).source.name == "bench-1"
    assert "No record" in (workspace.layout.root / "logs" / "bench.md").read_text()
    assert audit(workspace.layout.root, registry).clean


def test_only_a_cut_bench_is_named(workspace: Workspace, registry: Registry) -> None:
    """There are records, but they are not all: the error says so."""
    with Journal.open(workspace.layout.journal) as journal:
        machine = {"device": "NVIDIA T10 48GB", "uuid": None, "driver": None, "clocks": {}, "versions": {}}
        machine |= {"harness": "ab" * 32, "product": "T10"}
        started = {"bench": "bench-1", "kernel": "ab" * 32, "version": None, "machine": machine}
        seq = journal.append("bench_started", started).seq
        record = {"id": "m", "candidate": "bench-1", "shape": "8192x4096", "n": 3, "median_s": 1e-4, "spread": {}}
        journal.append("measured", {**record, "run": "r", "environment": seq})
    with pytest.raises(FindingError, match="no measurement records but those of bench-1, which was cut off"):
        utilization(workspace, registry)


@pytest.mark.parametrize("record", [True, False])
def test_a_running_campaign_is_not_disturbed(workspace: Workspace, registry: Registry, record: bool) -> None:
    """The journal's lock is respected before anything is measured, whether records are kept or not."""
    executor = Device()
    with Journal.open(workspace.layout.journal), pytest.raises(JournalBusyError):
        bench_kernel(workspace, registry, executor, BenchOptions(record=record))
    assert not executor.jobs


def copied(tmp_path: Path, name: str) -> Workspace:
    """A committed campaign where it may be written to."""
    return Workspace.open(shutil.copytree(CAMPAIGNS / name, tmp_path / name))


def test_a_campaign_goes_on_as_if_no_bench_had_been(tmp_path: Path) -> None:
    """Between rounds: the fold gives the same rounds, environment and noise; only the bench's name is new."""
    workspace = copied(tmp_path, "rms_norm_2")
    store = ObjectStore(workspace.layout.objects)
    before = fold(workspace.events(), store.get)
    found = bench_kernel(workspace, Registry.open(), Device(3.9e12, "NVIDIA H200"), BenchOptions(version=1))
    assert found.source.version == 1
    after = fold(workspace.events(), store.get)
    assert (after.rounds, after.environment_seq, after.noise, after.stopped) == (
        before.rounds, before.environment_seq, before.noise, before.stopped
    )  # fmt: skip
    assert (dict(before.benches), set(after.benches)) == ({}, {"bench-1"})
    assert utilization(workspace, Registry.open()).source.name == "bench-1"


@pytest.mark.parametrize(("every_shape", "verdict"), [(False, "met"), (True, "unmet")])
def test_utilization_of_a_committed_campaign(tmp_path: Path, every_shape: bool, verdict: str) -> None:
    """softmax on an H200: aggregate 1.045, one shape at 0.9997 of its target; shares of both kinds of roof."""
    workspace = copied(tmp_path, "softmax")
    found = utilization(workspace, Registry.open(), every_shape=every_shape)
    assert (found.verdict, found.source.name, found.product) == (verdict, "v6", "H200_SXM")
    assert found.evaluation is not None and found.evaluation.aggregate == pytest.approx(1.045, abs=5e-4)
    last = {one.shape: one for one in found.shapes}["4096x16384"]
    dram = {one.name: one for one in last.roofs}["dram"]
    assert dram.documented_share == pytest.approx(dram.achieved_per_s / 4.8e12)
    assert dram.measured_share is not None and dram.measured_share > dram.documented_share
    assert utilization(workspace, Registry.open(), 0).verdict == "unmet"


def test_no_records_say_what_to_run(workspace: Workspace, registry: Registry) -> None:
    """One line, exit 1."""
    with pytest.raises(FindingError, match="kb bench kernel") as caught:
        utilization(workspace, registry)
    assert caught.value.exit_code == 1


def test_unknown_targets_are_4(tmp_path: Path, registry: Registry, naive: Path, product: Path) -> None:
    """Without the bandwidth there is no condition, with records or without."""
    unknown = "| memory_bandwidth | UNKNOWN | TB/s | - | - | - | reason: nobody says |"
    lines = [one for one in product.read_text().split("\n") if not one.startswith(("| memory_bandwidth |", "[^blog]"))]
    at = next(number for number, one in enumerate(lines) if one.startswith("| memory_bus_width"))
    product.write_text("\n".join([*lines[:at], unknown, *lines[at:]]))
    problem = Problem.of("rms_norm", ["8192x4096", "1024x512"], "bf16")
    task = Task("T10", "Triton", naive, problem, allow_unknown=True)
    workspace = Workspace.create(tmp_path, "unknown", task, Registry.open(product.parents[2]))
    with pytest.raises(UnknownData, match="UNKNOWN") as caught:
        utilization(workspace, registry)
    assert caught.value.exit_code == 4
    found = bench_kernel(workspace, registry, Device(), BenchOptions())
    assert (found.verdict, found.unknown) == ("unknown", ("8192x4096", "1024x512"))
    assert utilization(workspace, registry).verdict == "unknown"


def test_a_simulated_workspace_takes_no_records(workspace: Workspace, registry: Registry, make_campaign) -> None:
    """Its own are not evaluable; measuring without a record is allowed."""
    with make_campaign(workspace, rounds=1) as campaign:
        campaign.run()
    assert utilization(workspace, registry).verdict == "not evaluable"
    with pytest.raises(BadInput, match="never share"):
        bench_plan(workspace, BenchOptions())
    assert bench_plan(workspace, BenchOptions(record=False)).to_json()["kernel"] == "kernel.py"


def test_snapshots_are_named(tmp_path: Path) -> None:
    """Version 5 of the softmax was rolled back."""
    with pytest.raises(BadInput, match="snapshots: 0, 1, 2, 3, 4, 6"):
        bench_plan(copied(tmp_path, "softmax"), BenchOptions(version=5))


@pytest.mark.parametrize("sizes", [{"repeats": 0}, {"settings": Settings(samples=2)}, {"settings": Settings(run_s=0)}])
def test_sizes_that_measure_nothing_are_refused(sizes: dict[str, Any]) -> None:
    """Exit 2."""
    with pytest.raises(BadInput):
        BenchOptions(**sizes)


def test_an_edit_that_a_bench_kept_is_still_an_edit(workspace: Workspace, registry: Registry, make_campaign) -> None:
    """Benching an edited kernel.py does not allow a campaign to overwrite it."""
    with make_campaign(workspace, rounds=1) as campaign:
        campaign.run()
    edited = workspace.layout.kernel.read_bytes() + b"# edited\n"
    workspace.layout.kernel.write_bytes(edited)
    session = Session.open(workspace.layout, Device())
    machine = next(e.data for e in session.journal.events if e.kind == "environment_recorded")
    session.append(BenchStarted("bench-1", session.store.put(edited), None, machine))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="edited by hand"):
        session.checkout(workspace.state().created.kernel)
    session.close()
    assert workspace.layout.kernel.read_bytes() == edited


def test_the_kernel_of_a_project_is_not_benched_alone(make_project, wiki_root: Path) -> None:
    """Its files only make sense inside the project."""
    with pytest.raises(BadInput, match="the kernel is files of a project"):
        bench_kernel(make_project(), Registry.open(wiki_root), Device(), BenchOptions())
