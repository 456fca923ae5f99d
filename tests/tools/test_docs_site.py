"""The documentation site: pages are gathered whole, links lead to pages, and mkdocs builds it without a warning."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script."""
    path = Path(__file__).parents[2] / "tools" / "docs_site.py"
    spec = importlib.util.spec_from_file_location("docs_site", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def gathered(tool: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages."""
    folder = tmp_path_factory.mktemp("site") / "pages"
    assert tool.gather(folder) > 90
    return folder


def test_every_product_schema_and_document_has_its_place(gathered: Path, repo_root: Path) -> None:
    """One page a product; every schema is described; every document of docs is there; values stand with their quotes."""
    from kopt_kb.wiki.registry import Registry

    assert {path.stem for path in (gathered / "wiki").glob("*.md")} == {"index", *Registry.open().platforms()}
    page = (gathered / "docs/reference/schemas.md").read_text()
    for path in (repo_root / "docs/schema").glob("*.json"):
        assert f"## {path.name.partition('.')[0]}\n" in page
        assert all(f"| `{name}` |" in page for name in json.loads(path.read_text()).get("properties", {}))
    assert all((gathered / path.relative_to(repo_root)).is_file() for path in (repo_root / "docs").rglob("*.md"))
    h20 = (gathered / "wiki/H20.md").read_text()
    assert "| memory\\_bandwidth | 4.0 | TB/s | secondary |" in h20 and "hbm: 4000000000000" in h20


def test_links_of_pages_lead_to_pages(gathered: Path) -> None:
    """Every relative link and picture of every page is a file of the site."""
    for page in gathered.rglob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        text = re.sub(r"`[^`\n]*`", "", re.sub(r"(?<=\[)`([^`\n]*)`", r"\1", text))
        for target in re.findall(r"\]\(([^)\s#]+)", text):
            assert ":" in target or (page.parent / target).is_file(), (page, target)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[a](tuning.md#routes)", "[a](tuning.md#routes)"),
        ("[a](../kernels/rms_norm.py)", "a (`kernels/rms_norm.py`)"),
        ("[H20](../gpuwiki/hardware/nvidia/h20.md)", "[H20](../wiki/H20.md)"),
        (
            "`[a](nowhere.md)` [b](https://example.org) [c](#here)",
            "`[a](nowhere.md)` [b](https://example.org) [c](#here)",
        ),
    ],
)
def test_links_that_lead_elsewhere_become_names(text: str, says: str, tool: ModuleType) -> None:
    """Code and addresses stay as they are."""
    assert tool.linked("docs/x.md", text, {"docs/tuning.md", "wiki/H20.md"}, set()) == says


def test_every_document_is_in_the_menu(repo_root: Path) -> None:
    """Pages of docs can be found without the search."""
    menu = (repo_root / "mkdocs.yml").read_text()
    pages = {path.relative_to(repo_root).as_posix() for path in (repo_root / "docs").rglob("*.md")} - {"docs/README.md"}
    assert not [page for page in pages if page not in menu]


def test_the_site_builds_without_a_warning(gathered: Path, repo_root: Path, tmp_path: Path) -> None:
    """Strictly: a missing page, link or anchor fails; no page loads anything from elsewhere."""
    pytest.importorskip("material", reason="extra docs")
    config = (repo_root / "mkdocs.yml").read_text()
    config = config.replace("docs_dir: build/site", f"docs_dir: {gathered}").replace(
        "build/html", str(tmp_path / "html")
    )
    (tmp_path / "mkdocs.yml").write_text(config)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--config-file",
        str(tmp_path / "mkdocs.yml"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    home = (tmp_path / "html/index.html").read_text()
    assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://(?!squidfunk)[^"]*"', home)
