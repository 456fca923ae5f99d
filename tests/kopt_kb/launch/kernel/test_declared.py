"""Declared data are read without running the file, and nothing unfit is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.kernel import declared
from kopt_kb.launch.kernel.declared import DeclarationError, packaged_file, read_declared, refuse_unknown

GOOD = """
OP = "rmsnorm"
OP_OPTIONS = {"weight": True}
TUNING_SPACE = {"num_warps": [4, 8]}
VARIANTS = [{"name": "a", "category": "caching", "summary": "s", "precondition": "N <= 8 and M * 2 > 3",
             "config": {"num_warps": 8, "VARIANT": "x"}, "knobs": ["num_warps"]}]
raise SystemExit("this file must not be run")
"""


def _write(tmp_path, text):
    path = tmp_path / "kernel.py"
    path.write_text(text)
    return path


def test_a_file_is_read_without_running_it(tmp_path):
    """The file ends in an exit, which never happens."""
    found = read_declared(_write(tmp_path, GOOD))
    assert found.op == "rms_norm"
    assert dict(found.options) == {"weight": True}
    assert dict(found.tuning_space) == {"num_warps": (4, 8)}
    (variant,) = found.variants
    assert (variant.name, variant.category, variant.knobs) == ("a", "caching", ("num_warps",))


@pytest.mark.parametrize(("shape", "holds"), [((2, 8), True), ((2, 9), False), ((1, 8), False)])
def test_a_precondition_is_evaluated_for_a_shape(tmp_path, shape, holds):
    """N <= 8 and 2M > 3."""
    (variant,) = read_declared(_write(tmp_path, GOOD)).variants
    assert variant.applies("rms_norm", shape, "bf16") is holds


def test_a_precondition_may_use_bytes_and_elements(tmp_path):
    """Rows of a multiple of 16 bytes: 8 elements of bf16 are, 7 are not."""
    text = GOOD.replace("N <= 8 and M * 2 > 3", "N * element_bytes % 16 == 0 and elements > 7")
    (variant,) = read_declared(_write(tmp_path, text)).variants
    assert variant.applies("rms_norm", (1, 8), "bf16")
    assert not variant.applies("rms_norm", (4, 7), "bf16")


def test_a_variant_may_be_written_for_some_targets(tmp_path):
    """On others it is not tried; a target that nobody named rules nothing out."""
    (variant,) = read_declared(
        _write(tmp_path, GOOD.replace('"summary": "s",', '"summary": "s", "targets": ["sm_90"],'))
    ).variants
    tried = {one: variant.applies("rms_norm", (2, 8), "bf16", one) for one in ("", "sm_90", "sm_80", "gfx942")}
    assert tried == {"": True, "sm_90": True, "sm_80": False, "gfx942": False}


def test_the_last_dimension_is_named_when_any_rank_is_allowed(tmp_path):
    """N of a 4x3x8 reduction is 8."""
    (variant,) = read_declared(_write(tmp_path, GOOD.replace(" and M * 2 > 3", ""))).variants
    assert variant.applies("reduction", (4, 3, 8), "bf16")
    assert not variant.applies("reduction", (3, 9), "bf16")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('OP = "rmsnorm"', "", "declares no OP"),
        ('OP = "rmsnorm"', 'OP = "rms" + name', "OP is not a literal"),
        ('"rmsnorm"', '"sofmax"', "did you mean softmax"),
        ('{"weight": True}', "5", "OP_OPTIONS is no table"),
        ("caching", "magic", "unknown category 'magic'"),
        ('"num_warps": 8,', '"BLOCK": 8,', "BLOCK not in TUNING_SPACE"),
        ("[4, 8]", "[]", "not a table of lists"),
        ('"summary": "s",', "", "a variant needs exactly"),
        ('"summary": "s",', '"summary": "s", "targets": "sm_90",', "no list of names"),
        ("N <= 8", "N.bit_length() <= 8", "only whole numbers"),
        ("N <= 8", "__import__('os') == 1", "only whole numbers"),
        ("N <= 8", "M % (N - N) == 0", "divisors must be numbers"),
        ("N <= 8", "M // 0 == 0", "divisors must be numbers"),
        ("N <= 8", "N ==", "is no expression"),
        ("N <= 8 and", "N <= 8 or", "only comparisons joined by and"),
        ("raise SystemExit", "raise SystemExit((", "not a readable Python file"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, old, new, complaint):
    """With the file in front."""
    assert old in GOOD
    with pytest.raises(Exception, match=complaint) as caught:
        read_declared(_write(tmp_path, GOOD.replace(old, new)))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_two_variants_of_one_name_are_refused(tmp_path):
    """A record could not tell them apart."""
    variant = GOOD[GOOD.index("[{") + 1 : GOOD.index("}]") + 1]
    text = GOOD.replace(variant, f"{variant}, {variant}")
    with pytest.raises(DeclarationError, match="share a name"):
        read_declared(_write(tmp_path, text))


def test_the_shipped_files_are_read(repo_root):
    """Every kernel file, each variant's precondition evaluated on a shape."""
    shapes = {"gemm": (64, 64, 64), "attention": (1, 2, 64, 32), "grouped_gemm": (4, 64, 64, 64)}
    shapes["fp8_gemm"] = (64, 128, 128)
    files = [one for one in sorted((repo_root / "kernels").rglob("*.py")) if "\nOP = " in one.read_text()]
    assert len(files) == 38, "twelve kernels, four naive ones, three in cuTile, and nineteen references without one"
    for path in files:
        found = read_declared(path)
        for variant in found.variants:
            assert variant.applies(found.op, shapes.get(found.op, (64, 64)), "bf16") in (True, False)


def test_packaged_files_are_found_by_operation() -> None:
    """A matrix product has another name; what is no operation of the package, or no name, has none."""
    assert packaged_file("gemm").name == "matmul.py"
    assert packaged_file("softmax").name == "softmax.py"
    assert packaged_file("grouped_gemm").name == "grouped_gemm.py"
    assert packaged_file("conv2d") is None
    assert packaged_file("../kopt_kb/errors") is None


def test_cuda_declares_in_its_header(tmp_path, repo_root):
    """The same things by the same names; errors are this module's."""
    found = read_declared(repo_root / "kernels" / "cuda" / "rms_norm.cu")
    assert (found.op, dict(found.options)) == ("rms_norm", {"weight": True})
    assert dict(found.tuning_space)["CACHED"] == (0, 1)
    assert [one.name for one in found.variants] == ["one_pass", "two_pass"]
    assert found.variants[0].applies("rms_norm", (8, 4096), "bf16")
    text = (repo_root / "kernels" / "cuda" / "rms_norm.cu").read_text()
    for old, new, complaint in (
        ('op = "rms_norm"\n', "", "declares no OP"),
        ('category = "caching"', 'category = "magic"', "unknown category"),
        ("config = { CACHED = 0 }", "config = { WARPS = 0 }", "WARPS not in TUNING_SPACE"),
        ('op = "rms_norm"', "op = ", "no TOML"),
    ):
        assert old in text
        with pytest.raises(DeclarationError, match=complaint):
            read_declared(_write(tmp_path, text.replace(old, new)))


SETTINGS = """
TUNING_SPACE = {"BLOCK": [64, 128]}
VARIANTS = [{"name": "wide", "config": {"VARIANT": "roles"}}]


def default_config(shape, dtype):
    return {"VARIANT": "three_pass" if shape[-1] > 8192 else "one_pass", "WIDEN": True}


def launch(x, *, config=None, out=None, deep=1):
    if config["VARIANT"] == "lanes":
        return out
"""


@pytest.mark.parametrize(
    ("config", "what", "fix"),
    [
        ({"HELD": True}, "no setting HELD", "it has VARIANT, BLOCK"),
        ({"VARIANT": [1]}, r"no VARIANT \[1\]", "it has one_pass, roles, three_pass"),
        ({"VARIANT": "wide"}, "no VARIANT 'wide'", "it has one_pass, roles, three_pass"),
    ],
)
def test_a_setting_that_the_file_can_not_heed_is_refused(tmp_path, config, what, fix):
    """A launch may ignore it, and it would be taken for tried; a variant's name is no value of VARIANT."""
    with pytest.raises(BadInput, match=what) as error:
        refuse_unknown(_write(tmp_path, SETTINGS), {"BLOCK": 64, **config})
    assert (error.value.fix, error.value.error_code) == (fix, "KB081")


@pytest.mark.parametrize(
    "config",
    [{"VARIANT": "roles"}, {"VARIANT": "one_pass"}, {"VARIANT": "lanes"}, {"num_warps": 8, "WIDEN": 0, "deep": 2}],
)
def test_whatever_the_file_spells_is_a_setting(tmp_path, config):
    """Declared or not: values of VARIANT that code compares with, keys of its tables, parameters, launch options."""
    refuse_unknown(_write(tmp_path, SETTINGS), config)
    refuse_unknown(_write(tmp_path, SETTINGS.replace('"roles"', "2").split("def default")[0]), {"VARIANT": 2})


def test_a_file_that_declares_no_settings_refuses_none(tmp_path):
    """Files of others have no TUNING_SPACE; what can't be read is refused by who reads it."""
    for text in ("def launch(x, config):\n    pass\n", "def (", 'TUNING_SPACE = {"A": [f()]}\n'):
        refuse_unknown(_write(tmp_path, text), {"HELD": True, "VARIANT": "x"})
    refuse_unknown(tmp_path / "none.py", {"HELD": True})


def test_packaged_kernels_have_what_their_files_declare():
    """Each setting that a variant or the start of a packaged kernel has is one that its file is taken to have."""
    files = [
        one
        for one in Path(declared.__file__).parents[2].joinpath("kernels").rglob("*.py")
        if "\nTUNING_SPACE = {" in one.read_text()
    ]
    assert len(files) > 10
    for file in files:
        found = read_declared(file)
        for config in [dict(found.tuning_space), *(dict(one.config) for one in found.variants)]:
            refuse_unknown(file, config)
        with pytest.raises(BadInput, match="no setting HELD"):
            refuse_unknown(file, {"HELD": True})
