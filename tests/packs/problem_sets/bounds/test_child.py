"""The child that establishes facts: what a problem's own code does is an answer."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

from kopt_kb.base.wire import parse, read
from kopt_kb.packs.problem_sets.bounds.child import fact_of
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts

pytestmark = pytest.mark.torch

GOOD = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.exp(x)


def get_inputs():
    return [torch.rand(8, 4)]


def get_init_inputs():
    return []
"""


def test_one_answer_for_each_problem_whatever_another_does(tmp_path):
    texts = {"good": GOOD, "ends": f"import os\nos._exit(0)\n{GOOD}", "raises": GOOD.replace("torch.exp", "torch.exq"),
             "endless": GOOD.replace("return torch", "while True: pass\n        return torch"),
             "lacks": f"import surely_not_installed\n{GOOD}", "says": f"print('loud')\n{GOOD}"}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    asked = "".join(f"{tmp_path / name}.py\n" for name in texts)
    code = "from kopt_kb.packs.problem_sets.bounds import child; child._CPU_S = 3; child.main()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    found = [read(FoundFacts, parse(line.encode(), where="x"), where="x") for line in done.stdout.splitlines()]
    assert [one.cause for one in found] == ["", "KB086", "KB084", "KB086", "KB120", ""]
    assert found[0].facts == found[5].facts
    assert found[3].what == "tracing it takes more than 3 s of a processor"
    assert found[1].what == "the problem ends the process that runs it"


def test_an_import_that_fails_is_named(tmp_path):
    file = tmp_path / "p.py"
    file.write_text("import surely_not_installed\n")
    assert "surely_not_installed" in fact_of(str(file)).what
