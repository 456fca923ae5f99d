"""Draw the picture that the README begins with: a recorded campaign's versions under the roofs; `--check` compares."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "gemm_h200_sxm.svg"
CAMPAIGN = ROOT / "benchmarks" / "campaigns" / "h200_sxm" / "gemm"


def drawn() -> bytes:
    """Return the picture."""
    from kopt_kb.report.drawing_files import svg_bytes
    from kopt_kb.tuning.page.campaign import campaign_picture
    from kopt_kb.tuning.policy import policy_named
    from kopt_kb.tuning.report import report_of
    from kopt_kb.workspace.workspace import Workspace

    state = Workspace.open(CAMPAIGN).state()
    picture = campaign_picture(report_of(state, policy_named("gpu-wiki")), state)
    if picture is None:
        raise SystemExit("the campaign has nothing to draw")
    return svg_bytes(picture)


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_bytes(drawn())
        return 0
    if PICTURE.read_bytes() != drawn():
        print(f"not up to date: {PICTURE.relative_to(ROOT)}; run python tools/readme_picture.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
