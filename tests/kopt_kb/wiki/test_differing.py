"""In which conditions a row differs from what was asked for."""

from __future__ import annotations

from kopt_kb.wiki.differing import differing
from kopt_kb.wiki.places import default_root
from kopt_kb.wiki.wiki import Wiki


def test_what_is_silent_does_not_differ() -> None:
    """An accumulator that a sheet leaves open is no difference; sparsity is."""
    wiki = Wiki(default_root())
    rows = wiki.sheet(wiki.names.identities["H100_SXM"]).rows
    row = next(one for one in rows if one.metric == "peak_compute" and dict(one.axes).get("sparsity") == "2:4")
    own = dict(row.axes)
    assert differing(row, own) == []
    assert differing(row, {**own, "acc": "unstated"}) == []
    assert differing(row, {**own, "sparsity": "dense"}) == [("sparsity", "dense", "2:4")]
