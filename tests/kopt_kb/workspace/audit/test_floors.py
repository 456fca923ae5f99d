"""Claims about records below their floor: found in a journal that was written anew, whatever floors it brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kopt_kb.workspace.audit.forging import codes, of_kind, rewritten, scaled, slower


def test_a_journal_with_a_tenth_of_its_times_is_below_its_floor(rms_norm: Path) -> None:
    """Chain, blobs and views agree with each other; the product can't do it."""
    assert codes(slower(rms_norm, 0.1)) == {"floor"}


def test_floors_that_the_journal_makes_up_do_not_count(rms_norm: Path) -> None:
    """Rooflines with next to no bytes, recorded with the targets."""

    def event(document: dict[str, Any]) -> None:
        document["data"] = scaled(document["data"], 0.1)
        if document["kind"] == "target_set":
            for one in document["data"]["work"]["rooflines"]:
                for moved in one["work"]["bytes"]:
                    moved["compulsory"]["value"] = 1

    assert "floor" in codes(rewritten(rms_norm, event, lambda one: scaled(one, 0.1)))


def test_a_record_that_its_roofline_gate_refused_is_none(rms_norm: Path) -> None:
    """A campaign keeps what it refused."""

    def event(document: dict[str, Any]) -> None:
        document["data"] = scaled(document["data"], 0.1)
        of_kind("gate_judged", lambda one: one.update(result="fail") if one["gate"] == "roofline" else None)(document)

    found = codes(rewritten(rms_norm, event, lambda one: scaled(one, 0.1)))
    assert "floor" not in found and "record" in found  # both versions are accepted against their gates
