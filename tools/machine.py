"""Write the machine of the tuning loop into docs/tuning.md: diagram, steps, exits; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from kopt_kb.tuning.machine import EXITS, NEXT, STEPS, MachineStep, State
from kopt_kb.wiki.tables import table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tuning.md"
BEGIN, END = "<!-- machine:begin (python tools/machine.py writes this) -->", "<!-- machine:end -->"


def diagram() -> list[str]:
    """Return which state follows which, as Mermaid draws it; a new start leads on from REPORT."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> DEFINE_TARGET"]
    for before, follow in NEXT.items():
        lines += [f"    {before} --> {after}" for after in State if after in follow]
    lines += [f"    {state} --> REPORT" for state in State if len(EXITS[state]) > 1]
    return [*lines, "```", ""]


def _where(step: MachineStep) -> str:
    return "wherever it stands" if step.passing else step.state or "as the last round was decided"


def steps() -> list[str]:
    """Return the steps in their order: the first that is due is done."""
    rows = [(one.name, _where(one), one.does) for one in STEPS]
    return table(["Step", "State", "What it does"], rows)


def ends() -> list[str]:
    """Return the reasons that end a campaign from each state."""
    rows = [(state, ", ".join(sorted(EXITS[state])) or "none: it has ended") for state in State]
    return table(["From", "To REPORT by, as far as the policy knows the reason"], rows)


def block() -> str:
    """Return what stands between the markers."""
    lines = [
        *diagram(),
        "The first step that is due is what happens next; a call that is killed goes on with it:",
        "", *steps(),
        "A campaign ends only for these reasons:",
        "", *ends(),
    ]  # fmt: skip
    return "\n".join([BEGIN, "", *lines, END])


def main(words: list[str]) -> int:
    """Write or check the page; returns 1 when a check finds it out of date."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    made = head + block() + rest.split(END)[1]
    if made == text:
        return 0
    if "--check" in words:
        print(f"{PAGE}: out of date; run python tools/machine.py", file=sys.stderr)
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
