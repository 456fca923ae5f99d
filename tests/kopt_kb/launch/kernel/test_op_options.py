"""What a kernel file computes, what its problem counts, and what judges it: always the same options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.compile.loader import load_module
from kopt_kb.launch.kernel.declared import packaged_reference, read_declared
from kopt_kb.launch.kernel.op_options import clashes, file_options, judging, pinned, problem_options
from kopt_kb.problem.ops import definition, op_id
from kopt_kb.problem.work import work

FOLDER = Path(__file__).parents[4] / "kopt_kb" / "kernels"
FILES = sorted(
    path
    for folder in (".", "naive", "cutile", "cute", "flydsl", "references")
    for path in (FOLDER / folder).glob("*.py")
    if '\nOP = "' in path.read_text() or '\nop = "' in path.read_text()
)

ATTENTION = b"""
OP = "attention"
OP_OPTIONS = {"causal": True}


def reference(q, k, v, *, causal=True):
    return (q, k, v, causal)


def launch(q, k, v, *, causal=True, config=None, out=None):
    return (q, k, v, causal)
"""

FIXED = ATTENTION.replace(b", *, causal=True", b"")


def _op(path: Path) -> str:
    text = path.read_text()
    return op_id(next(line.split('"')[1] for line in text.splitlines() if line.lower().startswith('op = "')))


def test_files_are_found():
    """Packaged kernels, naive ones, those of other languages, references."""
    assert len(FILES) > 35
    assert {path.parent.name for path in FILES} >= {"kernels", "naive", "cutile", "cute", "references"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_problem_and_functions_of_a_packaged_file_say_the_same(path):
    """Neither OP_OPTIONS, the defaults of launch, reference and static_cases, nor the file that judges differ."""
    op, source = _op(path), path.read_bytes()
    options = problem_options(source, op, {}, str(path))
    counted = dict(definition(op).read_options(options).items)
    assert clashes(source, op, counted, str(path)) == []
    assert pinned(source, op, counted) == source
    if path.stem != "copy":  # an elementwise operation of its own: it judges itself
        judge = packaged_reference(op).read_bytes()
        assert judging(judge, op, counted, str(path)) == judge


OWN = [path for path in FILES if path.parent.name != "references" and "\ndef reference(" in path.read_text()]
SHAPES = {1: (64,), 2: (16, 32), 3: (1024, 32, 16), 4: (2, 2, 8, 16)}


@pytest.mark.torch
@pytest.mark.parametrize("path", OWN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_reference_reads_and_writes_what_its_problem_counts(path):
    """The bytes of make_inputs and of the result in storage are the compulsory bytes of the closed form."""
    pytest.importorskip("cuda.tile" if path.parent.name == "cutile" else "triton")
    op = _op(path)
    module: Any = load_module(str(path))
    dtype = "fp8" if op == "fp8_gemm" else "bf16"
    shape = (
        (8, 128, 128)
        if op == "fp8_gemm"
        else SHAPES[2 if "..." in definition(op).form else definition(op).form.count("x") + 1]
    )
    inputs = module.make_inputs(shape, dtype, "cpu", 0)
    result = module.reference(*inputs)
    counted = work(op, shape, dtype, **problem_options(path.read_bytes(), op, {}, str(path)))
    unread = 2 * 32 * 16 + 4 * 8 if op == "grouped_gemm" else 0  # the matrix of the group without rows, and the ends
    made = sum(one.numel() * one.element_size() for one in inputs)
    assert made - unread == counted.compulsory_bytes("dram", "read")
    assert 2 * result.numel() == counted.compulsory_bytes("dram", "write")


@pytest.mark.torch
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("path", [one for one in OWN if one.stem == "attention"], ids=lambda path: path.parent.name)
def test_attention_sees_the_keys_that_its_problem_counts(path, causal, tmp_path):
    """The last key changes the first query's result where pairs of all are counted, and not where half are."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("cuda.tile" if path.parent.name == "cutile" else "triton")
    asked = problem_options(path.read_bytes(), "attention", {"causal": causal}, str(path))
    copy = tmp_path / "attention.py"
    copy.write_bytes(pinned(path.read_bytes(), "attention", asked))
    module: Any = load_module(str(copy))
    q, k, v = module.make_inputs((1, 1, 8, 16), "fp32", "cpu", 0)
    other = v.clone()
    other[:, :, -1] += 1
    moved = not torch.equal(module.reference(q, k, v)[0, 0, 0], module.reference(q, k, other)[0, 0, 0])
    assert moved is not causal
    pairs = work("attention", (1, 1, 8, 16), "fp32", **asked).special_functions()["exp"]
    assert pairs == (36 if causal else 64)
    assert dict(read_declared(copy).options) == {"causal": causal}


def test_the_file_says_what_its_problem_computes_and_the_user_more():
    """Without a word the file's own; a word that its functions take is passed on, and is in the text then."""
    assert problem_options(ATTENTION, "attention", {}, "k.py") == {"causal": True}
    assert problem_options(ATTENTION, "attention", {"causal": "false"}, "k.py") == {"causal": False}
    told = pinned(ATTENTION, "attention", {"causal": False})
    assert told.count(b"causal=False") == 2
    assert b'{"causal": False}' in told
    assert problem_options(ATTENTION, "attention", {"engine": "matrix"}, "k.py") == {"causal": True, "engine": "matrix"}


@pytest.mark.parametrize(
    ("source", "given", "line", "words"),
    [
        (FIXED, {"causal": "false"}, 3, "--option causal=False, and the file computes causal=True"),
        (ATTENTION, {"kv_heads": "1"}, 3, "the file computes kv_heads=0"),
        (ATTENTION.replace(b"def launch(q, k, v, *, causal=True", b"def launch(q, k, v, *, causal=False"), {}, 10,
         "launch() computes causal=False, not True"),
        (ATTENTION.replace(b"True}", b"4}"), {}, 3, "option causal is 4"),
        (ATTENTION.replace(b'"causal": True}', b'"casual": True}'), {}, 3, "no option 'casual'"),
    ],
)  # fmt: skip
def test_a_contradiction_is_refused_with_its_place(source, given, line, words):
    """Of the user and the file, of the file and itself, of the file and the operation."""
    with pytest.raises(BadInput) as caught:
        problem_options(source, "attention", given, "k.py")
    assert words in caught.value.what
    assert caught.value.where == f"k.py:{line}"


def test_a_file_that_says_nothing_takes_the_users_word():
    """There is no table and no parameter: the reference judges what it computes."""
    bare = b'OP = "attention"\n\n\ndef launch(q, k, v):\n    return q\n'
    assert problem_options(bare, "attention", {"causal": True}, "k.py") == {"causal": True}
    assert clashes(bare, "attention", {"causal": True}) == []
    assert pinned(bare, "attention", {"causal": True}) == bare


def test_a_header_declares_options_too():
    """It launches one kernel: nothing can be passed on."""
    source = (FOLDER / "cute" / "attention.py").read_bytes()
    assert problem_options(source, "attention", {}, "") == {"causal": True}
    assert [one.what for one in clashes(source, "attention", {"causal": False})]
    with pytest.raises(BadInput, match="the file computes causal=True"):
        problem_options(source, "attention", {"causal": False}, "")


def test_a_reference_that_computes_other_options_does_not_judge():
    """One that can be told is told."""
    assert b"causal=False" in judging(ATTENTION, "attention", {"causal": False}, "r.py")
    with pytest.raises(BadInput, match="the reference computes causal=True"):
        judging(FIXED, "attention", {"causal": False}, "r.py")
    assert file_options(FIXED, "attention").takes("causal") is False
