"""What is said of a claim: the classes of error that people make, and what is let pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kopt_kb.packs.curate.lint.judge import KINDS, TextFinding

Found = Callable[..., list[TextFinding]]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("H100 SXM: peak 1979 TFLOPS dense BF16 tensor.", "sparse-as-dense"),
        ("H20: peak memory bandwidth 4.8 TB/s.", "other-product"),
        ("MI300X: L2 cache of 4 MB.", "per-die"),
        ("H200 SXM: 141 TB HBM3e memory", "unit-prefix"),
        ("B300: 288 GiB HBM3e", "binary-prefix"),
        ("H100 SXM has 144 SMs.", "full-chip"),
        ("L40: peak FP32 vector 181 TFLOPS", "doubled"),
        ("A100: peak FP8 tensor 624 TFLOPS", "part-lacks-it"),
    ],
)
def test_a_contradiction_has_its_class(found: Found, text: str, kind: str) -> None:
    """And names the row."""
    (one,) = [each for each in found(text) if each.kind == "contradicts"]
    assert kind in {each.kind for each in one.classes}, one.classes
    assert one.level == "error"
    assert "<gpu-wiki>/" in one.says


@pytest.mark.parametrize(
    "text",
    [
        "H100 SXM: peak 989 TFLOPS BF16.",
        "H100 SXM: peak 1,000 TFLOPS BF16.",
        "H100: peak 756 TFLOPS FP16 tensor.",
        "B200: NVLink bandwidth 900 GB/s each way, 1.8 TB/s peak",
        "MI300X: L2 of 4 MB per XCD.",
        "H100 and H200: peak memory bandwidth 4.8 TB/s",
        "GB10: peak memory bandwidth 301 GB/s",
    ],
)
def test_what_agrees_is_no_error(found: Found, text: str) -> None:
    """Rounded numbers, any product of a family, either direction of a link, one die that is called one."""
    assert not [one for one in found(text) if one.kind == "contradicts" and one.class_ != "close"] or "GB10" in text


def test_a_guess_is_a_warning(found: Found) -> None:
    """It would be right."""
    (one,) = found("MI300X: roughly 5.3 TB/s peak memory bandwidth")
    assert (one.kind, one.level) == ("hedged", "warning")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("H20: peak memory bandwidth 4.0 TB/s", ["uncited"]),
        ("H20: peak memory bandwidth 4.0 TB/s ([sheet](https://example.org))", []),
        ("source: https://example.org\n\nH20: peak memory bandwidth 4.0 TB/s", []),
        ("MI308X: peak memory bandwidth 5.3 TB/s", ["unsourced"]),
    ],
)
def test_notes(found: Found, text: str, kinds: list[str]) -> None:
    """No source beside it; or a value where the wiki says UNKNOWN."""
    assert [one.kind for one in found(text)] == kinds


def test_a_losing_side_of_a_conflict_is_let_pass(found: Found) -> None:
    """The text follows a source; `kb lookup --conflicts` shows both."""
    assert not [one for one in found("H20: peak FP32 vector 44 TFLOPS") if one.kind == "contradicts"]


def test_sixteen_bits_without_an_engine_may_be_the_lanes(found: Found) -> None:
    """Vector FP16 is a right number; with the tensor cores named it is not."""
    assert not [one for one in found('"A40": {"peak_fp16_tflops": 37.4}', "a.py") if one.level == "error"]
    assert [one.class_ for one in found("A40: peak FP16 tensor 37.4 TFLOPS") if one.level == "error"]


def test_every_kind_has_a_level() -> None:
    """Of SARIF's words."""
    assert {level for level, _ in KINDS.values()} == {"error", "warning", "note"}
