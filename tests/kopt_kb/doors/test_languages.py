"""The table of languages: the core's own stand first, packs add to it, and what is absent is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt_kb.doors import table
from kopt_kb.doors.language import Language, plain_name
from kopt_kb.doors.languages import (
    CORE,
    language_named,
    language_of_file,
    language_of_module,
    languages,
    unknown_language,
)
from kopt_kb.doors.pack import Pack
from tests.installed_packs import installed

MINE = Language(
    "My Language", "a test's", spellings=("mine",), modules={"theirs.mine": "mine"},
    recognises=lambda path: path.endswith(".mine"),
)  # fmt: skip
FAULT = table.PackFault("gone", "its modules are not installed", absent=True)


@pytest.fixture
def _mine(monkeypatch: pytest.MonkeyPatch) -> None:
    packs = table.Packs(
        {"mine": Pack("mine", "a test's pack", languages=(MINE, Language("Triton", "another")))}, (FAULT,)
    )
    monkeypatch.setattr(table, "packs", lambda: packs)


@pytest.mark.usefixtures("_mine")
def test_packs_add_to_the_core_and_take_no_name_of_it() -> None:
    assert [language.name for language in languages()] == [*(language.name for language in CORE), "My Language"]
    assert language_named("triton") is CORE[0]


@pytest.mark.usefixtures("_mine")
@pytest.mark.parametrize("name", ["my-language", "MyLanguage", "Mine"])
def test_a_language_has_the_names_that_users_give_it(name: str) -> None:
    assert language_named(name) is MINE


def test_a_name_of_the_core_asks_no_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "packs", lambda: pytest.fail("packs were asked"))
    assert [language_named(name).name for name in ("CUDA", "cutlass", "HIP", "pytorch")] == [  # type: ignore[union-attr]
        "CUDA", "CUDA", "HIP", "PyTorch",
    ]  # fmt: skip


@pytest.mark.usefixtures("_mine")
def test_a_file_is_told_by_what_its_language_reads() -> None:
    assert language_of_file("k.mine") is MINE
    assert language_of_file("k.py") is None


@pytest.mark.usefixtures("_mine")
def test_a_module_in_a_shared_package_is_told_by_the_file() -> None:
    """`theirs` alone is nobody's; `triton` is Triton's in any file."""
    assert language_of_module("theirs", "k.mine") is MINE
    assert language_of_module("theirs", "k.py") is None
    assert language_of_module("triton", "k.py") is CORE[0]
    assert language_of_module("numpy", "k.py") is None


@pytest.mark.usefixtures("_mine")
def test_a_pack_that_is_absent_is_told_from_what_nobody_knows() -> None:
    assert unknown_language("Gone") == "needs the pack gone, which is not installed"
    assert "pack" not in unknown_language("other")


@pytest.mark.packs
def test_every_language_is_named_once(repo_root: Path) -> None:
    """No name, spelling, header word or dialect belongs to two; folders of kernels are there."""
    every = list(languages())
    names = [name for language in every for name in language.names]
    headers = [language.header for language in every if language.header]
    dialects = [language.dialect for language in every if language.dialect]
    assert all(len(words) == len(set(words)) for words in (names, headers, dialects))
    assert {plain_name(one) for one in ("Triton", "cuTile", "CuteDSL", "FlyDSL", "TileLang", "Helion")} <= set(names)
    assert all((repo_root / "kernels" / one.kernels).is_dir() for one in every if one.kernels)


@pytest.mark.parametrize("answer", [True, RuntimeError("no")])
def test_a_stranger_takes_no_file_of_the_core(
    answer: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repo_root: Path
) -> None:
    """One that says yes to everything gets no Triton kernel; one that fails judges nothing."""

    def recognises(_: str) -> bool:
        if isinstance(answer, Exception):
            raise answer
        return True

    greedy = Language("Greedy", "takes everything", recognises=recognises, modules={"greedy_lang": "greedy"})
    installed(monkeypatch, Pack(name="greedy", what="takes everything", languages=(greedy,)))
    assert language_of_file(str(repo_root / "kernels" / "rms_norm.py")) is None
    assert language_of_file(str(repo_root / "kernels" / "cutile" / "rms_norm.py")) is not None
    other = tmp_path / "other.py"
    other.write_text("import greedy_lang\n")
    assert (language_of_file(str(other)) is greedy) == (answer is True)
