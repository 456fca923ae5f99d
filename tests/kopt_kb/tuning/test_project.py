"""Whole campaigns on a small project: accepted, failed, drifted, tampered with, hung and killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from campaign_words import PLAIN, RATE, SOURCE, Make, decisions, finish, kernel, reason, stages, state_of

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.consent import named_by
from kopt_kb.launch.project.bundle import files_of
from kopt_kb.launch.project.host import host_environment
from kopt_kb.sandbox.cage import below
from kopt_kb.sandbox.trust import TrustStore
from kopt_kb.tuning.patch import ForbiddenPathError
from kopt_kb.tuning.policy import policy_named
from kopt_kb.tuning.project import ProjectAdapter
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.journal.campaign_events import Blocked
from kopt_kb.workspace.journal.round_events import RunStarted
from kopt_kb.workspace.workspace import Workspace


def test_a_campaign_from_baseline_to_target(make_project, project_campaign: Make, wiki_root: Path) -> None:
    """Quick accept, small gain to full, FAIL, ERROR row, drifted header, and a target that needed all shapes."""
    workspace = make_project()
    answers = [
        ("double the tile", kernel(128)),
        ("a little more stages", stages(2.2)),
        ("wrong product", kernel(128, "\n\ndef matmul(a, b):\n    return a\n")),
        ("an error row", kernel(128, f"{RATE}    return 'ERROR' if m == 2048 else plain_rate(m, n, k)\n")),
        ("a drifted header", kernel(128, '\n\nMORE_COLUMNS = ["note"]\n')),
        ("the whole tile", kernel(512)),
    ]
    report = finish(project_campaign(workspace, answers))
    assert decisions(workspace) == [
        (0, "accept", "baseline"),
        (1, "accept", "R3 improved (quick)"),
        (2, "accept", "R3 improved"),
        (3, "rollback", "gate correctness (quick)"),
        (4, "rollback", "gate timing (quick)"),
        (5, "rollback", "gate timing (quick)"),
        (6, "accept", "R3 improved"),
        (7, "accept", "R3 improved"),
    ]
    assert report.stop.reason == "target"
    state = state_of(workspace)
    assert state.frozen.representative == ("512x512x512", "2048x2048x2048", "8192x8192x8192")
    assert state.frozen.header[:5] == ("label", "M", "N", "K", "Check")
    levels = [one.level for one in state.rounds]
    assert levels == ["", "quick", "full", "quick", "quick", "quick", "full", "full"]
    assert "under 5 %" in state.rounds[2].level_reason
    assert "Stop Conditions hold" in state.rounds[6].level_reason
    assert reason(workspace, 3).startswith("the test ended with 1: AssertionError: wrong product")
    assert "column Forward TFLOPS is 'ERROR'" in reason(workspace, 4) and "row 3" in reason(workspace, 4)
    assert "adds note" in reason(workspace, 5) and "score is 0" in reason(workspace, 5)
    assert len(state.rounds[1].times("v1")) == 3 and len(state.rounds[2].times("v2")) == 5
    assert state.rounds[7].hypothesis.claim == "v6 holds on every shape against v0"
    assert set(state.rounds[7].times("v0")) == set(PLAIN)
    assert audit(workspace.layout.root, Registry.open(wiki_root)).findings == ()
    assert "TILE = 512" in workspace.layout.kernel.read_text()
    config = workspace.layout.root / "project/ops/config.py"
    assert config.read_text() == "STAGES = 2.2\n"
    config.write_text("STAGES = 9\n")
    workspace.layout.kernel.unlink()
    (config.parent / "more.py").symlink_to("/dev/zero")
    project_file = workspace.layout.objects / state.task.project.blob
    kept = project_file.read_bytes()
    found = audit(workspace.layout.root, Registry.open(wiki_root)).findings
    assert [(one.code, one.file) for one in found] == [
        ("kernel", "kernel.py"), ("kernel", "project/ops/config.py"), ("kernel", "project/ops/more.py"),
    ]  # fmt: skip
    project_file.chmod(0o644)
    project_file.write_bytes(kept + b"#")
    found = audit(workspace.layout.root, Registry.open(wiki_root)).findings
    assert [one.code for one in found] == ["object"], "what the project file says is asked first"


def test_the_project_itself_is_never_written(make_project, project_campaign: Make, project_root: Path) -> None:
    """Every file keeps its bytes and times, and nothing is added."""
    workspace = make_project()

    def seen() -> dict[str, tuple[bytes, int]]:
        return {
            str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in project_root.rglob("*") if one.is_file()
        }

    before = seen()
    finish(project_campaign(workspace, [("double the tile", kernel(128))]))
    assert seen() == before


def test_a_changed_test_blocks_and_is_no_candidates_fault(
    make_project, remembered_campaign: Make, project_root: Path
) -> None:
    """One line names the file; once it is restored the campaign goes on where it was."""
    workspace = make_project()
    answers = [("double the tile", kernel(128))]
    with remembered_campaign(workspace, answers) as campaign:
        while not state_of(workspace).frozen:
            campaign.step()
    test = project_root / "tests" / "check_gemm.py"
    original = test.read_bytes()
    test.write_bytes(original + b"\nassert True\n")
    for _ in range(2):
        with (
            remembered_campaign(workspace, answers) as campaign,
            pytest.raises(BadInput, match="check_gemm.py: changed since"),
        ):
            campaign.run()
    blocked = [e.data for e in workspace.events() if isinstance(e.data, Blocked)]
    assert [one.needs for one in blocked] == [(f"{test} changed since the baseline",)]
    test.write_bytes(original)
    finish(remembered_campaign(workspace, answers))
    assert decisions(workspace)[1] == (1, "accept", "R3 improved (quick)")


def test_a_new_protected_file_blocks(make_project, remembered_campaign: Make, project_root: Path) -> None:
    """A conftest.py beside the tests changes them as much as an edit does."""
    workspace = make_project()
    with remembered_campaign(workspace) as campaign:
        while not state_of(workspace).frozen:
            campaign.step()
    new = project_root / "tests" / "conftest.py"
    new.write_text("")
    with (
        remembered_campaign(workspace) as campaign,
        pytest.raises(BadInput, match="conftest.py: is new since the base"),
    ):
        campaign.run()
    blocked = [e.data.needs for e in workspace.events() if isinstance(e.data, Blocked)]
    assert blocked == [(f"{new} is new since the baseline",)]
    new.unlink()
    assert finish(remembered_campaign(workspace)).stop.reason == "exhausted"


def test_a_changed_project_file_blocks(make_project, project_campaign: Make, project_root: Path) -> None:
    """The commands of an open campaign can't be edited under it."""
    workspace = make_project()
    file = project_root / "project.toml"
    file.write_text(file.read_text().replace("limit_s = 600", "limit_s = 601"))
    with project_campaign(workspace) as campaign, pytest.raises(BadInput, match="changed since the workspace was made"):
        campaign.run()
    assert not [e for e in workspace.events() if e.kind == "round_started"]


def test_a_benchmark_that_hangs_ends_the_round(make_project, project_campaign: Make) -> None:
    """The limit of the command holds, and the reason says which one."""
    workspace = make_project(("limit_s = 500", "limit_s = 5"))
    hang = kernel(128, f"{RATE}    import time\n    time.sleep(6000)\n")
    finish(project_campaign(workspace, [("hang", hang)]))
    assert decisions(workspace)[1] == (1, "rollback", "gate timing (quick)")
    assert reason(workspace, 1).startswith("the run ended with hang: kb: the quick ran past 5 s")


@pytest.mark.parametrize("when", ["import", "test"])
def test_a_candidate_that_edits_the_benchmark_fails(
    make_project, project_campaign: Make, when: str, project_root: Path
) -> None:
    """It only reaches its own copy, and the copy is checked after every command."""
    workspace = make_project()
    edit = (
        "\nimport pathlib, sys\n"
        "if WHEN in sys.argv[0]:\n"
        "    p = pathlib.Path(__file__).parents[1] / 'benchmark' / 'bench_gemm.py'\n"
        "    p.write_text(p.read_text() + '# faster')\n"
    ).replace("WHEN", repr("bench_gemm" if when == "import" else "check_gemm"))
    before = (project_root / "benchmark" / "bench_gemm.py").read_bytes()
    finish(project_campaign(workspace, [("edit", kernel(128, edit))]))
    gate = "timing" if when == "import" else "correctness"
    assert decisions(workspace)[1] == (1, "rollback", f"gate {gate} (quick)")
    assert "benchmark/bench_gemm.py was changed while" in reason(workspace, 1)
    assert (project_root / "benchmark" / "bench_gemm.py").read_bytes() == before


def test_a_path_outside_the_editable_ones_is_refused_before_the_round(make_project, remembered_campaign: Make) -> None:
    """Nothing is written, and the error names the path."""
    workspace = make_project()
    bad = {"files": {"benchmark/bench_gemm.py": "print(1)\n"}}
    with (
        remembered_campaign(workspace, [("bad", bad)]) as campaign,
        pytest.raises(ForbiddenPathError, match="bench_gemm.py"),
    ):
        campaign.run()
    assert [e.kind for e in workspace.events()].count("round_started") == 1


def test_commands_that_do_not_use_the_copy_are_found_at_the_baseline(
    make_project, project_campaign: Make, project_root: Path
) -> None:
    """A test that passes although the kernel is broken proves nothing: the campaign does not start."""
    (project_root / "tests" / "check_gemm.py").write_text("print('fine')\n")
    workspace = make_project()
    report = finish(project_campaign(workspace))
    assert report.stop.reason == "aborted"
    assert "the test passes although ops/gemm.py is broken" in reason(workspace, 0)


def test_forward_and_backward_together(make_project, project_campaign: Make, wiki_root: Path) -> None:
    """The time of a step is that of both passes; conditions are judged on the work of both."""
    more = ("forward = {", 'backward = { column = "Backward TFLOPS", unit = "TFLOPS" }\nforward = {')
    workspace = make_project(more, ('metric = "forward"', 'metric = "combined"'))
    report = finish(project_campaign(workspace))
    rate = 40.0 * 64 / 256 * 1.1 * (512**3) / (512**3 + 2**27)
    combined = 6 / (2 / rate + 4 / (rate / 2))
    assert report.baseline_s["512x512x512"] == pytest.approx(6 * 512**3 / (combined * 1e12), rel=1e-6)
    assert report.level == "times reported by the project, results not compared"
    first = report.conditions.judged[0]
    assert first.achieved_per_s == pytest.approx(combined * 1e12, rel=1e-6)
    trend = (workspace.layout.root / "logs/performance_trend.md").read_text()
    assert f"Gains: {report.level}." in trend and report.level in workspace.layout.readme.read_text()
    cells = [cell.strip() for cell in next(line for line in trend.splitlines() if line.startswith("| v0")).split("|")]
    assert "-" not in cells[4:9] and float(cells[4]) == pytest.approx(2 * float(cells[6]), rel=1e-2)
    assert audit(workspace.layout.root, Registry.open(wiki_root)).findings == ()


def test_cut_after_any_event_and_resumed_it_decides_the_same(
    tmp_path: Path, make_project, remembered_campaign: Make
) -> None:
    """For prefixes of the journal, a new campaign ends with equal decisions and files; finished runs are not repeated."""
    workspace = make_project()
    root, answers = workspace.layout.root, [("double the tile", kernel(128))]
    readme = shutil.copy(root / "README.md", tmp_path / "README.md")
    finish(remembered_campaign(workspace, answers))
    wanted = decisions(workspace)
    lines = workspace.layout.journal.read_bytes().splitlines(keepends=True)
    kinds = [e.kind for e in workspace.events()]
    cuts = [
        at + 1
        for at, kind in enumerate(kinds)
        if at > 4 and kind in {"run_started", "proposal_made", "level_chosen", "round_started"}
    ]
    for cut in cuts:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git", "v*.json", "*.md"))
        shutil.copy(readme, copy / "README.md")
        (copy / "journal.jsonl").write_bytes(b"".join(lines[:cut]))
        resumed = Workspace.open(copy)
        finish(remembered_campaign(resumed, answers))
        assert decisions(resumed) == wanted, f"cut after event {cut} ({kinds[cut - 1]})"
        assert (copy / "kernel.py").read_bytes() == workspace.layout.kernel.read_bytes()


def _command(pid: int) -> bytes:
    """The command line of a process; empty when it is gone, or only its entry is left."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_killed_in_a_benchmark_it_leaves_no_process_and_resumes(
    make_project, project_campaign: Make, project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL of the whole program ends its benchmark too; the next program goes on."""
    # another program sees the machine that there is, so this one has to see it too
    monkeypatch.setattr("kopt_kb.launch.project.executor.host_environment", host_environment)
    slow = project_root / "benchmark" / "bench_gemm.py"
    marker = tmp_path / "seen" / "pid"
    marker.parent.mkdir()
    monkeypatch.setenv("KOPT_READABLE", str(marker.parent))
    wait = f"import os, time\nif not os.path.exists({str(marker)!r}):\n    time.sleep(6000)\n"
    slow.write_text(slow.read_text().replace("import argparse\n", f"import argparse\n{wait}", 1))
    workspace = make_project()
    marker.write_text("the probe of the baseline runs the benchmark too")
    with project_campaign(workspace) as campaign:
        while not state_of(workspace).rounds or "correctness" not in state_of(workspace).rounds[0].gates:
            campaign.step()
    marker.unlink()
    TrustStore().add(workspace.layout.root, named_by(state_of(workspace)))
    command = [sys.executable, "-m", "kopt_kb", "tune", "run", str(workspace.layout.root), "--yes"]
    program = subprocess.Popen(
        command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    deadline = time.monotonic() + 500
    begun: list[int] = []
    while not any(b"bench_gemm.py" in _command(pid) for pid in begun) and time.monotonic() < deadline:
        begun = below(program.pid)  # a command in a cage can write no marker, and has another id in there
        time.sleep(0.05)
    assert begun
    program.send_signal(signal.SIGKILL)
    program.wait()
    deadline = time.monotonic() + 500
    while any(_command(pid) for pid in begun) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_command(pid) for pid in begun)
    marker.write_text("whoever comes next is not slow")
    report = finish(project_campaign(workspace))
    assert report.stop.reason == "exhausted"
    runs = [e.data for e in workspace.events() if isinstance(e.data, RunStarted) and e.data.gate == "timing"]
    assert [one.attempt for one in runs] == [1, 2]
    assert files_of(ObjectStore(workspace.layout.objects).get(state_of(workspace).rounds[0].incumbent))


def test_files_that_no_lint_knows(make_project, project_campaign: Make) -> None:
    """The gate says so and is not required where not everything is Python."""
    workspace = make_project(('editable = ["ops/*.py"]', 'editable = ["ops/*.py", "ops/*.txt"]'))
    finish(project_campaign(workspace, [("notes", {"files": {"ops/notes.txt": "changed\n"}})]))
    found = state_of(workspace).rounds[1]
    assert found.gates["lint"].result == "unavailable"
    assert found.gates["lint"].reason == "the lint knows Python, and ops/notes.txt is none"
    assert found.decided.rule == "R3 not improved (quick)"


def test_the_policy_of_a_project(make_project) -> None:
    """Core shapes of the file hold unless others were given; lint is required where everything is Python."""
    workspace = make_project(('metric = "forward"', 'core_shapes = ["512x512x512"]'))
    found = ProjectAdapter.of(workspace.state(), ObjectStore(workspace.layout.objects).get)
    assert found is not None
    policy = found.policy(policy_named("primus"))
    assert policy.core_shapes == ("512x512x512",) and "lint" in policy.required_gates
    given = policy_named("primus", core_shapes=("8192x8192x8192",))
    assert found.policy(given).core_shapes == ("8192x8192x8192",)


def test_a_workspace_without_a_project(workspace: Workspace) -> None:
    """Kernel files are judged by themselves."""
    assert ProjectAdapter.of(workspace.state(), lambda _: b"") is None


def test_a_kernel_in_another_language(make_project, project_campaign: Make, project_root: Path) -> None:
    """Built by its own command; the broken kernel of the baseline check is broken there too."""
    (project_root / "ops" / "kernel.sh").write_text('TILE=64\necho "TILE = $TILE" > ops/tile.txt\n')
    gemm = project_root / "ops" / "gemm.py"
    read = "import pathlib\n\nTILE = int(pathlib.Path(__file__).with_name('tile.txt').read_text().split()[-1])"
    gemm.write_text(SOURCE.replace("TILE = 64", read))
    workspace = make_project(
        ('kernel_source = "ops/gemm.py"', 'kernel_source = "ops/kernel.sh"'),
        ('editable = ["ops/*.py"]', 'editable = ["ops/*.sh"]'),
        ("[commands]\n", '[commands]\nbuild = "sh ops/kernel.sh"\n'),
    )
    wider = {"source": 'TILE=128\necho "TILE = $TILE" > ops/tile.txt\n'}
    wrong = {"source": "TILE=128\nno-such-compiler\n"}
    finish(project_campaign(workspace, [("wider", wider), ("wrong", wrong)]))
    assert [one[1:] for one in decisions(workspace)][:3] == [
        ("accept", "baseline"),
        ("accept", "R3 improved (quick)"),
        ("rollback", "gate build (quick)"),
    ]
    assert reason(workspace, 2).startswith("the build ended with 127")
    assert "TILE=128" in workspace.layout.kernel.read_text()
