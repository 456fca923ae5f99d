"""The server under the SDK's own client: equal answers, refusals, cancellation, and a whole campaign over stdio."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp
import pytest

from kopt_kb.cli.main import main
from kopt_kb.packs.agents import call
from kopt_kb.packs.agents import words as words_of_calls
from kopt_kb.packs.agents.roots import Roots
from kopt_kb.packs.agents.server import made
from kopt_kb.packs.agents.tools import TOOLS

Calls = Callable[[Any], Awaitable[None]]


def _inside(root: Path, calls: Calls, *, mode: str = "auto") -> None:
    """Talk with a server in this process."""

    async def run() -> None:
        async with mcp.Client(made(Roots.of([str(root)])), mode=mode) as client:
            await calls(client)

    asyncio.run(run())


@pytest.fixture
def folder(tmp_path: Path, repo_root: Path) -> Path:
    """A folder with a report, a text, a kernel and a workspace."""
    report = repo_root / "tests/data/zoo"
    for name, path in {"a.csv": next(report.rglob("*.csv")), "norm.py": repo_root / "kernels/rms_norm.py"}.items():
        (tmp_path / name).write_bytes(path.read_bytes())
    (tmp_path / "text.md").write_text("H20: peak memory bandwidth 4.8 TB/s\n")
    words = ["init", "norm", "--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16"]
    assert main([*words, "--parent", str(tmp_path)]) == 0
    return tmp_path


def test_without_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool whose package is not installed is not on the list, which the others need; a call of it names the extra."""
    parsers = words_of_calls._parsers

    def bare(command: str) -> Any:
        if command == "count":
            raise ModuleNotFoundError("No module named 'numpy'", name="numpy")
        return parsers(command)

    async def calls(client: Any) -> None:
        assert {one.name for one in (await client.list_tools()).tools} == set(TOOLS) - {"count"}
        said = await client.call_tool("count", {"file": "a.py"})
        assert said.is_error and "[static]" in said.structured_content["error"]["fix"]

    monkeypatch.setattr(words_of_calls, "_parsers", bare)
    _inside(tmp_path, calls)


CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("lookup", {"platform": "H20", "metric": "memory_bandwidth"}, ["lookup", "H20", "memory_bandwidth"]),
    ("lookup", {"platform": "H100"}, ["lookup", "H100"]),
    ("compare", {"words": ["H20", "MI300X", "memory_bandwidth"]}, ["compare", "H20", "MI300X", "memory_bandwidth"]),
    ("roofline", {"platform": "H20", "op": "rms_norm", "shape": ["64x64"], "dtype": "bf16"},
     ["roofline", "--platform", "H20", "--op", "rms_norm", "--shape", "64x64", "--dtype", "bf16"]),
    ("count", {"file": "none.py", "shape": ["2x2"], "dtype": "bf16"},
     ["count", "{}/none.py", "--shape", "2x2", "--dtype", "bf16"]),
    ("compile", {"file": "norm.py", "target": "sm_90"}, ["compile", "{}/norm.py", "--target", "sm_90"]),
    ("record", {"file": "norm.py", "out": "made"}, ["record", "{}/norm.py", "--out", "{}/made"]),
    ("verify", {"action": "source", "file": "norm.py"}, ["verify", "source", "{}/norm.py"]),
    ("profile", {"action": "read", "files": ["a.csv"]}, ["profile", "read", "{}/a.csv"]),
    ("profile", {"action": "diff", "baseline": "a.csv", "reports": ["a.csv"], "threshold": 5},
     ["profile", "diff", "{}/a.csv", "{}/a.csv", "--threshold", "5"]),
    ("init", {"name": "x", "platform": "H20"}, ["init", "x", "--platform", "H20"]),
    ("tune", {"action": "status", "workspace": "kernel_opt_norm"}, ["tune", "status", "{}/kernel_opt_norm"]),
    ("audit", {"path": "kernel_opt_norm"}, ["audit", "{}/kernel_opt_norm"]),
    ("lint_text", {"files": ["text.md"]}, ["lint-text", "{}/text.md"]),
]  # fmt: skip


def test_every_tool_answers_as_its_command(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Structured content, text, error flag and exit code; the client holds each answer against the schema."""
    assert {name for name, _, _ in CASES} == set(TOOLS)

    async def calls(client: Any) -> None:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == set(TOOLS)
        capfd.readouterr()
        for name, given, words in CASES:
            got = await client.call_tool(name, given)
            code = main([*(word.format(folder.resolve()) for word in words), "--json"])
            wanted = json.loads(capfd.readouterr().out)
            assert got.structured_content == wanted == json.loads(got.content[0].text), name
            assert (got.meta["exit_code"], got.is_error) == (code, "error" in wanted), name

    _inside(folder, calls)


def _tree(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_tools_that_read_write_nothing(folder: Path) -> None:
    """Neither into the roots nor beside them; hostile arguments are refused with a code and a remedy."""
    before = _tree(folder)

    async def calls(client: Any) -> None:
        for name, given in [
            ("audit", {"path": "kernel_opt_norm"}), ("profile", {"action": "read", "files": ["a.csv"]}),
            ("audit", {"path": "/etc"}), ("audit", {"path": "kernel_opt_norm/../.."}), ("nothing", {}),
            ("lookup", {"platform": "\0"}), ("lookup", {"platform": "x" * 5000}), ("tune", {"action": "step"}),
            ("init", {"name": "../out", "platform": "H20", "op": "rms_norm", "shape": ["2x2"], "dtype": "bf16"}),
        ]:  # fmt: skip
            got = await client.call_tool(name, given)
            if got.is_error:
                error = got.structured_content["error"]
                assert error["code"].startswith("KB") and error["message"] and error["code"] != "KB000", name

    _inside(folder, calls)
    assert _tree(folder) == before and not list(folder.parent.glob("kernel_opt_out*"))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_cancelled_request_ends_its_child(folder: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """Progress comes while it runs; when the client drops the request the child is gone, and the server goes on."""
    code = "import os, sys, time; print('kb: pid', os.getpid(), file=sys.stderr, flush=True); time.sleep(600)"
    program = call._PROGRAM
    monkeypatch.setattr(call, "_PROGRAM", (sys.executable, "-c", code))
    told: list[str] = []

    async def calls(client: Any) -> None:
        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            told.append(message or "")

        task = asyncio.ensure_future(client.call_tool("audit", {"path": "kernel_opt_norm"}, progress_callback=progress))
        while not told:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        pid, end = int(told[0].split()[1]), time.monotonic() + 60
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        monkeypatch.setattr(call, "_PROGRAM", program)
        assert (await client.call_tool("lookup", {"platform": "H20", "metric": "memory_bandwidth"})).is_error is False

    _inside(folder, calls, mode=mode)


@pytest.mark.core
def test_a_whole_campaign_over_stdio(tmp_path: Path, repo_root: Path) -> None:
    """A scripted client creates a workspace, steps with its own plan to an accepted round, and audits it clean."""
    sys.path.insert(0, str(repo_root / "benchmarks"))
    try:
        script = importlib.import_module("mcp_campaign")
    finally:
        sys.path.pop(0)
    found = asyncio.run(script.campaign(tmp_path, "H20", simulate=True, shape="1024x512"))
    assert len(found["states"]) == 2  # a call a decision
    assert [one["decision"] for one in found["rounds"]] == ["accept", "accept"]
    assert found["rounds"][1]["claim"] == "each row is read once, as vectors"
    assert found["status"]["simulated"] is True and found["stop"]["reason"] == "user"
    assert found["audit"]["findings"] == []
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert {one["tool"] for one in calls} == {"init", "tune", "audit"} and not any(one["error"] for one in calls)


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path) -> None:
    """Exit 3 and the extra; and no other command needs it."""
    code = "import sys; sys.modules['mcp_types'] = None\nfrom kopt_kb.cli.main import main\nsys.exit(main(['mcp']))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 3 and "[mcp]" in done.stderr and "[KB120]" in done.stderr
