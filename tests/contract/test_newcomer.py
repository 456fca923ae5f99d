"""The first ten minutes: what newcomers stumbled over, each once, by the command they typed."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from kopt_kb.cli.main import main

ROOT = Path(__file__).parents[2]
OP = ["--op", "rms_norm", "--shape", "8192x4096", "--dtype", "bf16"]
Capture = pytest.CaptureFixture[str]


def said(capsys: Capture, *words: str, code: int = 0) -> str:
    """Return what a command prints on both streams; its exit code is checked."""
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    return out + err


class TestHowFarAmI:
    """What should my RMS norm reach on three products, and how far am I?"""

    def test_one_table_with_times(self, capsys: Capture) -> None:
        """Three lines, each with documented and reachable least time and the time at the target."""
        text = said(capsys, "roofline", "--compare", "H20,H100_SXM,MI300X", *OP)
        rows = {line.split()[0]: line for line in text.split("\n") if " us" in line and "dram" in line}
        assert rows["H20"].count(" us") == 2 and "37.28 us" in rows["H20"] and "28.01 us" in rows["MI300X"]
        assert rows["H100_SXM"].split()[-1] == "measured" and rows["H20"].split()[-1] == "documented"
        assert len(text.split("\n")) < 45

    def test_json_has_times(self, capsys: Capture) -> None:
        """Seconds, beside everything that was there."""
        body = json.loads(said(capsys, "roofline", "--platform", "H20", *OP, "--json"))
        assert body["times"]["target_s"] == pytest.approx(37.2847e-6, rel=1e-4)

    def test_my_time(self, capsys: Capture) -> None:
        """52 us is a share of the roof with a gap."""
        text = said(capsys, "roofline", "--platform", "H20", *OP, "--time", "52us")
        assert (
            "measured    52 us, 2.581 TB/s: 64.53 % of the documented roof, 18.44 us above it, 1.395× slower than the target"
            in text
        )

    def test_a_profile_is_not_ignored(self, capsys: Capture) -> None:
        """With --op it is refused, and the file need not exist for that."""
        assert "--profile is not used here" in said(
            capsys, "roofline", "--platform", "H20", *OP, "--profile", "nowhere", code=2
        )

    def test_an_unreachable_target_says_so_in_its_own_line(self, capsys: Capture) -> None:
        """H200_NVL: nobody measured more than 3.991 TB/s."""
        text = said(capsys, "roofline", "--platform", "H200_NVL", *OP)
        assert "warning     the target asks for more than the best that anybody measured, dram 3.9911 TB/s" in text

    def test_a_diagnostics_limit_is_no_best_rate(self, capsys: Capture) -> None:
        """H20: half the sheet's bandwidth stands in a file of diagnostics, and 52 us are faster than it."""
        text = said(capsys, "roofline", "--platform", "H20", *OP, "--time", "52us")
        assert "anybody measured" not in text and "2.01 TB/s" not in text

    def test_the_target_that_binds_is_first(self, capsys: Capture) -> None:
        """And the other is called not binding."""
        text = said(capsys, "roofline", "--platform", "H20", *OP)
        assert text.index("memory-bound target") < text.index("not binding compute-bound target")

    def test_small_work_is_no_memory_bound_kernel(self, capsys: Capture) -> None:
        """64 KiB: the L2 is named, and that nobody measured a launch there; an H200 has one of its own."""
        text = said(
            capsys, "roofline", "--platform", "H20", "--op", "rms_norm", "--shape", "128x128", "--dtype", "bf16"
        )
        assert "fit the L2 of 60 MiB" in text and "nobody measured a launch on H20: no target can be judged" in text
        other = said(
            capsys, "roofline", "--platform", "H200_SXM", "--op", "rms_norm", "--shape", "128x128", "--dtype", "bf16"
        )
        assert "shorter than the launch of an empty kernel, 2.85 us on H200_SXM" in other

    def test_numbers_have_prefixes_and_definitions_come_after_the_verdict(self, capsys: Capture) -> None:
        """134 MFLOP and 67.1 MB."""
        text = said(capsys, "roofline", "--platform", "H20", *OP)
        assert "134.2 MFLOP" in text and "67.12 MB" in text
        assert text.index("Verdict") < text.index("operation: y[i,:]")

    def test_the_example_fits_the_mistake(self, capsys: Capture) -> None:
        """Bare counts without an engine are answered with bare counts."""
        words = ("--flops", "1e12", "--bytes", "4e8", "--dtype", "bf16")
        assert "missing --engine; for example --flops 1.1e12" in said(
            capsys, "roofline", "--platform", "H20", *words, code=2
        )

    @pytest.mark.parametrize("op", ["conv2d", "rope", "topk", "embedding", "scan"])
    def test_operations_people_ask_for(self, op: str, capsys: Capture) -> None:
        """They exist, or the refusal says how to go on without."""
        from kopt_kb.problem.ops import OPS

        if op not in OPS:
            words = ("--op", op, "--shape", "4x4", "--dtype", "bf16")
            assert "--flops" in said(capsys, "roofline", "--platform", "H20", *words, code=2)

    def test_unknown_rows_are_not_a_wiki_that_was_not_found(self, tmp_path: Path, capsys: Capture) -> None:
        """kb init says that no source gives a value."""
        demo = ("--framework", "Triton", "--kernel-demo", "op:rms_norm", "--shape", "8192x4096", "--dtype", "bf16")
        text = said(capsys, "init", "norm", "--platform", "H20", *demo, "--parent", str(tmp_path))
        assert "UNKNOWN, no source gives it" in text and "not found" not in text


class TestNames:
    """What people type for a product."""

    @pytest.mark.parametrize(
        ("typed", "says", "code"),
        [
            ("V100", "of these V100_SXM2_32GB alone has a page", 2),
            ("H800", "say which: H800_PCIE, H800_SXM", 2),
            ("H100-80GB", "say which: H100_NVL, H100_PCIE, H100_SXM", 2),
            ("A100-80GB", "say which: A100_PCIE_80GB, A100_SXM_80GB", 2),
            ("rtx4090", "RTX_4090: NVIDIA", 0),
            ("4090", "did you mean RTX_4090?", 2),
            ("mi300", "did you mean MI300A, MI300X?", 2),
            ("AMD Instinct MI250X/MI250", "say which: MI250X, MI250", 2),
            ("DGX Spark", "GB10: NVIDIA", 0),
            ("gfx942", "product(s) of this target", 0),
            ("gfx90a:sramecc+:xnack-", "gfx90a: 3 product(s) of this target", 0),
            ("H100 SXM5", "H100_SXM: NVIDIA", 0),
            ("Jetson Orin", "JETSON_AGX_ORIN: NVIDIA", 0),
            ("sm_100", "product(s) of this target", 0),
            ("hopper", "product(s) of this arch", 0),
            ("foo", "`kb list` prints every platform", 2),
        ],
    )
    def test_what_is_answered(self, typed: str, says: str, code: int, capsys: Capture) -> None:
        """One product, which ones, or none; never another one."""
        assert says in said(capsys, "lookup", typed, "memory_capacity", code=code)

    @pytest.mark.parametrize("typed", ["RTX 3080", "P100", "RTX 4070"])
    def test_other_silicon_is_never_suggested(self, typed: str, capsys: Capture) -> None:
        """A number that differs is another product."""
        assert "did you mean" not in said(capsys, "lookup", typed, code=2)

    def test_dtypes_have_one_spelling_everywhere(self, capsys: Capture) -> None:
        """bfloat16 is bf16 in lookups too."""
        assert "148" in said(capsys, "lookup", "H20", "peak_compute", "dtype=bfloat16", "sparsity=dense")


class TestWords:
    """Help, versions and slips at the command line."""

    @pytest.mark.parametrize(
        ("words", "says", "code"),
        [
            (["help"], "usage: kb COMMAND", 0),
            (["help", "lookup"], "usage: kb lookup", 0),
            (["-V"], "kb ", 0),
            (["version"], "kb ", 0),
            (["foo"], "kb: no command 'foo'", 2),
            (["lookup"], "the following arguments are required: PLATFORM;", 2),
            (["lookup", "H20", "--platfrom", "x"], "here PLATFORM is a word without an option", 2),
            (["roofline", "--platfrom", "H20"], "did you mean --platform?", 2),
            (["roofline", "--shape", "-1x4096"], "is written --shape=VALUE", 2),
            (["roofline", "--platform", "H20", "--op", "rms_norm", "--dtype", "bf16", "--shape", f"{'9' * 21}x2"], "it must be 1 to 9223372036854775807", 2),
            (["roofline", "--platform", "H20", "--op", "rms_norm", "--dtype", "bf16", "--shape", "8192,4096"], "write it like 8192x4096", 2),
            (["explain", "KB052"], "KB052: error", 0),
            (["profile", "run", "--dry-run"], "ncu --set full", 0),
        ],
    )  # fmt: skip
    def test_what_is_answered(self, words: list[str], says: str, code: int, capsys: Capture) -> None:
        """Never a doubled prefix."""
        text = said(capsys, *words, code=code)
        assert says in text and "kb: kb" not in text

    def test_every_code_is_documented_and_explained(self, capsys: Capture) -> None:
        """Whatever is raised can be asked about."""
        from kopt_kb.base.error_codes import causes

        page = (ROOT / "docs/reference/codes.md").read_text()
        assert all(code in page for code in causes())
        assert "KB103" in said(capsys, "explain", "KB103")

    def test_a_demo_that_is_no_source_is_refused(self, tmp_path: Path, capsys: Capture) -> None:
        """2,000 bytes that are no Python."""
        (tmp_path / "k.py").write_bytes(bytes(range(256)) * 8)
        demo = ("--framework", "Triton", "--kernel-demo", str(tmp_path / "k.py"), "--shape", "8x8", "--dtype", "bf16")
        said(capsys, "init", "n", "--platform", "H20", *demo, "--parent", str(tmp_path), code=2)


class TestRefusals:
    """Every refusal says what to do next."""

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["isa", "KERNEL", "--kernel", "zz"], "kernels here: a"),
            (["compare", "H20", "H20", "peak_compute[x]"], "; "),
            (["tune", "resume", "kernel_opt_none"], "; "),
            (
                [
                    "roofline",
                    "--platform",
                    "H20",
                    "--flops",
                    "-1",
                    "--bytes",
                    "4",
                    "--dtype",
                    "bf16",
                    "--engine",
                    "matrix",
                ],
                "; ",
            ),
        ],
    )
    def test_without_words_of_its_own_a_refusal_says_what_its_code_says(
        self, words: list[str], says: str, tmp_path: Path, capsys: Capture
    ) -> None:
        """A remedy stands between the fact and the code, in JSON too."""
        (tmp_path / "k.sass").write_text("Function : a\n  /*0000*/  EXIT ;\n")
        words = [word.replace("KERNEL", str(tmp_path / "k.sass")) for word in words]
        text = said(capsys, *words, code=2)
        assert re.search(r"; .+ \[KB\d{3}\]\n$", text) and says in text
        assert json.loads(said(capsys, *words, "--json", code=2).partition("\nkb")[0])["error"]["fix"]

    def test_every_cause_has_a_remedy(self) -> None:
        """So that none can be without."""
        from kopt_kb.base.error_codes import causes

        assert all(one.remedy for one in causes().values())


class TestLooks:
    """Tables fit, say what their columns are, and round in one way."""

    @pytest.mark.parametrize(
        "words",
        [
            ["list"],
            ["lookup", "H20"],
            ["compare", "H20", "MI300X"],
            ["roofline", "--compare", "H20,MI300X", *OP],
            ["roofline", "--platform", "H20", "--plot", *OP],
        ],
        ids=["list", "lookup", "compare", "roofline", "plot"],
    )
    def test_nothing_is_wider_than_the_terminal(
        self, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        """At 60 columns no line is longer, of tables and of what stands around them."""
        monkeypatch.setenv("COLUMNS", "60")
        assert max(map(len, said(capsys, *words).split("\n"))) <= 60

    def test_a_lookup_begins_with_what_everybody_wants(self, capsys: Capture) -> None:
        """Five values on top, no unstated conditions, no endless digits."""
        text = said(capsys, "lookup", "H20")
        assert text.split("\n")[1] == "bf16 148 TFLOPS; fp8 296 TFLOPS; bandwidth 4.0 TB/s; memory 96 GB; L2 60 MiB"
        assert "unstated" not in text and max(map(len, text.split("\n"))) < 130
        assert "7928064000000  B/s = 7.928 TB/s" in said(capsys, "lookup", "GB200")

    @pytest.mark.parametrize("form", ["csv", "markdown", "json"])
    def test_forms_for_programs(self, form: str, capsys: Capture) -> None:
        """The same rows, whole keys."""
        text = said(capsys, "lookup", "H20", "memory_bandwidth", "--format", form)
        assert {"csv": "memory_bandwidth,4.0,TB/s", "markdown": "| memory_bandwidth | 4.0 |", "json": '"specs"'}[
            form
        ] in text

    def test_a_comparison_says_against_what(self, capsys: Capture) -> None:
        """The ratio has a head."""
        assert "ratio to H100_SXM" in said(capsys, "compare", "H100_SXM", "H200_SXM", "sm_count")

    def test_two_reports_of_one_campaign_agree(self, capsys: Capture) -> None:
        """The aggregate was 1.055 here and 1.054 there; a speed-up is a factor."""
        campaign = str(ROOT / "benchmarks/campaigns/h200_sxm/gemm")
        report, use = said(capsys, "tune", "report", campaign), said(capsys, "bench", "utilization", campaign)
        assert "aggregate 1.054" in report and "aggregate 1.054" in use
        assert "best v3: 21.38× against the baseline v0" in report
        assert "geometric means over all shapes" in said(capsys, "memory", "summary", campaign)
        trend = (ROOT / "benchmarks/campaigns/h200_sxm/gemm/logs/performance_trend.md").read_text()
        assert "step 21.38×" in trend and "%," not in trend.split("v3 |")[1].split("\n")[0]

    def test_numbers_are_rounded_in_one_place(self) -> None:
        """Commands and views format no float by themselves, but where the digits mean something else."""
        own = re.compile(r"[+,]?\.\d[fge]")
        found = set()
        for pattern in ("cli/**/*.py", "workspace/views/*.py", "packs/*/command.py"):
            for path in (ROOT / "kopt_kb").glob(pattern):
                for node in ast.walk(ast.parse(path.read_text())):
                    spec = node.format_spec if isinstance(node, ast.FormattedValue) else None
                    texts = (
                        [one.value for one in spec.values if isinstance(one, ast.Constant)]
                        if isinstance(spec, ast.JoinedStr)
                        else []
                    )
                    found |= {path.name for text in texts if own.fullmatch(text)}
        assert found <= {
            "verify.py", "verify_kernel.py",  # an error of 1e-7 is written with its exponent
            "doctor.py", "command.py",
            "compared.py",  # hundredths of a percent: a change of that size is what the comparison decides
            "iterations.py",  # six decimals of a millisecond, as the loop of its original keeps them
            "lessons.py", "readme.py",  # never rounded up: what is below its target does not read 100 %
        }  # fmt: skip


class TestProfiles:
    """Reports of profilers."""

    def test_no_product_but_that_of_the_report(self, capsys: Capture) -> None:
        """Recorded on an NVIDIA part: an MI300X is refused; headroom is what was reached, and what a fix is worth is said."""
        report = str(ROOT / "tests/data/zoo/memory.csv")
        assert "contradicts the report" in said(capsys, "profile", "read", report, "--platform", "MI300X", code=2)
        text = said(capsys, "profile", "read", report, "--platform", "H200_SXM")
        assert "Product: H200_SXM" in text and "Reached: dram" in text and "Worth: " in text
        assert "class, limiter: by all rules" in text
