"""What older versions adopted into the journal stays shown."""

from __future__ import annotations

from kopt_kb.workspace.audit.audit import audit
from kopt_kb.workspace.views.render import render_workspace, texts_of


def test_adopted_lines_stay_shown(played, registry):
    """In a file under a heading, in a block at its end; with author and event, and the audit is clean."""
    log = played.store.put(b"tried on a quiet machine\n")
    seq = played.add("file_adopted", path="logs/optimize.md", block=None, blob=log, by="ann\n lee")
    tools = played.store.put(b"- `make gemm` builds it\n")
    played.add("file_adopted", path="README.md", block="tools", blob=tools, by="ann")
    played.add("file_adopted", path="plans/v1_plan.md", block=None, blob=log, by="ann")
    texts = texts_of(played.workspace.state(), played.store.get)
    added = f"\n\n## Added by people\n\ntried on a quiet machine\n\n(added by ann lee, event {seq})\n"
    assert texts.files["logs/optimize.md"].endswith(added)
    assert texts.blocks["README.md"]["tools"].endswith(
        f"report\n- `kb roofline` recomputes intensity, roofs and targets\n\n- `make gemm` builds it\n\n(added by ann, event {seq + 1})\n"
    )
    assert "plans/v1_plan.md" not in texts.files
    render_workspace(played.workspace)
    assert audit(played.workspace.layout.root, registry).clean
