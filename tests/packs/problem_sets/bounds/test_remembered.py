"""Facts are kept by content, torch and the code that finds them."""

from __future__ import annotations

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


def test_only_what_is_not_remembered_is_found_anew_and_failures_are_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("KOPT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered, "torch_version", lambda: "2.13")
    asked = []

    def fresh(files):
        asked.append([one.name for one in files])
        return [FoundFacts(str(one), FACTS if one.name == "a.py" else None, "", "") for one in files]

    monkeypatch.setattr(remembered, "_fresh", fresh)
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    for one in files:
        one.write_text(f"# {one.name}\n")
    for _ in range(2):
        found = remembered.facts_of(files, lambda _text: None)
        assert [one.facts for one in found] == [FACTS, None]
    assert asked == [["a.py", "b.py"], ["b.py"]]


def test_the_modules_that_facts_depend_on_are_there():
    assert len(remembered._code()) == 32
