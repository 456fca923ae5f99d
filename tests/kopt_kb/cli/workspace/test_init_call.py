"""Claims about a workspace made of a user's launcher and one call of it, up to the end of its campaign."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.main import main
from kopt_kb.cli.workspace.init_call import call_given, parts_of
from kopt_kb.launch.judge.executor import RecordExecutor
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.shelf import RecordTarget
from kopt_kb.launch.record.model import LaunchRecord
from kopt_kb.launch.record.request import TensorArgument
from kopt_kb.tuning.campaign import Campaign
from kopt_kb.tuning.options import CampaignOptions, Settings
from kopt_kb.tuning.own_space import OwnSpaceProposer
from kopt_kb.tuning.policy import policy_named
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.workspace import Workspace
from tests.kopt_kb.launch.judge.conftest import InventedJudge

SOURCE = b"""
def scale(x, factor, *, out=None, eps=1e-6): ...

class Norm:
    @staticmethod
    def forward(ctx, x, weight, eps=1e-6): ...
"""


def test_a_call_is_read_with_quotes_brackets_and_names() -> None:
    """Commas inside brackets and quotes divide nothing."""
    assert parts_of('f(fp16[8,4], "a,b", axis=-1)') == ("f", ["fp16[8,4]", '"a,b"', "axis=-1"])
    assert parts_of("Norm.apply([fp16[2], fp16[3]])") == ("Norm.apply", ["[fp16[2], fp16[3]]"])
    with pytest.raises(BadInput, match="is no call"):
        parts_of("f")


def test_arguments_get_their_parameters_names() -> None:
    """By place or by name; `apply` takes those of `forward` behind its context."""
    call = call_given("scale", ["fp16[8,4;strides=8,1]", "factor=2.5"], SOURCE, "a.py")
    assert call.arguments == {"x": TensorArgument((8, 4), "fp16", (8, 1)), "factor": 2.5}
    assert [*call_given("Norm.apply", ["fp16[8,4]", "fp16[4]"], SOURCE, "a.py").arguments] == ["x", "weight"]
    drawn = call_given("scale", ["int64[9]<100", "1"], SOURCE, "a.py")
    assert drawn.ranges == {"x": (0, 100)}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["fp16[8,4]"], "does not say factor"),
        (["fp16[8,4]", "2", "axis=1"], "no argument of scale"),
        (["fp16[8,4]", "2", "x=fp16[2]"], "x is given twice"),
        (["int64[9]", "2"], "nothing says what integers x holds"),
        (["fp16[8,4]<9 or so", "2"], "has no bound"),
        (["fp16", "2"], "is no kernel argument"),
    ],
    ids=["missing", "unknown", "twice", "integers", "bound", "layout"],
)
def test_what_a_call_lacks_is_asked_for_by_name(words: list[str], what: str) -> None:
    """One line, with the place and what to write."""
    with pytest.raises(BadInput, match=what) as refused:
        call_given("scale", words, SOURCE, "a.py")
    assert refused.value.fix


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (["--op", "softmax"], "KB103"),
        (["--problem", "p.toml"], "KB103"),
        (["--call", "nobody(fp16[4])"], "KB447"),
        (["--call", "plain(fp16[4,4],fp16[4,4])"], "KB102"),
    ],
    ids=["operation", "problem", "no function", "no kernel"],
)
def test_words_that_contradict_a_call_are_refused(
    repo_root: Path, tmp_path: Path, more: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is recorded or made."""
    file = repo_root / "tests" / "data" / "users" / "silu_mul.py"
    given = ["--platform", "H100_SXM", "--kernel-demo", str(file), "--call", "silu_mul(fp16[64,4096],fp16[64,4096])"]
    assert main(["init", "user", *given, *more, "--parent", str(tmp_path)]) == 2
    assert code in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, repo_root: Path) -> Path:
    """A workspace of the user's file, made by the command."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    folder = tmp_path_factory.mktemp("user")
    file = repo_root / "tests" / "data" / "users" / "silu_mul.py"
    call = "silu_mul(fp16[64,4096], fp16[64,4096])"
    words = ["--platform", "H100_SXM", "--kernel-demo", str(file), "--call", call, "--parent", str(folder)]
    assert main(["init", "user", *words]) == 0
    return folder / "kernel_opt_user"


@pytest.mark.torch
@pytest.mark.triton
def test_a_workspace_says_what_was_taken_from_the_call(made: Path) -> None:
    """Operation, shape, type, tolerance, work; the kernel is what the call reaches, and its lines left out are named."""
    state = Workspace.open(made).state()
    problem = state.problem
    assert (problem.op, problem.shape_names, problem.dtype) == ("silu_mul", ("64x4096",), "fp16")
    assert problem.own is not None
    assert (problem.own.origin, problem.own.entry) == ("recorded", "silu_mul")
    assert problem.own.works[0].compulsory_bytes() == 3 * 2 * 64 * 4096
    assert len((problem.own.configurations or {})["_silu_mul"]) == 3
    assert "there is no reference: the version given is" in (made / "README.md").read_text()
    kernel = (made / "kernel.py").read_text()
    assert "plain" not in kernel and "do_bench" not in kernel
    assert "def silu_mul" in kernel and "@triton.autotune" in kernel
    assert "left out" in (made / "README.md").read_text()


def blocks_cost(record: LaunchRecord) -> float:
    """Seconds that fall with larger blocks up to 2048, and rise with warps."""
    launch = record.launches[0]
    if launch.entry != "_silu_mul":
        return 1e-6  # the machine's copy, which nothing reaches
    columns = 4096 // launch.grid[1]
    return 1e-6 * (64 + 8192 / columns + (columns / 64 if columns > 1024 else 0) + launch.block[0] / 64)


@pytest.mark.torch
@pytest.mark.triton
def test_an_autotuned_kernel_of_a_user_is_tuned_to_its_end(made: Path, makers: Makers) -> None:
    """Its own configurations are searched first, then what lies beside the winner; the file that wins is a plain one."""
    said: list[str] = []
    executor = RecordExecutor(InventedJudge(blocks_cost), RecordTarget("sm_90", "H100_SXM"), makers=makers)
    policy = replace(policy_named("gpu-wiki", max_rounds=2), required_gates=("lint", "build", "correctness", "timing"))
    with Campaign(
        Workspace.open(made), policy, (OwnSpaceProposer(),), executor,
        settings=Settings(samples=10, evaluations=4, search_s=60.0), options=CampaignOptions(say=said.append),
    ) as campaign:  # fmt: skip
        campaign.run()
        state = campaign.state()
    claims = [one.hypothesis.claim for one in state.rounds if one.hypothesis is not None]
    assert claims[0] == "search 3 configurations, its own configurations: _silu_mul.config"
    assert claims[1].startswith("search 25 configurations, beside it: _silu_mul.BLOCK 128-2048")
    assert [one.accepted for one in state.rounds] == [True, True, True]
    assert state.best is not None
    source = ObjectStore(Workspace.open(made).layout.objects).get(state.best.submitted[state.best.name].blob)
    ast.parse(source)
    assert re.search(rb"configs=\[triton.Config\({'BLOCK': (1024|2048)}, num_warps=\d+\)\]", source)
    plan = (made / "plans" / "v1_plan.md").read_text()
    assert "3 configurations of its own @autotune, line " in plan
