"""A launcher recorded with each of its kernels' own configurations."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.base.wire import canonical
from kopt_kb.cli.main import main
from kopt_kb.launch.judge import own_configs
from kopt_kb.launch.judge.makers import Makers
from kopt_kb.launch.judge.own_configs import _configurations, record_configurations
from kopt_kb.launch.judge.recorded import is_record
from kopt_kb.launch.record.request import CallRequest, MakerRequest
from kopt_kb.launch.record.statics import STATICS, Statics

REQUEST = MakerRequest(CallRequest("a:b"), "sm_90", "sm_90", {}, "", statics=True)
LAUNCHERS = str(Path(__file__).resolve().parents[3] / "data" / "tuned_launchers.py")


def test_kernels_that_are_tuned_together_are_named(tmp_path: Path) -> None:
    """One kernel's settings stand alone; of several each is named, and what has fewer configurations says nothing."""
    one, two = ({"BLOCK": 128}, {"BLOCK": 256}), ({"ROWS": 4},)
    (tmp_path / STATICS).write_bytes(canonical(Statics(REQUEST, (), {"f": one}).to_json()))
    assert _configurations(tmp_path) == list(one)
    (tmp_path / STATICS).write_bytes(canonical(Statics(REQUEST, (), {"f": one, "g": two}).to_json()))
    assert _configurations(tmp_path) == [{"f.BLOCK": 128, "g.ROWS": 4}, {"f.BLOCK": 256}]
    (tmp_path / STATICS).write_bytes(canonical(Statics(REQUEST, ()).to_json()))
    with pytest.raises(BadInput, match="no kernel that is launched has configurations of its own"):
        _configurations(tmp_path)
    with pytest.raises(BadInput, match="exists already"):
        record_configurations(REQUEST, tmp_path, None, "")


@pytest.mark.torch
@pytest.mark.triton
def test_each_configuration_that_fits_is_a_record(
    tmp_path: Path,
    fits: Callable[[str, object], bool],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One does not compile, one is left out by the kernel's own rule, the third lies in a folder of its number."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    monkeypatch.setattr(own_configs, "Makers", partial(Makers, 1))
    out = tmp_path / "out"
    words = ["record", "--call", f"{LAUNCHERS}:doubled", "--arg", "x=fp32[1000]", "--platform", "H100_SXM"]
    assert main([*words, "--autotune", "all", "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert fits("compile_configurations", found)
    assert [one["reason"] for one in found["configurations"]] == ["compiler", "own_rule", None]
    assert found["configurations"][2]["config"] == {"BLOCK": 512, "num_warps": 2, "num_ctas": 1, "num_stages": 3}
    assert sorted(one.name for one in out.iterdir()) == ["2", "configurations.json"]
    assert is_record(out / "2")
    assert main([*words[:4], "x=fp32[1000]", *words[5:], "--autotune", "all", "--out", str(out)]) == 2
