"""Facts are kept by content, torch and the code that finds them."""

from __future__ import annotations

import subprocess

import pytest

from kopt_kb.packs.problem_sets.bounds import remembered
from kopt_kb.packs.problem_sets.bounds.facts import FoundFacts
from tests.packs.problem_sets.bounds.test_bound import FACTS


def test_a_key_follows_content_and_torch(tmp_path):
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("x = 1\n")
    two.write_text("x = 1\n")
    key = remembered.key_of(one, "2.13")
    assert key == remembered.key_of(two, "2.13") != remembered.key_of(one, "2.14")
    two.write_text("x = 2\n")
    assert key != remembered.key_of(two, "2.13")


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Names of the problems that were traced, by what their file says: facts, or a cause of a refusal."""
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered, "torch_version", lambda: "2.13")
    names = []

    def fresh(files, _running):
        names.extend(one.name for one in files)
        causes = [one.read_text().split()[1] for one in files]
        return [FoundFacts(str(one), FACTS if cause == "facts" else None, cause * (cause != "facts"), "why")
                for one, cause in zip(files, causes, strict=True)]  # fmt: skip

    monkeypatch.setattr(remembered, "_fresh", fresh)
    return names


def _files(folder, **causes):
    folder.mkdir(exist_ok=True)
    for name, cause in causes.items():
        (folder / f"{name}.py").write_text(f"# {cause} {name}\n")
    return sorted(folder.glob("*.py"))


def test_only_what_is_not_remembered_is_found_anew(tmp_path, asked):
    """A refusal follows from the content as facts do, but for a package that may be there by then."""
    files = _files(tmp_path / "p", a="facts", b="KB084", c="KB086", d="KB120", e="?")
    for _ in range(2):
        found = remembered.facts_of(files, lambda _text: None)
        assert [one.facts for one in found] == [FACTS, None, None, None, None]
    assert sorted(asked) == ["a.py", "b.py", "c.py", "d.py", "d.py", "e.py", "e.py"]


def test_what_another_folder_has_keeps_its_own_name(tmp_path, asked):
    """Facts go by content; a row is named after the file that was asked about."""
    (one,), (two,) = _files(tmp_path / "p", a="facts"), _files(tmp_path / "q", a="facts")
    assert [remembered.facts_of([file], print)[0].file for file in (one, two)] == [str(one), str(two)]
    assert asked == ["a.py"]


def test_many_problems_are_shared_between_children_in_order(tmp_path, asked):
    files = _files(tmp_path / "p", **{f"n{at:02}": "facts" for at in range(23)})
    said = []
    assert [one.file for one in remembered.facts_of(files, said.append)] == [str(one) for one in files]
    assert len(asked) == 23 and said[0] == "counting 23 problems" and said[-1] == "counted 23 of 23"


def test_an_interrupt_begins_no_further_problems(tmp_path, asked, monkeypatch):
    """What is under way is ended, what waits is never begun."""
    files = _files(tmp_path / "p", **{f"n{at:03}": "facts" for at in range(300)})
    begun = []

    def interrupted(part, running):
        begun.append(part)
        if len(begun) == 1:
            raise KeyboardInterrupt
        with subprocess.Popen(["sleep", "600"], start_new_session=True) as child:
            running.add(child.pid)
        return [FoundFacts(str(one), FACTS) for one in part]

    monkeypatch.setattr(remembered, "_fresh", interrupted)
    with pytest.raises(KeyboardInterrupt):
        remembered.facts_of(files, print)
    assert len(begun) < 30


def test_the_modules_that_facts_depend_on_are_there():
    assert len(remembered._code()) == 32
