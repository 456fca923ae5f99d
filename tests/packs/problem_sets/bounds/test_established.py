"""Facts of small problems, each with a shortcut that a bound must not charge for."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kopt_kb.packs.problem_sets.bounds.established import established  # noqa: E402

pytestmark = pytest.mark.torch

_HEAD = "import torch\nimport torch.nn as nn\nbatch_size = 64\nwidth = 48\n\n\n"


def _facts(tmp_path, forward, inputs="torch.rand(batch_size, width)", init="pass", arguments=""):
    text = f"""{_HEAD}class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x{arguments}):
        return {forward}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
    file = tmp_path / "problem.py"
    file.write_text(text)
    return established(file)


def _needed(facts):
    return {one.name: one.needed_bytes for one in facts.inputs}


def test_an_elementwise_function_reads_and_writes_everything(tmp_path):
    facts = _facts(tmp_path, "torch.relu(x)")
    assert _needed(facts) == {"input0": 64 * 48 * 4}
    assert [one.needed_bytes for one in facts.outputs] == [64 * 48 * 4]


@pytest.mark.parametrize(
    "forward",
    ["torch.softmax(x, 1).sum(1)", "torch.clamp(torch.minimum(x, torch.tensor(0.0)), 0, 1)",
     "x.mean(1, keepdim=True) - x.mean(1, keepdim=True).mean(1, keepdim=True)"],
    ids=["sum of softmax", "minimum then clamp", "a mean less itself"],
)  # fmt: skip
def test_a_constant_result_needs_neither_reads_nor_writes(tmp_path, forward):
    facts = _facts(tmp_path, forward)
    assert _needed(facts) == {"input0": 0}
    assert [one.needed_bytes for one in facts.outputs] == [0]


def test_an_input_that_nothing_reads_costs_nothing(tmp_path):
    facts = _facts(tmp_path, "torch.exp(x)", "torch.rand(batch_size, width), torch.rand(width)", arguments=", unused")
    assert _needed(facts) == {"input0": 64 * 48 * 4, "input1": 0}


def test_only_the_rows_that_a_slice_keeps_are_needed(tmp_path):
    facts = _facts(tmp_path, "torch.exp(x[:, -1])")
    assert _needed(facts) == {"input0": 64 * 4}


def test_a_strided_window_skips_elements(tmp_path):
    facts = _facts(tmp_path, "torch.nn.functional.max_pool1d(x[None], 2, stride=3)")
    assert _needed(facts) == {"input0": 64 * 32 * 4}


def test_elements_that_follow_from_others_are_read_once(tmp_path):
    made = "(lambda a: (a + a.T) / 2)(torch.rand(width, width))"
    facts = _facts(tmp_path, "torch.exp(x)", made)
    assert _needed(facts) == {"input0": 48 * 49 // 2 * 4}
    triangle = _facts(tmp_path, "torch.triu(torch.matmul(x, x))", "torch.triu(torch.rand(width, width))")
    assert _needed(triangle) == {"input0": 48 * 49 // 2 * 4}
    assert [one.needed_bytes for one in triangle.outputs] == [48 * 49 // 2 * 4]
    assert triangle.products[0].left_out


def test_a_constant_input_is_not_read(tmp_path):
    assert _needed(
        _facts(tmp_path, "x * 2 + y", "torch.rand(batch_size), torch.ones(batch_size)", arguments=", y")
    ) == {
        "input0": 64 * 4,
        "input1": 0,
    }


def test_equal_results_may_be_written_once(tmp_path):
    facts = _facts(tmp_path, "x.sum(1, keepdim=True).repeat(1, 16)")
    assert [one.needed_bytes for one in facts.outputs] == [64 * 4]


def test_storage_is_that_of_the_inputs_themselves(tmp_path):
    facts = _facts(tmp_path, "(x + y).float()", "torch.rand(batch_size).bfloat16(), torch.rand(batch_size).half()",
                   arguments=", y")  # fmt: skip
    assert [(one.dtype, one.needed_bytes) for one in facts.inputs] == [("bf16", 128), ("fp16", 128)]
    assert facts.outputs[0].dtype == "fp32"


def test_batch_normalisation_writes_its_statistics_and_its_counter_is_no_work(tmp_path):
    facts = _facts(tmp_path, "self.norm(x)", init="self.norm = nn.BatchNorm1d(width)")
    assert facts.state_written_bytes == 2 * 48 * 4
    assert [one.name for one in facts.operations] == ["native_batch_norm"]
    assert "norm.num_batches_tracked" not in _needed(facts)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("torch.relu(self.layer(x))", ""),
        ("self.layer(x)", ""),
        ("self.layer(x).sum(1)", "sum follows it"),
        ("torch.relu(self.other(self.layer(x)))", "mm follows it"),
        ("torch.relu(x @ x.T)", "both operands come from one tensor"),
        ("torch.relu(torch.tril(x[:48]) @ self.layer.weight)", "an operand is built by tril"),
        ("torch.relu(x[:1].expand(64, 48) @ self.layer.weight)", "an operand is built by expand"),
        ("x * (self.layer.weight @ self.layer.weight)[:1]", "both operands are known before the call"),
    ],
)
def test_a_product_counts_only_where_no_shorter_way_is_known(tmp_path, forward, reason):
    init = "self.layer = nn.Linear(width, width, bias=False); self.other = nn.Linear(width, width, bias=False)"
    facts = _facts(tmp_path, forward, init=init)
    assert facts.products[0].left_out == reason
    assert facts.products[0].shape[1:] in {(64, 48, 48), (48, 48, 48), (64, 64, 48)}


def test_a_product_of_two_inputs_counts(tmp_path):
    facts = _facts(tmp_path, "torch.matmul(x, y)", "torch.rand(batch_size, width), torch.rand(width, width)",
                   arguments=", y")  # fmt: skip
    assert [(one.shape, one.left_out) for one in facts.products] == [((1, 64, 48, 48), "")]


def test_work_is_split_by_operation(tmp_path):
    facts = _facts(tmp_path, "torch.relu(x + 1)")
    assert {one.name: one.flops for one in facts.operations} == {
        "add": {"fp32 vector": 64 * 48},
        "relu": {"fp32 vector": 64 * 48},
    }
