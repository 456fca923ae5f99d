"""Autotuned Triton kernels of others, from `kb init --call` to the end, against their own best configuration, on a GPU.

Usage: python benchmarks/user_kernels.py FOLDER --out FILE [--seconds 55] [--only NAME]

FOLDER holds the files that KERNELS names, as their projects publish them; they are fetched and never kept here.
For each kernel: `kb init --call`, then `kb tune run` with what is left of the seconds. Then Triton's own autotuner
chooses among the file's configurations on this device, and the file with that choice alone meets the file that the
campaign ended with in one contest of records. FILE gets a line a kernel as soon as it is done: Triton's choice, the
campaign's settings and rounds, and the contest's ratio with its interval. A loss stands there like a gain.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from launcher_gpu import told

from kopt_kb.analysis.ir.source.settings import CONFIG, config_text, settings_of, with_settings
from kopt_kb.launch.compile.decorated import described
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.record.request import TensorArgument
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.state import WorkspaceState
from kopt_kb.workspace.workspace import Workspace

KERNELS = {
    "swiglu": ("swiglu_fwd.py", "_swiglu_fwd", "fp16[4096,8192]"),
    "matmul": ("matmul.py", "matmul", "fp16[4096,4096],fp16[4096,4096]"),
    "layer_norm": ("layer_norm_fwd.py", "_layer_norm_fwd", "fp32[8192,4096],fp32[4096],fp32[4096],1e-5"),
}
"""Name → file, function and arguments: TritonBench's swiglu_fwd and layer_norm_fwd, Triton's matrix multiplication."""

ROOT = Path(__file__).resolve().parents[1]


def kb(*words: str, seconds: float = 120.0) -> str:
    """Run a command; what it prints to stdout. A failure is shown and ends the kernel."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-m", "kopt_kb", *words], env=env, capture_output=True, text=True, timeout=seconds, check=False
    )
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"kb {words[0]}: {done.stderr[-800:]}")
    return done.stdout


def platform_here() -> str:
    """Return the product that the wiki knows this device as."""
    import torch

    return "H200_SXM" if "H200" in torch.cuda.get_device_name(0) else "H100_SXM"


def chosen_by_triton(source: Path, function: str, arguments: str) -> tuple[str, dict[str, Any], float]:
    """Return kernel, what Triton's autotuner chooses on this device, and the seconds that took."""
    import torch
    from triton.runtime.autotuner import Autotuner

    from kopt_kb.cli.workspace.init_call import call_given, parts_of

    begin = time.monotonic()
    module = load_module(str(source))
    call = call_given(function, parts_of(f"{function}({arguments})")[1], source.read_bytes(), str(source))
    kinds = {"fp16": torch.float16, "fp32": torch.float32}
    tensors = {name: one for name, one in call.arguments.items() if isinstance(one, TensorArgument)}
    made = {name: torch.randn(one.shape, device="cuda").to(kinds[one.dtype]) for name, one in tensors.items()}
    given = {**call.arguments, **made}
    getattr(module, function)(**given)
    torch.cuda.synchronize()
    tuner = next(one for one in vars(module).values() if isinstance(one, Autotuner))
    return tuner.base_fn.__name__, described(tuner.best_config), time.monotonic() - begin


def ratio_of(workspace: Path, state: WorkspaceState, own: bytes, best: bytes, folder: Path) -> dict[str, Any]:
    """Return the contest of two versions as `kb bench record --json` says it."""
    assert state.problem.own is not None
    reference = folder / "reference.py"
    reference.write_bytes(ObjectStore(workspace / "objects").get(state.problem.own.reference))
    for name, source in (("own", own), ("best", best)):
        (folder / f"{name}.py").write_bytes(source)
        kb("record", str(folder / f"{name}.py"), "--problem", str(workspace), "--platform", state.created.platform,
           "--out", str(folder / f"{name}.record"))  # fmt: skip
    said = kb("bench", "record", str(folder / "own.record"), str(folder / "best.record"), "--reference",
              str(reference), "--json")  # fmt: skip
    found = json.loads(said)
    assert isinstance(found, dict)
    return found


def run(name: str, files: Path, seconds: float) -> dict[str, Any]:
    """Tune one kernel; everything that the line says of it."""
    file, function, arguments = KERNELS[name]
    with tempfile.TemporaryDirectory(prefix="users-") as text:
        folder, begin = Path(text), time.monotonic()
        call = f"{function}({arguments})"
        kb("init", name, "--platform", platform_here(), "--kernel-demo", str(files / file), "--call", call,
           "--parent", text)  # fmt: skip
        init_s = time.monotonic() - begin
        workspace = folder / f"kernel_opt_{name}"
        left = max(10.0, seconds - init_s)
        kb("tune", "run", str(workspace), "--budget-s", f"{left:.0f}", "--yes", seconds=left + 60)
        took_s = time.monotonic() - begin
        state = Workspace.open(workspace).state()
        store = ObjectStore(workspace / "objects")
        rounds = [
            (one.number, one.hypothesis.claim if one.hypothesis else "", getattr(one.decided, "decision", "open"))
            for one in state.rounds
        ]
        line: dict[str, Any] = {"kernel": name, "call": call, "init_s": init_s, "took_s": took_s, "rounds": rounds}
        line |= {"journal": told(workspace)}
        if state.best is None or state.created.kernel is None:
            return {**line, "problem": state.stopped.reason if state.stopped else "no version was accepted"}
        given, best = store.get(state.created.kernel), store.get(state.best.submitted[state.best.name].blob)
        (folder / "given.py").write_bytes(given)
        kernel, choice, tuned_s = chosen_by_triton(folder / "given.py", function, arguments)
        own = with_settings(given, {f"{kernel}.{CONFIG}": config_text(choice)})
        line |= {"triton_chooses": config_text(choice), "triton_s": tuned_s, "best": settings_of(best)}
        line |= {"same": own == best, "contest": ratio_of(workspace, state, own, best, folder)}
        return line


def main() -> None:
    """Run all, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=55.0)
    parser.add_argument("--only", choices=sorted(KERNELS))
    args = parser.parse_args()
    for name in [args.only] if args.only else KERNELS:
        try:
            line = run(name, args.files, args.seconds)
        except Exception as error:  # noqa: BLE001 - the next kernel is run all the same, and this one's line says why
            line = {"kernel": name, "problem": f"{type(error).__name__}: {str(error)[-600:]}"}
        with args.out.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
        print(json.dumps(line)[:600], flush=True)


if __name__ == "__main__":
    main()
