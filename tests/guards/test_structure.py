"""What holds for the tree as a whole: imports stay light, every module has its test and its line of documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pydantic", "numpy", "markdown_it", "yaml", "torch", "triton", "ncu_report", "optuna", "sqlite3", "rich")
SOURCES = ("kopt_kb", "analysis", "kernels")
MAX_LINES = 400


def _modules(root: Path) -> list[Path]:
    found = []
    for folder in SOURCES:
        for path in (root / folder).rglob("*.py"):
            relative = path.relative_to(root)
            linked = relative.parts[:2] in {("kopt_kb", "analysis"), ("kopt_kb", "kernels")}
            if not linked and path.name not in {"__init__.py", "__main__.py"}:
                found.append(relative)
    return sorted(found)


def _loaded(code: str, env: dict[str, str] | None = None) -> set[str]:
    probe = f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-P", "-c", probe], capture_output=True, text=True, check=True, env=env)
    return {name.split(".")[0] for name in done.stderr.split()}


@pytest.mark.core
def test_cached_lookup_loads_nothing_heavy(tmp_path: Path) -> None:
    """A lookup whose page is cached imports no parser, no model library, no array library, and not what these bring.

    One that compiles its page loads no compression for the file that it leaves in the cache either.
    """
    code = "import sys\nfrom kopt_kb.__main__ import run\nsys.argv[1:] = ['lookup', 'H20']\nassert run() == 0"
    env = {"KOPT_CACHE": str(tmp_path), "PATH": ""}
    assert not _loaded(code, env) & {"bz2", "lzma", "shutil", "tempfile"}
    assert list(tmp_path.glob("names-*.json"))
    idle = {"bz2", "getpass", "locale", "shutil"} | (
        {"ast", "dis", "tokenize"} if sys.version_info < (3, 13) else set()
    )
    assert not _loaded(code, env) & {*HEAVY, *idle}


@pytest.mark.core
def test_a_lookup_looks_for_no_garbage(tmp_path: Path) -> None:
    """What it loads is needed to its end; whoever calls it has the collector as it was."""
    code = (
        "import gc, sys\nfrom kopt_kb.__main__ import run\nsys.argv[1:] = ['lookup', 'H20', 'tdp']\n"
        "seen = []\ngc.callbacks.append(lambda phase, _: seen.append(phase))\n"
        "assert run() == 0 and not seen and gc.isenabled()\n"
    )
    _loaded(code, {"KOPT_CACHE": str(tmp_path), "PATH": ""})


@pytest.mark.core
def test_what_is_put_off_is_whole() -> None:
    """Who took the stand-in has the module once something of it is used, and so has everyone after."""
    code = (
        "import sys\nsys.modules.pop('inspect', None)\nfrom kopt_kb.__main__ import _put_off_inspect\n"
        "_put_off_inspect()\nimport inspect as early\nassert sys.version_info >= (3, 13) or 'ast' not in sys.modules\n"
        "assert str(early.signature(lambda one: one)) == '(one)'\nimport inspect as late\n"
        "assert late.signature is early.signature and early.isfunction(late.signature) and late.__spec__ is not None\n"
    )
    assert "ast" in _loaded(code)


@pytest.mark.core
def test_importing_the_library_loads_nothing_heavy() -> None:
    """`import kopt_kb` is light and has no effects."""
    assert not _loaded("import kopt_kb") & set(HEAVY)


def _is_tested(root: Path, path: Path) -> bool:
    place = Path(*path.parts[1:]) if path.parts[:2] == ("kopt_kb", "packs") else path
    if (root / "tests" / place.parent / f"test_{path.name}").is_file():
        return True
    # Doors, and the tables of packs, are plain data: one test each holds all of them; test_error_codes.py holds codes.
    if path.parent.name == "doors":
        return f'"{path.stem}"' in (root / "tests" / path.parent / "test_doors.py").read_text()
    if path.parts[:2] == ("kopt_kb", "packs") and path.name in {"pack.py", "codes.py"}:
        return (root / "tests" / "packs" / "test_packs.py").is_file()
    # Kernel files share one set of names and one test, which lists them; references likewise.
    shared = "".join((root / "tests" / "kernels" / f"test_{one}.py").read_text() for one in ("kernels", "references"))
    name = path.relative_to("kernels").with_suffix("").as_posix() if path.parts[0] == "kernels" else ""
    return bool(name) and f'"{name}"' in shared


@pytest.mark.core
def test_every_module_has_its_test(repo_root: Path) -> None:
    """tests/ mirrors the tree: tests/<folders>/test_<module>.py, tests/packs/ that of packs; kernel files share one."""
    assert not [path.as_posix() for path in _modules(repo_root) if not _is_tested(repo_root, path)]


@pytest.mark.core
def test_architecture_names_every_folder(repo_root: Path) -> None:
    """ARCHITECTURE.md is a map: it has a place for each folder with modules in it."""
    text = (repo_root / "ARCHITECTURE.md").read_text()
    folders = {path.parent for path in _modules(repo_root)}
    assert not [folder.as_posix() for folder in folders if f"{folder.name}/" not in text]


@pytest.mark.core
def test_no_file_is_too_long(repo_root: Path) -> None:
    """No module is longer than 400 lines."""
    long = [p.as_posix() for p in _modules(repo_root) if len((repo_root / p).read_text().splitlines()) > MAX_LINES]
    assert not long


@pytest.mark.core
def test_long_files_beside_the_package_have_a_reason(repo_root: Path) -> None:
    """Tests, scripts and tools as well, but those that ARCHITECTURE.md names with why they are whole."""
    text = (repo_root / "ARCHITECTURE.md").read_text()
    files = [path for folder in ("tests", "benchmarks", "tools") for path in (repo_root / folder).rglob("*.py")]
    own = [path for path in files if "campaigns" not in path.parts]
    long = [p.relative_to(repo_root).as_posix() for p in own if len(p.read_text().splitlines()) > MAX_LINES]
    assert long and not [name for name in long if f"`{name}`" not in text]
