from __future__ import annotations

from kopt_kb.packs.step_ranking.step import step_report
from kopt_kb.packs.step_ranking.text import print_step
from tests.packs.step_ranking.traces import kernel, launch, op, product, step_range, write

NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def test_a_step_is_told_within_its_rows(tmp_path, registry, capsys) -> None:
    others = [
        one for at in range(2) for one in product(9000 + 200 * at, 10 + at, 90, dims=((64, 64 + at), (64 + at, 64)))
    ]
    ring = [launch(8000, 5), kernel(NCCL, 8010, 300, 5), launch(8500, 6), kernel("strange", 8510, 30, 6)]
    path = write(tmp_path / "t.json", step_range(4, 0, 20_000), *product(0, 1, 2000), *others, *ring)
    print_step(step_report(path, registry), 1)
    told = capsys.readouterr().out
    assert "ProfilerStep#4, the median of 1" in told
    assert "GPU 0 idle" in told
    assert "Collectives 300 us, 100.0 % of it with no kernel beside" in told
    assert told.count("more; --top N or --json shows them") == 2
    assert "1. aten::mm 8192x8192 bf16, 8192x8192 bf16 (cuBLAS, tile 128x128x64, bf16)" in told


def test_without_roofs_only_times_are_told(tmp_path, registry, capsys) -> None:
    print_step(step_report(write(tmp_path / "t.json", *product(0, 1), device=""), registry), 9)
    told = capsys.readouterr().out
    assert "unnamed device (product not known)" in told
    assert "By time that could be won" not in told
    print_step(step_report(write(tmp_path / "u.json", *product(0, 1)), registry), 9)
    assert "Without a roof" not in capsys.readouterr().out


def test_names_in_a_trace_do_not_command_the_terminal(tmp_path, registry, capsys) -> None:
    works = [op("triton_\x1b[2J\nfake", 50, 9, [[64]], ["float"]), launch(52, 2), kernel("triton_\x1b[2J", 5000, 3, 2)]
    made = [one | {"args": one["args"] | {"device": "\x1b[2J"}} if one["cat"] == "kernel" else one for one in works]
    path = write(tmp_path / "t.json", step_range(1, 0, 100), *product(0, 1), *made)
    print_step(step_report(path, registry, registry.platform("H100_SXM")), 9)
    told = capsys.readouterr().out
    assert "\x1b" not in told and "\nfake" not in told


def test_the_name_of_a_copy_is_cut_visibly(tmp_path, registry, capsys) -> None:
    copy = kernel("Memcpy DtoD (Device -> Device)", 0, 90, category="gpu_memcpy", bytes=1 << 20)
    print_step(step_report(write(tmp_path / "t.json", copy), registry, registry.platform("H100_SXM")), 9)
    assert "1. Memcpy DtoD (Device -> Devi…: " in capsys.readouterr().out
