"""Arguments of checks and searches."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kopt_kb.packs.tables.bouts import Bout
from kopt_kb.packs.tables.timed_arguments import add_layer, appending, asked_of


def test_what_a_table_does_not_say_is_asked() -> None:
    """Depth and experts of a token have no default."""
    parser = argparse.ArgumentParser()
    add_layer(parser)
    given = parser.parse_args(["a.json", "--engine", "vllm", "--hidden", "4096", "--top-k", "8", "--routing", "skew:1"])
    asked = asked_of(given)
    assert (asked.file, asked.hidden, asked.top_k, asked.routing, asked.activation) == (
        "a.json",
        4096,
        8,
        "skew:1",
        "bf16",
    )


def test_rows_are_lines(tmp_path: Path) -> None:
    """Each at once; nothing without a file."""
    write = appending(str(tmp_path / "rows"))
    for verdict in ("equal", "faster"):
        write(Bout(verdict, ""))  # type: ignore[arg-type]
    appending(None)(Bout("equal", ""))
    lines = (tmp_path / "rows").read_text().splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["equal", "faster"]
