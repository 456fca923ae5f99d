"""Which problem a path holds: a `problem.toml`, or a form that a pack reads."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.base.errors import BadInput
from kopt_kb.doors.absent import absent_pack, needs_pack
from kopt_kb.doors.problem_source import ProblemSource
from kopt_kb.doors.table import behind
from kopt_kb.launch.problems.capsule import Capsule
from kopt_kb.launch.problems.problem_toml import FILE, read_problem_toml

__all__ = ["find_problems", "read_problem", "source_of", "sources"]

_OWN = ProblemSource(
    name=FILE,
    what=f"a {FILE}",
    suffix=".toml",
    recognises=lambda path: path.name == FILE,
    read=read_problem_toml,
    files=(FILE,),
)


def sources() -> tuple[ProblemSource, ...]:
    """Return every form of problem that can be read here, our own first."""
    return (_OWN, *(source for _, source in behind("problem_sources")))


def source_of(path: Path) -> ProblemSource | None:
    """Return the form that recognises a file, None where none does."""
    return _recognised(path, sources())


def _recognised(path: Path, known: tuple[ProblemSource, ...]) -> ProblemSource | None:
    for source in known:
        try:
            if source.suffix == path.suffix and source.recognises(path):
                return source
        except BadInput:  # too large, or no text: none of its files
            continue
    return None


def read_problem(path: Path, dtype: str = "", shapes: tuple[str, ...] = ()) -> Capsule:
    """Return the problem at a path, whatever form it has.

    Args:
        path: A file, or a folder that holds one problem.
        dtype: Storage type to ask for; empty: the problem's.
        shapes: Shapes to ask for; empty: the problem's.

    Raises:
        BadInput: It is no problem in a known form, or its form fixes what was asked for differently.
        MissingTool: Nothing that is installed reads files of its kind.
    """
    known = sources()
    if not path.exists():
        raise BadInput("no such file or folder", where=str(path), fix=f"name {_forms(known)}", code="KB110")
    file = _file_of(path, known)
    source = _recognised(file, known) or next((one for one in known if one.suffix == file.suffix), None)
    if source is not None:
        return source.read(file, dtype, shapes)
    raise _unknown(path, f"a problem in a {file.suffix or 'nameless'} file", "is no problem in a known form", known)


def _forms(known: tuple[ProblemSource, ...]) -> str:
    return " or ".join(source.what for source in known)


def _unknown(path: Path, asked: str, what: str, known: tuple[ProblemSource, ...]) -> Exception:
    """Return the refusal of what no form takes: another may, of a pack that is not installed."""
    if absent_pack("problem_sources"):
        return needs_pack(asked, "problem_sources", str(path))
    return BadInput(what, where=str(path), fix=f"name {_forms(known)}", code="KB116")


def _file_of(path: Path, known: tuple[ProblemSource, ...]) -> Path:
    if not path.is_dir():
        return path
    for name in (name for source in known for name in source.files):
        if (path / name).is_file():
            return path / name
    several = find_problems(path)
    if len(several) == 1:
        return several[0]
    if not several:
        raise _unknown(path, f"a folder without {FILE}", "holds no problem in a known form", known)
    fix = f"name one of them, such as {several[0]}; kb suite takes the folder"
    raise BadInput(f"holds {len(several)} problems", where=str(path), fix=fix, code="KB116")


def find_problems(folder: Path) -> list[Path]:
    """Return the problems below a folder in order of their paths: what `read_problem` can be given."""
    known = sources()
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if _recognised(path, known) is not None]
