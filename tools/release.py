"""Steps of a release, each of which stops it where something does not fit.

python tools/release.py check v0.2.0       the tag is the version of pyproject.toml, CHANGELOG.md has a section for it
python tools/release.py notes v0.2.0       that section, and the state of the data that the wheel carries
python tools/release.py urls ADDRESS       write the addresses of the repository into pyproject.toml, for the wheel
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def section(changelog: str, version: str) -> str:
    """Return the section of a version; raises `SystemExit` where there is none, or it says nothing."""
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.DOTALL | re.MULTILINE)
    if found is None or not found[1].strip():
        raise SystemExit(f"CHANGELOG.md: no section [{version}] that says something; rename [Unreleased] and date it")
    return found[1].strip()


def check(tag: str, pyproject: str, changelog: str) -> str:
    """Return the version that a tag stands for; raises `SystemExit` where it is another one."""
    version = str(tomllib.loads(pyproject)["project"]["version"])
    if tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, pyproject.toml says {version}: tag v{version}, or change the version")
    section(changelog, version)
    return version


def notes(changelog: str, version: str) -> str:
    """Return the notes of a release."""
    from kopt_kb.wiki.registry import Registry
    from kopt_kb.wiki.version import data_version

    return f"{section(changelog, version)}\n\nData: {data_version(Registry.open().wikis)}\n"


def with_urls(pyproject: str, address: str) -> str:
    """Return the project file with the addresses of its repository; raises `SystemExit` for what is none."""
    plain = address.rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+(?:/[\w.-]+){2,}", plain):
        raise SystemExit(f"{address!r} is no address of a repository, such as https://HOST/OWNER/NAME")
    if "[project.urls]" in pyproject:
        raise SystemExit("pyproject.toml has addresses already")
    urls = {
        "Repository": plain,
        "Documentation": f"{plain}/blob/main/docs/README.md",
        "Changelog": f"{plain}/blob/main/CHANGELOG.md",
        "Issues": f"{plain}/issues",
    }
    lines = "\n".join(f'{name} = "{url}"' for name, url in urls.items())
    return pyproject.replace("[project.scripts]", f"[project.urls]\n{lines}\n\n[project.scripts]", 1)


def main(words: list[str]) -> int:
    """Do one step."""
    if len(words) != 2 or words[0] not in {"check", "notes", "urls"}:
        raise SystemExit(__doc__)
    project, changelog = ROOT / "pyproject.toml", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if words[0] == "check":
        print(check(words[1], project.read_text(encoding="utf-8"), changelog))
    elif words[0] == "notes":
        print(notes(changelog, words[1].removeprefix("v")), end="")
    else:
        project.write_text(with_urls(project.read_text(encoding="utf-8"), words[1]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
