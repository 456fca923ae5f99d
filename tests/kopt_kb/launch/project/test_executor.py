"""Jobs on the small project: what the commands do becomes answers and outcomes; copies are kept and checked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.candidate.answers import AnswerBasis, Check, ReportEvidence, Unable
from kopt_kb.launch.project.bundle import bundle, files_of
from kopt_kb.tuning.gates import GateContext, judge
from kopt_kb.tuning.jobs import Ran
from tests.kopt_kb.launch.project.bench import BENCH, TAKES, Bench


@pytest.fixture
def bench(project_root: Path) -> Iterator[Bench]:
    made = Bench(project_root)
    yield made
    made.executor.close()


def test_environment_needs_no_gpu(bench: Bench) -> None:
    """Device, and the run was told once."""
    found = bench.run("environment", b"")
    assert found.result is not None and found.result.device
    assert len(bench.told) == 1


def test_other_jobs_are_unavailable(bench: Bench) -> None:
    """A project has no space to search."""
    found = bench.run("search", bench.baseline)
    assert found.outcome == "ok" and found.result == Unable(unavailable="a project has no search")


def test_a_check_of_the_baseline(bench: Bench) -> None:
    """Test passes; broken on purpose, test and benchmark fail; the log says so; the child was told once."""
    found = bench.run("check", bench.baseline, probe=True)
    basis = AnswerBasis("reported", "the project's test exited 0; no result was compared")
    assert found.result == Check(passed=True, basis=basis)
    assert "kb: test: {python} tests/check_gemm.py" in found.printed
    assert "test and benchmark fail, as they should, when ops/gemm.py is broken" in found.printed
    assert len(bench.told) == 1 and found.wall_s > 0


def test_a_benchmark_that_does_not_use_the_copy_is_found(bench: Bench, project_root: Path) -> None:
    """It prints rows although its kernel is broken."""
    file = project_root / "benchmark" / "bench_gemm.py"
    shutil.copytree(project_root / "ops", project_root / "installed")
    file.write_text(file.read_text().replace("from ops import gemm", "from installed import gemm"))
    other = Bench(project_root)
    found = other.run("check", other.baseline, probe=True)
    other.executor.close()
    assert found.result is not None and found.result.problem.startswith("the benchmark passes although ops/gemm.py")


def test_timing_in_turn(bench: Bench) -> None:
    """Each side twice, in seconds, with the header; copies are made once each."""
    faster = bench.with_kernel("TILE = 64", "TILE = 128")
    found = bench.run("timing", faster)
    assert found.result is not None
    sides = found.result.shapes["512x512x512"]
    assert [one.n for one in sides["candidate"]] == [1, 1]
    assert sides["incumbent"][0].median_s == pytest.approx(2 * sides["candidate"][0].median_s, rel=1e-6)
    assert found.result.header[0] == "label"
    assert found.printed.count("kb: benchmark: {python}") == 4
    copies = {sha: one.folder for sha, one in bench.executor.commands.copies.kept.items()}
    bench.run("timing", faster)
    assert {sha: one.folder for sha, one in bench.executor.commands.copies.kept.items()} == copies
    bench.executor.close()
    assert not any(one.parent.exists() for one in copies.values())


def test_an_incumbent_that_fails_is_not_the_candidates_fault(bench: Bench) -> None:
    """The timing is unavailable, so the round stays unverified."""
    broken = bench.with_kernel("return 40.0", "return 'ERROR' or 40.0")
    found = bench.run("timing", bench.with_kernel("TILE = 64", "TILE = 128"), broken)
    assert found.result is not None and found.result.unavailable.startswith("the incumbent could not be timed")
    found = bench.run("timing", broken)
    assert found.result is not None and found.result.problem.endswith("the score is 0")


def test_a_third_side_is_timed_too(bench: Bench) -> None:
    """A version that may be better than the incumbent runs in turn with both; its failure is not the candidate's."""
    faster, best = bench.with_kernel("TILE = 64", "TILE = 128"), bench.with_kernel("TILE = 64", "TILE = 96")
    found = bench.run("timing", faster, best=best)
    assert found.result is not None
    medians = {side: one[0].median_s for side, one in found.result.shapes["512x512x512"].items()}
    assert medians["candidate"] < medians["best"] < medians["incumbent"]
    broken = bench.with_kernel("return 40.0", "return 'ERROR' or 40.0")
    found = bench.run("timing", faster, best=broken)
    assert found.result is not None and found.result.unavailable.startswith("the best could not be timed")


def test_build_comes_first_and_once(project_root: Path) -> None:
    """A failing build is a build error; a good one is not repeated in the same copy."""
    (project_root / "build.sh").write_text("grep -q 'TILE = 64' ops/gemm.py && echo built >> built.txt\n")
    bench = Bench(project_root, ("[commands]\n", '[commands]\nbuild = "sh build.sh"\n'))
    found = bench.run("check", bench.with_kernel("TILE = 64", "TILE = 128"))
    assert found.result is not None and found.result.build_error == "the build ended with 1"
    assert found.result.passed is False
    bench.run("check", bench.baseline)
    bench.run("timing", bench.baseline)
    (copy,) = [
        one.folder for one in bench.executor.commands.copies.kept.values() if (one.folder / "built.txt").is_file()
    ]
    assert (copy / "built.txt").read_text() == "built\n"
    bench.executor.close()


@pytest.mark.parametrize(
    ("line", "memory", "outcome", "words"),
    [
        ("import os; os.kill(os.getpid(), 11)", 0, "ok", "the test ended by SIGSEGV"),
        ("raise SystemExit('no such tile')", 0, "ok", "the test ended with 1: no such tile"),
        ("import time; time.sleep(6000)", 0, "hang", "the test ran past 1 s and was ended"),
        ("b = bytearray(1 << 29); import time; time.sleep(6000)", 1 << 28, "oom", "held too much memory"),
    ],
)
def test_how_a_test_may_end(project_root: Path, line: str, memory: int, outcome: str, words: str) -> None:
    """Crashes and failures are answers, limits are outcomes."""
    test = 'test = { run = "{python} tests/check_gemm.py", limit_s = '
    bench = Bench(project_root, (f"{test}600", f"{test}{1 if outcome == 'hang' else 600}"))
    found = bench.run("check", bench.with_kernel("TILE = 64", f"TILE = 64\n{line}"), memory=memory)
    bench.executor.close()
    assert found.outcome == outcome
    said = found.result.problem if found.result is not None else found.printed.splitlines()[-1]
    assert words in said


def test_a_project_that_changed_meanwhile_is_refused(bench: Bench, project_root: Path) -> None:
    """Nothing is run, and nobody is blamed."""
    (project_root / "tests" / "check_gemm.py").write_text("")
    with pytest.raises(BadInput, match=r"tests/check_gemm.py is not what it was"):
        bench.run("check", bench.baseline)
    assert bench.told == []


def test_shapes_of_the_benchmark(project_root: Path) -> None:
    """As `shapes = "all"` asks for; a benchmark that fails names itself."""
    bench = Bench(project_root, (TAKES, BENCH))
    assert len(bench.executor.shapes(bench.baseline, bench.protected)) == 5
    with pytest.raises(BadInput, match=r"the benchmark ended with 1: ZeroDivisionError"):
        bench.executor.shapes(bench.with_kernel("return 40.0", "return 1 / 0 + 40.0"), bench.protected)
    bench.executor.close()


def test_a_profile_command_gives_evidence(project_root: Path) -> None:
    """What it writes to {csv} is the report; without one the evidence is unavailable."""
    bench = Bench(project_root)
    found = bench.run("evidence", bench.baseline)
    assert found.result == Unable(unavailable="the project names no profile command")
    bench.executor.close()
    bench = Bench(project_root, ("[commands]\n", '[commands]\nprofile = "cp project.toml {csv}"\n'))
    found = bench.run("evidence", bench.baseline)
    assert found.result is not None and found.result.csv.startswith("[project]")
    bench.executor.close()
    for odd, words in (
        ("mkfifo", "is no regular file"),
        ("ln -s /dev/zero", "is a link"),
        ("true", "wrote no {report}"),
    ):
        bench = Bench(project_root, ("[commands]\n", f'[commands]\nprofile = "{odd} {{csv}}"\n'))
        found = bench.run("evidence", bench.baseline)
        assert found.result is not None and words in found.result.unavailable
        bench.executor.close()


def test_a_profile_command_may_write_any_report(
    project_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text, bytes, or a folder: {report} is a path of the command's own; a folder that the user names can be read."""
    monkeypatch.setenv("KOPT_READABLE", str(tmp_path))
    binary, folder = tmp_path / "report.ncu-rep", tmp_path / "passes"
    binary.write_bytes(b"NVR\xff\xfe")
    folder.mkdir()
    (folder / "a.csv").write_text("a")
    for made, begin in ((binary, b"NVR\xff\xfe"), (folder, b"a.csv\0")):
        bench = Bench(project_root, ("[commands]\n", f'[commands]\nprofile = "cp -r {made} {{report}}"\n'))
        found = bench.run("evidence", bench.baseline)
        assert found.result is not None and found.result.report.startswith(begin)
        bench.executor.close()


def test_a_profile_command_that_takes_shapes_is_given_the_largest(project_root: Path) -> None:
    """Its report is of that shape and can be held against its time; one of several shapes is of none."""
    for words, shape in (("{shapes} ", "2048x2048x2048"), ("", "all")):
        line = f"{{python}} -c 'import sys; open(sys.argv[-1], chr(119)).write(sys.argv[1])' {words}{{report}}"
        bench = Bench(project_root, ("[commands]\n", f'[commands]\nprofile = """{line}"""\n'))
        found = bench.run("evidence", bench.baseline)
        assert isinstance(found.result, ReportEvidence), found
        assert found.result.shape == shape
        assert (found.result.csv == shape) == bool(words)
        bench.executor.close()


def test_the_project_is_no_way_back(bench: Bench, project_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python path into the project leads into the copy instead."""
    monkeypatch.setenv("PYTHONPATH", f"{project_root}/ops:/elsewhere")
    copy = bench.executor.commands.copies.of(bench.baseline, bench.protected)
    variables = bench.executor.commands.variables(copy, bench.project.commands["test"])
    assert variables["PYTHONPATH"].split(":") == [str(copy.folder), str(copy.folder / "ops"), "/elsewhere"]


FAKE = "import time\ntime.perf_counter = lambda: 0.0\n"


@pytest.mark.parametrize("name", ["sitecustomize.py", "tests/conftest.py", "benchmark/time.py", "new.pth"])
def test_a_new_file_that_would_fake_the_timer(bench: Bench, name: str) -> None:
    """Written while the test runs, it would be there when the benchmark runs: the test fails, the copy is made anew."""
    write = f"TILE = 64\nfrom pathlib import Path\nPath({name!r}).write_text({FAKE!r})"
    cheat = bench.with_kernel("TILE = 64", write)
    found = bench.run("check", cheat)
    assert found.result is not None and found.result.passed is False
    assert found.result.problem.startswith(f"{name} was added while the test ran")
    found = bench.run("timing", cheat)
    assert found.result is not None and f"{name} was added while the benchmark" in found.result.problem


def test_a_poisoned_cache_is_not_run(bench: Bench, project_root: Path) -> None:
    """A compiled file with the time and size of a protected module would be run in its place."""
    (project_root / "benchmark" / "rates.py").write_text("def scale(rate):\n    return rate\n")
    file = project_root / "benchmark" / "bench_gemm.py"
    file.write_text(file.read_text().replace("from ops import gemm", "import rates\nfrom ops import gemm"))
    poison = (
        "import importlib.util, marshal, os, struct\n"
        "PLACE = os.path.join(os.getcwd(), 'benchmark', 'rates.py')\n"
        "CODE = compile('raise SystemExit(77)', PLACE, 'exec')\n"
        "CACHE = importlib.util.cache_from_source(PLACE)\n"
        "os.makedirs(os.path.dirname(CACHE), exist_ok=True)\n"
        "HEAD = struct.pack('<II', int(os.stat(PLACE).st_mtime), os.stat(PLACE).st_size)\n"
        "open(CACHE, 'wb').write(importlib.util.MAGIC_NUMBER + bytes(4) + HEAD + marshal.dumps(CODE))\n"
    )
    other = Bench(project_root)
    cheat = other.with_kernel("TILE = 64", f"TILE = 64\n{poison}")
    found = other.run("timing", cheat)
    other.executor.close()
    assert found.result is not None and not found.result.problem


def test_the_cage_keeps_a_command_from_everything_but_its_copy(bench: Bench, project_root: Path) -> None:
    """Another version's copy, the project itself and the home of the user can't be written; the log says what held."""
    bench.run("timing", bench.with_kernel("TILE = 64", "TILE = 128"))
    other = bench.executor.commands.copies.kept[sha256(bench.baseline).hexdigest()].folder
    for place in (other, project_root, Path.home(), Path(__file__).parent):
        spoil = f"TILE = 64\nopen({str(place / 'slow.flag')!r}, 'w').close()"
        found = bench.run("timing", bench.with_kernel("TILE = 64", spoil))
        if "not held by write-protected files" in found.printed:
            pytest.skip("neither Landlock nor mount namespaces here")
        assert found.result is not None and "Error: " in found.result.problem
        assert not (place / "slow.flag").exists()
    assert "held by" in found.printed


def test_a_command_gets_a_home_of_its_own_and_no_secrets(
    bench: Bench, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables of its kind and those that the file names; HOME and TMPDIR lie beside the copy."""
    for name in ("SECRET_THING", "CUDA_API_KEY", "CUDA_HOME", "MINE"):
        monkeypatch.setenv(name, "x")
    named = Bench(project_root, ("[project]\n", '[project]\nenvironment = ["MINE"]\n'))
    copy = named.executor.commands.copies.of(named.baseline, named.protected)
    variables = named.executor.commands.variables(copy, named.project.commands["test"])
    named.executor.close()
    assert {"CUDA_HOME", "MINE", "PATH"} <= variables.keys()
    assert not {"SECRET_THING", "CUDA_API_KEY"} & variables.keys()
    assert Path(variables["HOME"]).parent == Path(variables["TMPDIR"]).parent == copy.folder.parent


def test_copies_of_other_versions_are_watched_without_a_cage(
    bench: Bench, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing lies beside a copy but its own; what is found all the same may not be written."""
    monkeypatch.setattr("kopt_kb.launch.project.running.caged", lambda argv, _: list(argv))
    bench.run("timing", bench.with_kernel("TILE = 64", "TILE = 128"))
    for one in bench.executor.commands.copies.kept.values():
        assert {place.name for place in one.folder.parent.iterdir()} == {"project", "home", "tmp"}
    incumbent = bench.executor.commands.copies.kept[sha256(bench.baseline).hexdigest()].folder
    spoil = f"TILE = 64\nopen({str(incumbent / 'slow.flag')!r}, 'w').close()"
    found = bench.run("timing", bench.with_kernel("TILE = 64", spoil))
    assert found.result is not None
    assert found.result.problem.startswith("slow.flag of another version's copy was changed while the bench")
    found = bench.run("timing", bench.with_kernel("TILE = 64", "TILE = 128"))
    assert found.result is not None and found.result.shapes


def test_files_that_no_folder_holds_are_a_build_failure(bench: Bench) -> None:
    """The candidate is to blame, and the project is not."""
    strange = bundle({**files_of(bench.baseline), "ops/gemm.py/x.py": ""})
    found = bench.run("check", strange)
    assert found.result is not None and found.result.build_error.startswith("'ops/gemm.py/x.py' can't be written")
    assert bench.run("timing", strange).outcome == "crash"


def test_a_build_that_fails_for_the_broken_kernel(project_root: Path) -> None:
    """Files it left half made are no reason to end the probe."""
    (project_root / "build.sh").write_text("echo 'x = 1' > made.py; grep -q TILE ops/gemm.py\n")
    bench = Bench(project_root, ("[commands]\n", '[commands]\nbuild = "sh build.sh"\n'))
    found = bench.run("check", bench.baseline, probe=True)
    bench.executor.close()
    assert found.result is not None and found.result.passed


def test_a_project_that_writes_beside_its_tests_is_told_what_to_do(project_root: Path) -> None:
    """No candidate ran yet: the place belongs into the project file, and then it is free."""
    test = project_root / "tests" / "check_gemm.py"
    test.write_text(f"{test.read_text()}open('tests/log.txt', 'w').close()\n")
    bench = Bench(project_root)
    found = bench.run("check", bench.baseline, probe=True)
    bench.executor.close()
    said = "tests/log.txt was added while the test ran; if that is meant, name it in [project] exclude"
    assert found.result is not None and found.result.problem == said
    bench = Bench(project_root, ("[project]", '[project]\nexclude = ["tests/*.txt"]'))
    found = bench.run("check", bench.baseline, probe=True)
    bench.executor.close()
    assert found.result is not None and found.result.passed


def test_a_candidate_that_prints_without_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended, and the reason says so; each command may print as much as any other."""
    monkeypatch.setattr("kopt_kb.sandbox.process.MAX_PRINTED_BYTES", 100_000)
    found = bench.run("timing", bench.with_kernel("TILE = 64", "TILE = 64\nprint('x' * 60_000)"))
    assert found.result is not None and found.result.shapes
    loud = "import sys\nif 'bench' in sys.argv[0]:\n    while True:\n        print('x' * 5000)"
    found = bench.run("timing", bench.with_kernel("TILE = 64", f"TILE = 64\n{loud}"))
    assert found.outcome == "limit" and found.result is None
    assert found.printed.endswith("kb: the benchmark printed more than 64 MiB and was ended; the score is 0\n")


@pytest.mark.parametrize(("gate", "line"), [("build", "sleep 6000"), ("correctness", "exit 0")])
def test_a_hang_counts_where_it_happens(project_root: Path, gate: str, line: str) -> None:
    """A build that hangs is no build; a test that hangs says nothing against the build, or that there is none."""
    (project_root / "build.sh").write_text(f"{line}\n")
    limit = 'test = { run = "{python} tests/check_gemm.py", limit_s = '
    build = f'[commands]\nbuild = {{ run = "sh build.sh", limit_s = {1 if gate == "build" else 600} }}\n'
    bench = Bench(project_root, ("[commands]\n", build), (f"{limit}600", f"{limit}1"))
    found = bench.run("check", bench.with_kernel("TILE = 64", "TILE = 64\nimport time; time.sleep(6000)"))
    bench.executor.close()
    assert found.outcome == "hang"
    ran = Ran(found.outcome, found.result, "r", found.printed)
    words = {}
    for one in ("build", "correctness"):
        context = GateContext(b"", None, False, lambda _: ran, dict, lambda _: None)  # type: ignore[arg-type,return-value]
        words[one] = judge(one, context)[0]  # type: ignore[arg-type]
    assert words[gate].result == "fail"
    assert f"the {'build' if gate == 'build' else 'test'} ran past 1 s" in words[gate].reason
    assert gate == "build" or words["build"].result == "pass"


def test_both_sides_of_a_repeat_have_one_seed(bench: Bench) -> None:
    """Inputs that follow from it change between repeats, and are no difference between incumbent and candidate."""
    found = bench.run("timing", bench.with_kernel("TILE = 64", "TILE = 128"))
    seeds = [
        line.rpartition("(seed ")[2] for line in found.printed.splitlines() if line.endswith(")") and "(seed " in line
    ]
    assert len(seeds) == 4
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]
