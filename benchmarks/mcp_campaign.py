"""A scripted client drives a whole campaign through `kb mcp`, on a GPU or simulated, and keeps what was said.

python benchmarks/mcp_campaign.py --out DIR --platform H100_SXM --budget-s 900
python benchmarks/mcp_campaign.py --out DIR --platform H20 --simulate

The client is the official SDK's, over stdio. It creates a workspace of a naive RMS norm, steps from decision to
decision with one hypothesis (the package's kernel) until its round is decided, asks for the status, stops and audits.
DIR/calls.jsonl gets a line a call as soon as it is answered: tool, arguments, seconds, state, progress; the workspace
is DIR/kernel_opt_norm.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import mcp
from mcp.client.stdio import StdioServerParameters

ROOT = Path(__file__).resolve().parent.parent
SHAPE = "8192x4096"
WORKSPACE = "kernel_opt_norm"


class Calls:
    """Calls of a client, each kept as a line."""

    def __init__(self, client: mcp.Client, log: Path) -> None:
        self._client = client
        self._log = log

    async def __call__(self, tool: str, **given: Any) -> dict[str, Any]:
        said: list[str] = []

        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            said.append(message or "")

        begin = time.monotonic()
        got = await self._client.call_tool(tool, given, progress_callback=progress)
        found: dict[str, Any] = got.structured_content
        shown = {name: value for name, value in given.items() if name != "plan"}
        line = {
            "tool": tool, "arguments": shown, "seconds": round(time.monotonic() - begin, 3),
            "error": found.get("error"), "state": found.get("state"), "progress": said[-3:],
            "exit_code": got.meta["exit_code"],
        }  # fmt: skip
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if got.is_error:
            raise SystemExit(f"{tool}: {found['error']}")
        return found


def server(folder: Path) -> StdioServerParameters:
    """Return how the server is started."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    names = ("CUDA_HOME", "CUDA_VISIBLE_DEVICES", "KOPT_CACHE", "LD_LIBRARY_PATH", "TRITON_CACHE_DIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    words = ["-P", "-m", "kopt_kb", "mcp", "--root", str(folder)]
    return StdioServerParameters(command=sys.executable, args=words, env={"PYTHONPATH": path, **kept}, cwd=folder)


async def campaign(
    folder: Path, platform: str, *, simulate: bool, shape: str = SHAPE, budget_s: float = 900.0
) -> dict[str, Any]:
    """Drive a campaign to the decision of its first hypothesis; return states, status and audit."""
    plan = {
        "category": "memory_access", "claim": "each row is read once, as vectors", "expected": "fewer transactions",
        "source": (ROOT / "kernels" / "rms_norm.py").read_text(encoding="utf-8"),
    }  # fmt: skip
    ends_at = time.monotonic() + budget_s
    states: list[str] = []
    async with mcp.Client(server(folder)) as client:
        call = Calls(client, folder / "calls.jsonl")
        work = {"shape": [shape], "dtype": "bf16", "kernel_demo": "op:naive/rms_norm"}
        await call("init", name="norm", platform=platform, framework="Triton", **work)
        report: dict[str, Any] = {"rounds": []}
        while len(report["rounds"]) < 2 or report["rounds"][1]["decision"] == "open":
            if time.monotonic() > ends_at:
                break
            report = await call(
                "tune", action="step", workspace=WORKSPACE, simulate=simulate, plan=plan, until_decided=True
            )
            states.append(report["state"])
        status = await call("tune", action="status", workspace=WORKSPACE)
        stopped = await call("tune", action="stop", workspace=WORKSPACE)
        audit = await call("audit", path=WORKSPACE)
    return {"states": states, "rounds": report["rounds"], "status": status, "stop": stopped["stop"], "audit": audit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")
    parser.add_argument("--platform", required=True)
    parser.add_argument("--shape", default=SHAPE)
    parser.add_argument("--budget-s", type=float, default=900.0)
    parser.add_argument("--simulate", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = asyncio.run(
        campaign(args.out.resolve(), args.platform, simulate=args.simulate, shape=args.shape, budget_s=args.budget_s)
    )
    (args.out / "found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    rounds = ", ".join(f"{one['claim'] or 'baseline'}: {one['decision']}" for one in found["rounds"])
    print(f"{len(found['states'])} steps; {rounds}; {len(found['audit']['findings'])} finding(s) of the audit")


if __name__ == "__main__":
    main()
