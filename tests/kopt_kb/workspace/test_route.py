"""Routes: inferred from what is given, refused when what is asked for does not fit, recorded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import WireError
from kopt_kb.packs.memory_form.memory_edit import Hypothesis, create_version
from kopt_kb.problem.problem import Problem
from kopt_kb.wiki.registry import Registry
from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.journal.blobs import ObjectStore
from kopt_kb.workspace.route import ROUTES, RecordedTask, choose_route, recorded_task, route_text
from kopt_kb.workspace.task import Task
from kopt_kb.workspace.views.render import render_workspace, texts_of
from kopt_kb.workspace.workspace import Workspace

LOGIC = b"def make_inputs(shape, dtype, device, seed):\n    pass\n\ndef reference(x):\n    pass\n"
TRITON = b"import triton\n\n@triton.jit\ndef kernel(x):\n    pass\n\n" + LOGIC
FILE = Path("demo.py")


@pytest.mark.parametrize(
    ("source", "framework", "route"),
    [
        (LOGIC, "Triton", "pytorch"),
        (TRITON, "Triton", "kernel"),
        (TRITON, "CuteDSL", "pytorch"),  # to be written again in another language
        (LOGIC, "HIP", "kernel"),  # nobody can tell whether it is one
        (b"def launch(x):\n    pass\n", "Triton", "kernel"),
        (b"not python (", "Triton", "kernel"),
    ],
)
def test_a_route_is_inferred(source: bytes, framework: str, route: str) -> None:
    """A kernel of the framework is tuned, PyTorch logic is implemented, anything else is taken for a kernel."""
    assert choose_route(None, FILE, source, framework) == route
    assert choose_route("kernel", FILE, source, framework) == "kernel"


def test_without_a_file_there_is_the_roofline() -> None:
    """Asked for or not."""
    assert choose_route(None, None, b"", "") == choose_route("roofline", None, b"", "") == "roofline"


@pytest.mark.parametrize(
    ("asked", "demo", "source", "framework", "what"),
    [
        ("pytorch", None, b"", "Triton", "needs a file"),
        ("kernel", None, b"", "Triton", "needs a file"),
        ("roofline", FILE, LOGIC, "Triton", "takes no kernel demo"),
        ("pytorch", FILE, LOGIC, "HIP", "kernels of HIP can't be recognised"),
        ("pytorch", FILE, b"def reference(x):\n    pass\n", "Triton", "lacks make_inputs"),
        ("pytorch", FILE, b"x = 1\ny = (\n", "Triton", "line 2 is not valid Python"),
        ("other", FILE, LOGIC, "Triton", "no route 'other'"),
    ],
)
def test_what_does_not_fit_is_refused(asked: str, demo: Path | None, source: bytes, framework: str, what: str) -> None:
    """What, where, and what to do."""
    with pytest.raises(BadInput, match=what) as caught:
        choose_route(asked, demo, source, framework)
    assert caught.value.fix and caught.value.where


def test_the_pytorch_route_names_the_frameworks_it_knows() -> None:
    """All of them."""
    with pytest.raises(BadInput) as caught:
        choose_route("pytorch", FILE, LOGIC, "HIP")
    assert caught.value.fix == "the route pytorch knows Triton, Gluon, CuteDSL, cuTile, FlyDSL"


def test_a_workspace_from_before_routes_has_a_kernel() -> None:
    """No word means kernel; a word nobody knows is refused."""
    assert recorded_task({}) == recorded_task({"task": {}}) == RecordedTask()
    assert [recorded_task({"task": {"route": one}}).route for one in ROUTES] == list(ROUTES)
    with pytest.raises(WireError, match="problem.task.route: has to be one of pytorch, kernel, roofline"):
        recorded_task({"task": {"route": "x"}})
    assert len({route_text(one) for one in ROUTES}) == 3


@pytest.fixture
def roofline(tmp_path: Path, wiki_root: Path) -> Workspace:
    """A workspace without a kernel."""
    problem = Problem.of("rms_norm", ["8192x4096"], "bf16")
    task = Task(platform="T10", framework="", kernel_demo=None, problem=problem)
    return Workspace.create(tmp_path, "roof", task, Registry.open(wiki_root))


def test_a_roofline_workspace_has_targets_and_no_attempts(roofline: Workspace, wiki_root: Path) -> None:
    """README, specs and Stop Conditions, no kernel.py and no memory; the audit is clean before and after rendering."""
    registry = Registry.open(wiki_root)
    assert (roofline.state().route, roofline.state().created.kernel) == ("roofline", None)
    assert audit(roofline.layout.root, registry).clean
    report = render_workspace(roofline)
    assert (report.unchanged, report.written) == (("README.md",), ())
    assert not roofline.layout.kernel.exists()
    assert not list((roofline.layout.root / "memory").iterdir())
    text = roofline.layout.readme.read_text()
    assert "- kernel_demo: none" in text
    assert "- framework: none" in text
    assert "- route: roofline (targets only, no kernel)" in text
    assert "TBD" not in text
    assert audit(roofline.layout.root, registry).clean


def test_nothing_is_tried_there_by_hand_either(roofline: Workspace) -> None:
    """A round needs a kernel to start from: one line, nothing written."""
    count = len(roofline.events())
    with pytest.raises(BadInput, match="no kernel: its route is the roofline only"):
        create_version(roofline, stated=Hypothesis("caching", "keep it", "less time"))
    assert len(roofline.events()) == count


def test_committed_workspaces_say_nothing_of_a_route(repo_root: Path) -> None:
    """They were made before there were routes, and their README has no such line."""
    for op in ("gemm", "rms_norm", "softmax"):
        kept = Workspace.open(repo_root / "benchmarks" / "campaigns" / "h200_sxm" / op)
        assert kept.state().route == "kernel"
        assert "- route:" not in kept.layout.readme.read_text()
        assert audit(kept.layout.root, Registry.open()).clean
        texts = texts_of(kept.state(), ObjectStore(kept.layout.objects).get)
        assert "rel_err_by_shape" not in texts.files["memory/v0.json"]
        assert "## Correctness" not in texts.files["baseline_report.md"]
