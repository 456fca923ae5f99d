"""What the doctor says of scripted machines: file trees, programs and packages that were never there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.pack import Pack
from kopt_kb.launch.machine import doctor
from kopt_kb.launch.machine.doctor import examine
from kopt_kb.launch.machine.health import HealthFinding, Host
from kopt_kb.sandbox.isolation import Isolation

VERSION = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build"
SMI = "| NVIDIA-SMI 580.95.05   Driver Version: 580.95.05   CUDA Version: 13.0     |"
GPU = "NVIDIA A100, 580.95.05, Disabled, 210 MHz, 1410 MHz"
PARAMS = "proc/driver/nvidia/params"
GOVERNOR = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
NVIDIA = {"proc/driver/nvidia/version": VERSION, PARAMS: "RmProfilingAdminOnly: 0\n"}
PROGRAMS = {
    "nvidia-smi": {(): SMI, ("--query-gpu=name,driver_version,persistence_mode,clocks.sm,clocks.max.sm", "--format=csv,noheader"): GPU},
    "ncu": {("--version",): "NVIDIA (R) Nsight Compute\nVersion 2025.3.1.0 (build 1)"},
    "git": {("--version",): "git version 2.39.5"},
}  # fmt: skip
Programs = Mapping[str, Mapping[tuple[str, ...], str]]
NOTHING: Programs = {}
HELD = Isolation(("user namespace",))


def _host(
    root: Path, files: Mapping[str, str] = {}, programs: Programs = NOTHING, packages: Mapping[str, str] = {},
    *, held: Isolation | OSError = HELD, environ: Mapping[str, str] = {},
) -> Host:  # fmt: skip
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    def ask(command: tuple[str, ...]) -> tuple[int, str]:
        answers = programs[command[0]]
        if command[1:] not in answers:
            raise PermissionError(13, "Permission denied")
        text = answers[command[1:]]
        return (1 if "fail" in text else 0), text

    def isolate() -> Isolation:
        if isinstance(held, OSError):
            raise held
        return held

    ranges = {"triton": ">=3.6,<3.10", "torch": ">=2.8"}
    which = {name: name for name in programs}.get
    return Host(root, which, ask, packages.get, ranges, isolate, 1000, environ, root / "home")


def _of(host: Host) -> dict[str, HealthFinding]:
    findings = examine(host).findings
    for one in findings:
        assert one.found, one
        assert (one.state in {"ok", "absent"}) <= (not one.fix), one
        assert one.fix or one.state not in {"wrong", "note"}, one
    return {f"{one.group} {one.name}": one for one in findings}


@pytest.mark.core
def test_a_bare_machine_has_nothing_wrong_but_git(tmp_path: Path) -> None:
    """No GPU, no profiler, no package: absent; no cpufreq: unknown, and why."""
    found = _of(_host(tmp_path))
    assert {name for name, one in found.items() if one.state == "wrong"} == {"programs git"}
    assert found["nvidia driver"].state == found["profilers ncu"].state == found["packages triton"].state == "absent"
    assert (found["processor governor"].state, found["processor governor"].found) == (
        "unknown", "no cpufreq here, as in most virtual machines",
    )  # fmt: skip


@pytest.mark.core
def test_a_good_nvidia_machine(tmp_path: Path) -> None:
    """Versions are read from driver, tools and packages; persistence is a note with its command."""
    host = _host(
        tmp_path, {**NVIDIA, GOVERNOR: "performance\n"}, PROGRAMS, {"triton": "3.9.0", "torch": "2.13.0+cu130"}
    )
    found = _of(host)
    assert found["nvidia driver"].found == "580.95.05" and found["nvidia cuda"].found.startswith("13.0 ")
    assert (
        found["nvidia gpu 0"].found == "NVIDIA A100"
        and found["nvidia gpu 0 clock"].found == "210 MHz now, 1410 MHz at most"
    )
    assert found["nvidia gpu 0 persistence"].state == "note" and "-pm 1" in found["nvidia gpu 0 persistence"].fix
    assert found["profilers ncu"].found == "2025.3.1.0, ncu" and found["profilers ncu permission"].state == "ok"
    assert [found[f"packages {name}"].state for name in ("triton", "torch")] == ["ok", "ok"]
    assert found["processor governor"].state == "ok"
    assert examine(host).is_right


@pytest.mark.core
@pytest.mark.parametrize(
    ("only", "capabilities", "state"),
    [("1", "0000000000000000", "wrong"), ("1", "000001ffffffffff", "ok"), ("1", "0000000000200000", "ok"), ("0", "0", "ok"), (None, "0", "unknown")],
)  # fmt: skip
def test_who_may_count(tmp_path: Path, only: str | None, capabilities: str, state: str) -> None:
    """RmProfilingAdminOnly and CAP_SYS_ADMIN decide; without the file nothing is claimed."""
    files = {
        **NVIDIA,
        PARAMS: f"ResmanDebugLevel: 4\nRmProfilingAdminOnly: {only}\n",
        "proc/self/status": f"CapEff:\t{capabilities}\n",
    }
    if only is None:
        files.pop(PARAMS)
    one = _of(_host(tmp_path, files, PROGRAMS))["profilers ncu permission"]
    assert one.state == state
    assert ("NVreg_RestrictProfilingToAdminUsers=0" in one.fix) == (state == "wrong")


@pytest.mark.parametrize(
    ("drop", "change", "name", "state"),
    [
        ("proc/driver/nvidia/version", {}, "nvidia driver", "wrong"),
        ("", {"nvidia-smi": {(): "fail: version mismatch"}}, "nvidia devices", "wrong"),
        ("", {"nvidia-smi": {(): "fail: version mismatch"}}, "nvidia cuda", "unknown"),
        ("", {"ncu": {("--version",): "fail: no library"}}, "profilers ncu", "unknown"),
        ("", {"ncu": {}}, "profilers ncu", "unknown"),
        ("", {"git": {("--version",): "fail"}}, "programs git", "unknown"),
    ],
)
def test_what_does_not_answer(tmp_path: Path, drop: str, change: Programs, name: str, state: str) -> None:
    """A module that is not loaded, programs that fail or can't be started."""
    files = {key: text for key, text in NVIDIA.items() if key != drop}
    assert _of(_host(tmp_path, files, {**PROGRAMS, **change}))[name].state == state


def test_tools_that_are_needed_and_missing(tmp_path: Path) -> None:
    """A driver without nvidia-smi and without ncu."""
    found = _of(_host(tmp_path, NVIDIA, {"git": PROGRAMS["git"]}))
    assert (found["nvidia devices"].state, found["profilers ncu"].state) == ("unknown", "wrong")


def test_an_amd_machine(tmp_path: Path) -> None:
    """Module, ROCm, the device and its profiler."""
    files = {"sys/module/amdgpu/version": "6.14.14\n", "opt/rocm/.info/version": "7.0.1\n", "dev/kfd": ""}
    found = _of(_host(tmp_path, files, {"git": PROGRAMS["git"], "rocprofv3": {("--version",): "version: 1.0.0"}}))
    assert [found[f"amd {name}"].found for name in ("driver", "rocm")] == ["6.14.14", "7.0.1"]
    assert found["amd device"].state == "ok" and found["profilers rocprofv3"].found == "1.0.0, rocprofv3"
    (tmp_path / "dev/kfd").unlink()
    (tmp_path / "opt/rocm/.info/version").unlink()
    found = _of(_host(tmp_path))
    assert (found["amd device"].state, found["amd rocm"].state, found["profilers rocprofv3"].state) == (
        "wrong",
        "unknown",
        "wrong",
    )


@pytest.mark.parametrize(
    ("version", "state"),
    [("3.5.1", "wrong"), ("3.6", "ok"), ("3.6.0", "ok"), ("3.9.7", "ok"), ("3.10.0", "wrong"), ("3.10.0rc1", "wrong"), ("4", "wrong")],
)  # fmt: skip
def test_versions_are_compared_as_numbers(tmp_path: Path, version: str, state: str) -> None:
    """3.10 is newer than 3.9; the fix names the range."""
    one = _of(_host(tmp_path, packages={"triton": version}))["packages triton"]
    assert one.state == state and (state == "ok" or one.fix == "pip install 'triton>=3.6,<3.10'")


def test_packs_add_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is asked with the machine at hand."""

    def lines(host: Host) -> Iterator[HealthFinding]:
        yield HealthFinding("mine", "thing", "ok", str(host.package("thing")))

    packs = {"mine": Pack("mine", "mine", doctor=lines), "other": Pack("other", "says nothing")}
    monkeypatch.setattr(doctor, "packs", lambda: table.Packs(packs, ()))
    assert _of(_host(tmp_path, packages={"thing": "2.1"}))["mine thing"].found == "2.1"


def test_what_isolation_lacks_is_named_with_what_helps(tmp_path: Path) -> None:
    """And a cage that can't be tried is unknown."""
    lacking = Isolation(("user namespace",), {"cgroup limits": "no cgroup v2", "something new": "why"})
    found = _of(_host(tmp_path, held=lacking))
    assert found["isolation user namespace"].state == "ok"
    assert "systemd-run" in found["isolation cgroup limits"].fix and found["isolation something new"].state == "note"
    assert _of(_host(tmp_path, held=OSError(12, "Cannot allocate memory")))["isolation cage"].state == "unknown"


def test_caches_have_a_place_a_size_and_may_be_read_only(tmp_path: Path) -> None:
    """A file where the folder should be can't be written."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.json").write_bytes(b"x" * 2000)
    (tmp_path / "file").touch()
    found = _of(
        _host(
            tmp_path, environ={"KOPT_CACHE": str(tmp_path / "pages"), "TRITON_CACHE_DIR": str(tmp_path / "file" / "x")}
        )
    )
    assert found["caches pages"].found == f"{tmp_path / 'pages'}, 1 file(s), 2 kB"
    assert found["caches triton"].state == "note" and "TRITON_CACHE_DIR=DIR" in found["caches triton"].fix


def test_a_slow_governor(tmp_path: Path) -> None:
    """It is a note with its command."""
    one = _of(_host(tmp_path, {GOVERNOR: "powersave\n"}))["processor governor"]
    assert (one.state, one.found, one.fix) == ("note", "powersave", "sudo cpupower frequency-set -g performance")


def _raises(_: Host) -> Iterator[HealthFinding]:
    raise RuntimeError("no\nline")


@pytest.mark.parametrize(
    "said", [_raises, lambda _: None, lambda _: [1], lambda _: [HealthFinding("a", "b", "great", "c")]]
)
def test_a_pack_that_can_not_speak_is_named_and_the_others_speak(
    said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it does, the doctor goes on; and it fills no screen."""
    chatty = Pack(
        name="chatty", what="talks", doctor=lambda _: (HealthFinding("a", "b", "ok", "c") for _ in range(10**6))
    )
    bad = Pack(name="bad", what="can't", doctor=said)  # type: ignore[arg-type]
    monkeypatch.setattr(doctor, "packs", lambda: table.Packs({"bad": bad, "chatty": chatty}, ()))
    found = list(doctor._packs(_host(tmp_path)))
    assert [(one.name, one.state) for one in found][:2] == [("bad", "wrong"), ("b", "ok")]
    assert len(found) == 1 + doctor._MOST_LINES
    assert all("\n" not in one.found for one in found)
