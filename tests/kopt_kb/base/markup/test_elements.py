"""Whatever text goes in, the markup that comes out has the elements that were made and no others."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kopt_kb.base.markup.elements import element, write
from kopt_kb.base.markup.style import StyleSheet

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "</title></style>",
    "]]>", "<!--", "-->", "&lt;b&gt;", "javascript:alert(1)", "url(http://x)", "\u202egnp.exe", "\x00\x08", "\udcff",
]  # fmt: skip


class Reader(HTMLParser):
    """Collects elements, attributes and texts as a browser would see them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.values: dict[str, str | None] = {}
        self.data = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values.update(attrs)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_data(self, data: str) -> None:
        self.data += data


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    """In an element and in an attribute, read as HTML and as XML."""
    made = write(element("p", element("span", text, title=text), text, class_=text))
    reader = Reader()
    reader.feed(made)
    assert reader.tags == ["p", "span"]
    assert set(reader.values) == {"class", "title"}
    root = ElementTree.fromstring(made)
    assert [one.tag for one in root.iter()] == ["p", "span"]


@given(st.text(), st.text())
def test_text_comes_back_as_it_is_shown(text: str, value: str) -> None:
    """One element, whatever is written in it: an XML parser reads the very text that was to be seen."""
    from kopt_kb.base.markup.text import visible

    root = ElementTree.fromstring(write(element("span", text, title=value)))
    assert (root.text or "") == visible(text)
    assert root.get("title") == visible(value)
    assert list(root) == []


@pytest.mark.parametrize("tag", ["script", "iframe", "img", "object", "p onclick", "a><script"])
def test_other_elements_can_not_be_made(tag: str) -> None:
    """The list of names is closed."""
    with pytest.raises(ValueError, match="no element"):
        element(tag)


@pytest.mark.parametrize("name", ["onclick", "style", "src", "xlink:href", "formaction"])
def test_other_attributes_can_not_be_given(name: str) -> None:
    """Neither handlers nor styles nor addresses."""
    with pytest.raises(ValueError, match="no attribute"):
        element("p", **{name: "x"})


@pytest.mark.parametrize("link", ["http://x", "javascript:alert(1)", "//x", "#A b", "#", "data:text/html,x"])
def test_links_stay_in_the_page(link: str) -> None:
    """Only a name of the page itself."""
    with pytest.raises(ValueError, match="leave the page"):
        element("a", "x", href=link)
    assert write(element("a", "x", href="#note-1")) == '<a href="#note-1">x</a>'


def test_numbers_are_lengths_and_sheets_stay_in_style() -> None:
    """Two decimals; what is no number is a defect; raw text is a constant sheet in one place."""
    assert write(element("circle", cx=1.0, cy=2.346, r=3)) == '<circle cx="1" cy="2.35" r="3"></circle>'
    with pytest.raises(ValueError, match="no length"):
        element("circle", cx=float("nan"))
    with pytest.raises(ValueError, match="sheet"):
        element("p", StyleSheet.PAGE)
    with pytest.raises(ValueError, match="sheet"):
        element("style", "p{}")
