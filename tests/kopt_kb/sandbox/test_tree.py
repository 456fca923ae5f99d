"""Claims about what a tree is made of: links are followed to what they mean, nothing is laid twice."""

from __future__ import annotations

from pathlib import Path

from kopt_kb.sandbox.tree import ShownPlaces, plan


def test_links_on_the_way_are_followed(tmp_path: Path) -> None:
    """A link to a folder in the middle and one at the end; what they lead to is a place, each link is kept once."""
    root = tmp_path.resolve()
    (root / "real" / "inner").mkdir(parents=True)
    (root / "real" / "inner" / "file").touch()
    (root / "way").symlink_to("real")
    (root / "last").symlink_to(root / "way" / "inner" / "file")
    made = plan([str(root / "last")])
    assert made.places == (str(root / "real" / "inner" / "file"),)
    assert made.links == {str(root / "last"): str(root / "way" / "inner" / "file"), str(root / "way"): "real"}


def test_what_lies_in_another_place_is_not_laid_again(tmp_path: Path) -> None:
    """Nor are links that lie there; a name that only begins alike is another place."""
    root = tmp_path.resolve()
    for name in ("one/two", "one-more"):
        (root / name).mkdir(parents=True)
    (root / "one" / "link").symlink_to("two")
    made = plan(str(root / name) for name in ("one/two", "one-more", "one", "one/link"))
    assert made == ShownPlaces({}, (str(root / "one-more"), str(root / "one")))


def test_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    """A name that is none, a link to nothing, and links that go round."""
    root = tmp_path.resolve()
    (root / "nowhere").symlink_to("nothing")
    (root / "round").symlink_to("again")
    (root / "again").symlink_to("round")
    assert plan(str(root / name) for name in ("nothing", "nowhere", "round")).places == ()
