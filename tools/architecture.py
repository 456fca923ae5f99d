"""Write the file list of ARCHITECTURE.md from the first sentence of each module; `--check` only compares."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- files: written by tools/architecture.py -->\n", "<!-- end of files -->\n"
FOLDERS = ("kopt_kb", "analysis", "kernels", "benchmarks", "tools")


def modules() -> list[Path]:
    """Return the modules, linked folders once."""
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if relative.parts[:2] not in {("kopt_kb", "analysis"), ("kopt_kb", "kernels")}:
                found.append(relative)
    return found


def first_sentence(path: Path) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8"))) or "").split("\n")[0]


def listing() -> str:
    """Return the list: a heading a folder, a line a file."""
    lines: list[str] = []
    folder = None
    for path in sorted(modules(), key=lambda p: (p.parent.as_posix(), p.name != "__init__.py", p.name)):
        if path.parent != folder:
            folder = path.parent
            lines += ["", f"### {folder.as_posix()}/", ""]
        name = path.name if path.name != "__init__.py" else "__init__.py"
        lines.append(f"- `{name}` {first_sentence(path)}")
    return "\n".join(lines[1:]) + "\n"


def main() -> int:
    """Write or check the page; exit 1 when it is not up to date."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    new = f"{head}{BEGIN}{listing()}{END}{rest.split(END)[1]}"
    if "--check" in sys.argv:
        print("ARCHITECTURE.md is up to date" if new == text else "run python tools/architecture.py")
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
