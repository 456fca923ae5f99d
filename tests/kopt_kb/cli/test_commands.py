"""Commands of packs beside the core's: found by the table, refused where they take a word that is taken."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kopt_kb.cli import commands
from kopt_kb.cli.core_commands import CORE_COMMANDS
from kopt_kb.cli.main import main
from kopt_kb.doors import table
from kopt_kb.doors.command import Command, CommandExample, JsonDocument
from kopt_kb.doors.entries import EntryPoint
from kopt_kb.doors.pack import Pack

EXAMPLES = (CommandExample("list", "mine"),)
LIST = "kopt_kb.cli.values.list_"
MINE = Pack(
    "mine", "a test's pack",
    commands=(
        Command("lookup", "replaces one of the core", LIST, examples=EXAMPLES),
        Command("verify kernel", "replaces a sub-command", LIST, examples=EXAMPLES),
        Command("mine", "a word of its own", LIST, (JsonDocument("mine", "kopt_kb.cli.kit.documents:Codes"),), EXAMPLES),
        Command("verify mine", "below a word of the core", LIST, examples=EXAMPLES),
    ),
    schemas=(JsonDocument("list", "kopt_kb.cli.kit.documents:Codes"),),
)  # fmt: skip
YOURS = Pack("yours", "another", commands=(Command("mine", "taken by then", LIST, examples=EXAMPLES),))


@pytest.fixture
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packs that take words, and one that is declared and absent."""
    gone = table.PackFault("gone", "its modules are not installed", absent=True)
    both = table.Packs({"mine": MINE, "yours": YOURS}, (gone,))
    monkeypatch.setattr(table, "packs", lambda: both)
    monkeypatch.setattr(commands, "packs", lambda: both)
    offers = [EntryPoint("vanished", "gone", commands.OFFERS), EntryPoint("mine", "mine", commands.OFFERS)]
    monkeypatch.setattr(commands, "entry_points", lambda **_: offers)


@pytest.mark.usefixtures("strangers")
def test_no_pack_replaces_a_command() -> None:
    """The core's stay and so do those of the first pack; each that is left out is a fault with its pack."""
    assert list(commands.all_commands()) == [*CORE_COMMANDS, "mine"]
    assert commands.all_commands()["lookup"] is CORE_COMMANDS["lookup"]
    assert commands.all_commands()["mine"] is MINE.commands[2]
    assert [(one.name, one.absent) for one in commands.command_faults()] == [("mine", False)] * 2 + [("yours", False)]
    assert [pack for pack, _ in commands.every_command() if pack] == ["mine", "mine"]


@pytest.mark.usefixtures("strangers")
def test_a_sub_command_of_a_pack(capsys: pytest.CaptureFixture[str]) -> None:
    """It stands below the word of the core, and runs; that of the core stays what it is."""
    assert [one.name for one in commands.added_commands("verify")] == ["verify mine"]
    assert main(["verify", "--help"]) == 0
    assert "below a word of the core" in capsys.readouterr().out
    assert main(["verify", "mine", "--json"]) == 0
    assert '"platforms"' in capsys.readouterr().out
    assert main(["verify", "source", "no_such_file.py"]) == 2


@pytest.mark.usefixtures("strangers")
def test_a_word_of_an_absent_pack_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, with the pack where it is known; any other word is what it was."""
    assert commands.lacking_pack("vanished") == "gone"
    assert commands.lacking_pack("mine") == ""
    assert main(["vanished"]) == 2
    assert "needs the pack gone, which is not installed" in capsys.readouterr().err
    assert main(["mime"]) == 2
    assert "did you mean mine" in capsys.readouterr().err
    assert main(["mine"]) == 0


@pytest.mark.usefixtures("strangers")
def test_a_document_of_the_core_stays_its_own() -> None:
    """Whatever a pack declares under its id."""
    assert commands.all_documents()["list"].place == "kopt_kb.cli.kit.documents:Products"
    assert commands.all_documents()["mine"].place == "kopt_kb.cli.kit.documents:Codes"


def test_words_of_packs_are_offered_in_the_metadata() -> None:
    """So that they are known when the pack is absent."""
    brought = {command.name: pack for pack, command in commands.every_command() if pack}
    offered = {one.name: one.value for one in commands.entry_points(group=commands.OFFERS)}
    assert {word: offered.get(word) for word in brought} == brought


@pytest.mark.parametrize("words", [["list"], ["lookup", "H20", "tdp"], ["explain", "--help"]])
def test_a_command_of_the_core_reads_no_pack(words: list[str]) -> None:
    """Neither the table nor the metadata of distributions."""
    code = (
        f"import sys\nfrom kopt_kb.cli.main import main\nassert main({words!r}) == 0\n"
        "assert not [one for one in sys.modules if one.startswith(('kopt_kb.packs', 'importlib.metadata'))]\n"
        "assert 'kopt_kb.doors.table' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_help_reads_the_tables_of_packs_and_nothing_else_of_them() -> None:
    """No module of a pack besides pack.py."""
    code = (
        "import sys\nfrom kopt_kb.cli.main import main\nassert main(['--help']) == 0\n"
        "loaded = [one for one in sys.modules if one.startswith('kopt_kb.packs.')]\n"
        "assert loaded and all(one.count('.') == 2 or one.endswith('.pack') for one in loaded), loaded\n"
        "assert 'importlib.metadata' not in sys.modules and 'argparse' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
