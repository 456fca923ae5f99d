"""Counts of whole kernels against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kopt_kb.analysis.ir.triton import IrError, TensorArg, count_ir
from kopt_kb.analysis.ir.triton.budget import CountLimits

GEMM_EXECUTED = 72 * 9 * 2 * 128 * 128 * 64  # 8 x 9 tiles, ceil(520 / 64) = 9 steps
GEMM_USEFUL = 2 * 1000 * 1104 * 520


def flops(kernel, kind="executed"):
    return {(f.dtype, f.engine): f.amount.value for f in getattr(kernel, kind)}


def test_vadd_asks_for_its_two_inputs_and_no_padding(count):
    """n = 1,000,003 in blocks of 1024: 977 programs, 8 bytes read and 4 written per element."""
    kernel = count("vadd", 977, {"n": 1_000_003})
    assert kernel.read.requested.value == 8_000_024
    assert kernel.written.requested.value == 4_000_012
    assert kernel.compulsory_bytes.value == 12_000_036
    assert flops(kernel) == {("fp32", "vector"): 977 * 1024}
    assert flops(kernel, "useful") == {("fp32", "vector"): 1_000_003}
    assert kernel.exactness == "exact"
    assert kernel.useful_flops.exactness == "exact"


def test_vadd_sectors_are_whole_32_byte_units(count):
    """4,000,012 bytes from an aligned base touch 125,001 sectors, twice for two inputs."""
    kernel = count("vadd", 977, {"n": 1_000_003})
    assert kernel.read.sectors.value == 250_002
    assert kernel.written.sectors.value == 125_001


def test_vadd_in_shape_mode_counts_the_padding_as_an_upper_bound(count):
    """977 x 1024 lanes of 4 bytes, twice."""
    kernel = count("vadd", 977, {"n": 1_000_003}, "shape")
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (8_003_584, "upper")
    assert kernel.executed_flops.exactness == "exact"
    assert kernel.useful_flops.exactness == "upper"
    assert kernel.read.sectors.exactness == "unknown"


def test_softmax_counts_real_lanes_as_useful(count):
    """512 rows of 3000: 2999 maxima, 3000 subtractions, 2999 additions, 3000 divisions and 3000 exponentials."""
    kernel = count("softmax", 512, {"cols": 3000})
    assert kernel.read.requested.value == kernel.written.requested.value == 512 * 3000 * 2
    assert flops(kernel, "useful") == {("fp32", "vector"): 512 * (2999 + 3000 + 2999 + 3000)}
    assert flops(kernel) == {("fp32", "vector"): 512 * (4095 + 4096 + 4095 + 4096)}
    (exponentials,) = kernel.special
    assert (exponentials.function, exponentials.executed.value, exponentials.useful.value) == (
        "exp", 512 * 4096, 512 * 3000,
    )  # fmt: skip


def test_rmsnorm_reads_its_weight_once_but_asks_for_it_in_every_row(count):
    """512 x 3000 fp16: rows and weights asked for, 3000 weights distinct."""
    kernel = count("rmsnorm", 512, {"cols": 3000})
    assert kernel.read.requested.value == 6_144_000
    assert kernel.read.compulsory.value == 3_078_000
    assert flops(kernel, "useful") == {("fp32", "vector"): 512 * (3000 + 2999 + 1 + 1 + 3000 + 3000)}
    assert [(s.function, s.executed.value) for s in kernel.special] == [("rsqrt", 512)]


@pytest.mark.parametrize(
    ("name", "requested"),
    [
        ("gemm", 18_545_280),
        ("gemm_moving_pointers", 18_545_280),
        ("gemm_desc", 18_545_280),
        ("gemm_desc.3.9.0", 18_545_280),
        ("gemm_desc.3.6.0.source", 18_545_280),
        ("gemm_desc.3.9.0.source", 18_545_280),
        ("gemm_block_pointers", 18_545_280),
        ("gemm_block_pointers.3.6.0.source", 18_545_280),
        ("gemm_wrapped", 19_169_280),
    ],
)
def test_gemm_in_every_style(count, gemm_args, name, requested):
    """1000 x 1104 x 520 at 128 x 128 x 64: masked edges ask for 1000*520*9*2 + 520*1104*8*2 bytes, wrapped rows
    and columns for 1024*520*9*2 + 520*1152*8*2; distinct bytes and useful work are the matrices' own."""
    strides = (
        {"stride_am": 520, "stride_bk": 1104, "stride_cm": 1104} if name in ("gemm", "gemm_moving_pointers") else {}
    )
    kernel = count(name, 72, {**gemm_args, **strides})
    assert kernel.read.requested.value == requested
    assert kernel.read.compulsory.value == 2_188_160
    assert kernel.written.requested.value == kernel.written.compulsory.value == 2_208_000
    assert flops(kernel) == {("fp16", "matrix"): GEMM_EXECUTED}
    assert flops(kernel, "useful") == {("fp16", "matrix"): GEMM_USEFUL}
    assert kernel.exactness == "exact"
    assert kernel.useful_flops.exactness == "exact"
    assert kernel.notes == ()


@pytest.mark.parametrize("name", ["gemm_host_desc", "gemm_host_desc.3.9.0", "gemm_host_desc_sm80"])
def test_a_tensor_given_for_a_host_descriptor_fills_what_triton_adds_after_it(count, name):
    """Extents and strides follow the descriptor; without tensor memory it is a pointer with flags as well."""
    args = {
        "n": 1104,
        "k": 520,
        "a_desc": TensorArg((1000, 520), "fp16"),
        "b_desc": TensorArg((520, 1104), "fp16"),
        "c_desc": TensorArg((1000, 1104), "fp16"),
    }
    kernel = count(name, 72, args)
    assert kernel.read.requested.value == 18_545_280
    assert kernel.written.compulsory.value == 2_208_000
    assert flops(kernel, "useful") == {("fp16", "matrix"): GEMM_USEFUL}


def test_persistent_programs_share_the_tiles_of_a_plain_grid(count, gemm_args):
    """13 programs walk 72 tiles: the same work as 72 programs with one tile each."""
    kernel = count("gemm_persistent", 13, gemm_args)
    assert kernel.read.requested.value == 18_545_280
    assert flops(kernel) == {("fp16", "matrix"): GEMM_EXECUTED}
    assert flops(kernel, "useful") == {("fp16", "matrix"): GEMM_USEFUL}


def test_a_large_gemm_in_shape_mode(count):
    """8192 cubed: 2 * 8192**3 FLOP, 17.2 GB asked for, 402 MB distinct."""
    size = 8192
    square = TensorArg((size, size), "fp16")
    names = ("m", "n", "k", "stride_am", "stride_bk", "stride_cm")
    kernel = count("gemm", 4096, {0: square, 1: square, 2: square, **dict.fromkeys(names, size)}, "shape")
    assert flops(kernel) == {("fp16", "matrix"): 1_099_511_627_776}
    assert kernel.read.requested.value == 4096 * 128 * 2 * 128 * 64 * 2
    assert kernel.compulsory_bytes.value == 3 * size * size * 2


def test_causal_attention_counts_the_triangle_as_useful(count):
    """S = 1000, D = 64, 4 heads: 1000*1001/2 pairs, twice 2*64 FLOP each; 36 tile steps of 128 x 64 a head."""
    kernel = count("flash", (8, 4), {"seq": 1000})
    assert flops(kernel, "useful")["fp16", "matrix"] == 4 * (1000 * 1001 // 2) * 2 * 2 * 64
    assert flops(kernel)["fp16", "matrix"] == 4 * 72 * 2 * 2 * 128 * 64 * 64
    assert kernel.read.compulsory.value == 3 * 4 * 1000 * 64 * 2
    assert kernel.written.compulsory.value == 4 * 1000 * 64 * 2
    assert kernel.useful_flops.exactness == "exact"


def test_causal_attention_asks_for_keys_up_to_each_query_tile(count):
    """Queries once; keys and values up to row min(128 (i + 1), 1000) for query tile i."""
    kernel = count("flash", (8, 4), {"seq": 1000})
    keys = sum(min(128 * (i + 1), 1000) for i in range(8))
    assert kernel.read.requested.value == 4 * (1000 + 2 * keys) * 64 * 2 == 5_206_016


def test_trip_counts_differ_between_programs_in_shape_mode(count):
    """S = 16384, 64 heads: query tile i of 128 takes 2 (i + 1) steps of two 128 x 64 x 64 products."""
    kernel = count("flash", (128, 64), {"seq": 16384}, "shape")
    steps = sum(2 * (i + 1) for i in range(128))
    assert flops(kernel)["fp16", "matrix"] == 64 * steps * 2 * 2 * 128 * 64 * 64


def test_programs_that_return_early_count_nothing(count):
    """8 programs, 3 of them below the limit."""
    for name in ("early_return", "early_return.3.6.0.source", "early_return.3.9.0"):
        kernel = count(name, 8, {"n": 1000, "limit": 3})
        assert flops(kernel) == {("fp32", "vector"): 3 * 256}
        assert kernel.read.requested.value == 3 * 256 * 4
        assert kernel.exactness == "exact"


def test_an_early_return_that_reads_memory_is_an_upper_bound(count):
    """Nobody knows the flags: all 4 programs may go on, and their line is named."""
    kernel = count("early_return_data", 4, {"n": 1000})
    assert (kernel.executed_flops.value, kernel.executed_flops.exactness) == (1024, "upper")
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (4 * 4 + 4000, "upper")
    assert kernel.notes[0].line == 11


def test_a_while_loop_over_scalars_is_counted_exactly(count):
    """2000 elements in blocks of 256 over 3 programs: 8 blocks."""
    kernel = count("while_countable", 3, {"n": 2000})
    assert flops(kernel) == {("fp32", "vector"): 8 * 256}
    assert flops(kernel, "useful") == {("fp32", "vector"): 2000}
    assert kernel.read.requested.value == kernel.written.requested.value == 8000
    assert kernel.exactness == "exact"


@pytest.mark.parametrize("mode", ["shape", "exact"])
def test_a_while_loop_over_memory_gives_its_cost_per_trip_and_a_lower_bound(count, mode):
    """A linked list: 256 additions and 256 + 1 loads of 4 bytes a step, no number of steps."""
    kernel = count("while_data", 3, {}, mode)
    assert kernel.executed_flops.exactness == "lower"
    assert kernel.read.requested.exactness == "lower"
    assert kernel.written.requested.value == 3 * 256 * 4
    (note,) = (note for note in kernel.notes if "trips" in note.text)
    assert note.line == 8
    assert "256 FLOP" in note.text
    assert "1028 bytes" in note.text


def test_a_loop_bound_read_from_memory_leaves_its_body_out(count):
    """Group sizes live in memory: only the sizes themselves are counted."""
    kernel = count("grouped_gemm_tiles", 2, {"groups": 4})
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (2 * 4 * 4, "lower")
    assert kernel.exactness == "lower"


def test_a_gather_knows_what_it_asks_for_but_not_where(count):
    """10 rows of 1000 fp16 by index: requested exact, distinct bytes at most as many."""
    kernel = count("gather_rows", 10, {"cols": 1000})
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (10 * 2000 + 10 * 4, "exact")
    assert (kernel.read.compulsory.value, kernel.read.compulsory.exactness) == (20_040, "upper")
    assert kernel.written.compulsory.exactness == "exact"


def test_a_gather_reads_no_more_than_its_table(count):
    """A table of 5 rows bounds the distinct bytes of 10 gathered rows."""
    args = {"cols": 1000, "table_ptr": TensorArg((5, 1000), "fp16"), "index_ptr": TensorArg((10,), "int32")}
    kernel = count("gather_rows", 10, args)
    assert (kernel.read.compulsory.value, kernel.read.compulsory.exactness) == (5 * 2000 + 40, "upper")


def test_given_indices_make_a_gather_exact(count):
    """Rows 3, 3 and 0 of a table: asked for three times, two rows distinct."""
    index = TensorArg((3,), "int32", data=np.array([3, 3, 0], np.int32))
    kernel = count("gather_rows", 3, {"cols": 1000, "index_ptr": index})
    assert (kernel.read.compulsory.value, kernel.read.compulsory.exactness) == (2 * 2000 + 12, "exact")
    assert kernel.notes == ()


def test_given_indices_make_a_descriptor_gather_exact(count):
    """Rows 0 to 15 twice, of 100 rows of 64 fp16; index 200 lies outside and reads nothing."""
    rows = np.arange(32) % 16
    rows[5] = 200
    index = TensorArg((32,), "int32", data=rows)
    kernel = count("desc_gather", 1, {"rows": 100, "cols": 64, "index_ptr": index})
    assert kernel.read.requested.value == 31 * 128 + 32 * 4
    assert (kernel.read.compulsory.value, kernel.read.compulsory.exactness) == (16 * 128 + 32 * 4, "exact")


@pytest.mark.parametrize("mode", ["shape", "exact"])
def test_given_group_sizes_make_loops_countable(count, mode):
    """Two programs walk groups of 300, 0, 256 and 1 in blocks of 256: 2 + 0 + 1 + 1 trips each."""
    sizes = TensorArg((4,), "int32", data=np.array([300, 0, 256, 1], np.int32))
    kernel = count("grouped_gemm_tiles", 2, {"groups": 4, "sizes_ptr": sizes}, mode)
    assert kernel.executed_flops.value == 2 * 4 * 256
    assert kernel.executed_flops.exactness == "exact"
    if mode == "exact":
        assert kernel.useful_flops.value == 2 * (300 + 256 + 1)
        assert kernel.written.requested.value == 2 * (300 + 256 + 1) * 4


def test_a_given_list_is_followed_to_its_end(count):
    """0 to 2, 2 to 1, 1 to the end: from programs 0, 1 and 2 it takes 3, 1 and 2 steps."""
    links = TensorArg((3,), "int32", data=np.array([2, -1, 1], np.int32))
    kernel = count("while_data", 3, {"next_ptr": links})
    assert kernel.useful_flops.value == kernel.executed_flops.value == 6 * 256
    assert kernel.read.requested.value == 6 * (256 + 1) * 4
    assert kernel.exactness == "exact"


def test_given_flags_decide_early_returns(count):
    """Flags 1, 0, 0, 5: two of four programs go on."""
    flags = TensorArg((4,), "int32", data=np.array([1, 0, 0, 5], np.int32))
    for mode in ("shape", "exact"):
        assert count("early_return_data", 4, {"n": 1024, "flag_ptr": flags}, mode).executed_flops.value == 2 * 256


def test_given_labels_decide_masks(count):
    """Every other label is negative."""
    labels = TensorArg((1000,), "int32", data=np.where(np.arange(1000) % 2, 7, -1))
    kernel = count("masked_by_data", 4, {"n": 1000, "label_ptr": labels})
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (4000 + 2000, "exact")


def test_a_descriptor_gather_is_bounded_by_its_rows(count):
    """32 gathered rows of 64 fp16, rows outside the tensor would be clipped."""
    for name in ("desc_gather", "desc_gather.3.9.0"):
        kernel = count(name, 1, {"rows": 100, "cols": 64})
        assert (kernel.read.requested.value, kernel.read.requested.exactness) == (32 * 64 * 2 + 32 * 4, "upper")


def test_a_mask_from_memory_keeps_what_is_known_of_it(count):
    """(offset < n) & (label >= 0): at most n lanes."""
    kernel = count("masked_by_data", 4, {"n": 1000})
    assert (kernel.read.requested.value, kernel.read.requested.exactness) == (8000, "upper")
    assert (kernel.written.requested.value, kernel.written.requested.exactness) == (4000, "exact")


@pytest.mark.parametrize(("name", "split"), [("select_pointer", 2), ("where_pointer", 512)])
def test_pointers_chosen_by_a_condition_keep_their_addresses(count, name, split):
    """Below element 512 from x, above from y: 2048 and 1952 distinct bytes, nothing twice."""
    kernel = count(name, 4, {"n": 1000, "split": split})
    assert kernel.read.compulsory.value == 4000
    assert kernel.read.sectors.value == 64 + 61
    assert kernel.exactness == "exact"


def test_called_functions_count_where_they_are_called(count):
    """Each of 4 programs loads one weight and multiplies twice in the function, then 256 lanes once."""
    kernel = count("calls_function", 4, {"n": 1000})
    assert flops(kernel) == {("fp32", "vector"): 4 * (2 + 256)}
    assert flops(kernel, "useful") == {("fp32", "vector"): 4 * 2 + 1000}
    assert kernel.read.requested.value == 4 * 4 + 4000


def test_both_arms_of_a_branch_are_told_apart(count):
    """mode 1: square plus one in every program; programs 0 and 2 multiply by three as well."""
    kernel = count("nested_if", 4, {"n": 1000, "mode": 1})
    assert flops(kernel) == {("fp32", "vector"): 4 * 512 + 2 * 256}
    assert flops(kernel, "useful") == {("fp32", "vector"): 2 * 1000 + 512}


def test_atomics_read_and_write_but_are_no_flops(count):
    """16 bins, one counter and one compare-and-swap a program, all of 4 bytes."""
    kernel = count("histogram_atomic", 4, {"n": 1000})
    assert kernel.executed_flops.value == 0
    assert kernel.written.requested.value == 4 * (16 + 1 + 1) * 4
    assert kernel.written.compulsory.value == 17 * 4
    assert kernel.read.requested.value == 4000 + 4 * 18 * 4


def test_special_functions_stand_apart(count):
    """sigmoid: one exponential; erf and sqrt once; eight FLOPs: sub, add, div, mul, add, fma (2), add."""
    kernel = count("activations", 4, {"n": 1000})
    assert flops(kernel, "useful") == {("fp32", "vector"): 8 * 1000}
    assert {(s.function, s.useful.value) for s in kernel.special} == {("exp", 1000), ("erf", 1000), ("sqrt", 1000)}


def test_a_scaled_dot_counts_unpacked_elements(count):
    """128 cubed with e4m3 by packed e2m1: K is 128, the wider type names the dtype."""
    kernel = count("dot_scaled", 1)
    assert flops(kernel) == {("mxfp8", "matrix"): 2 * 128**3}
    assert kernel.read.requested.value == 128 * 128 + 128 * 4 + 64 * 128 + 128 * 4


def test_scans_cost_one_combine_less_than_their_length(count):
    """4 rows of 1000 in blocks of 1024."""
    kernel = count("scan_and_argmax", 4, {"cols": 1000})
    assert flops(kernel) == {("fp32", "vector"): 4 * 1023}
    assert flops(kernel, "useful") == {("fp32", "vector"): 4 * 999}


def test_arguments_that_no_address_depends_on_need_not_be_given(count):
    """The seed of a random number kernel changes values, not work."""
    kernel = count("random_bits", 4, {"n": 1000})
    assert flops(kernel, "useful") == {("fp32", "vector"): 1000}


def test_a_missing_argument_is_named(count):
    """Masks depend on n."""
    with pytest.raises(IrError, match=r"argument 3 \(%n\) is needed") as caught:
        count("vadd", 4, {})
    assert caught.value.where == "vadd.ttir:2"
    assert "args['n']" in caught.value.fix


def test_a_launch_too_large_for_exact_mode_is_refused(ir_text):
    """Three accesses of 4096 lanes do not fit in 1000."""
    with pytest.raises(IrError, match="memory lanes"):
        count_ir(ir_text("vadd"), 4, {"n": 4096}, mode="exact", limits=CountLimits(1000))


@pytest.mark.parametrize("grid", [0, (1, 2, 3, 4), (4, -1), ()])
def test_a_grid_has_one_to_three_positive_sizes(ir_text, grid):
    """Anything else is refused before counting."""
    with pytest.raises(IrError, match="grid"):
        count_ir(ir_text("vadd"), grid, {"n": 4096})


def test_an_access_outside_its_tensor_is_noted(count):
    """n says 1000, the tensor holds 900."""
    kernel = count("vadd", 1, {"n": 1000, "x_ptr": TensorArg((900,), "fp32")})
    assert [note.text for note in kernel.notes] == ["tt.load reaches outside its tensor"]


def test_tensors_at_the_same_address_share_bytes(count):
    """x + x asks twice, but its bytes are distinct once."""
    same = TensorArg((1000,), "fp32", base=4096)
    kernel = count("vadd", 1, {"n": 1000, 0: same, 1: same})
    assert kernel.read.requested.value == 8000
    assert kernel.read.compulsory.value == 4000
