"""Elements of HTML and SVG: only names of closed lists, every text and value escaped, links only inside the page.

Injection is impossible by construction and not by care: there is no way to put markup in as text. Raw text exists in
one place, `<style>`, and takes only the constant sheets of `kopt_kb.base.markup.style`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from kopt_kb.base.markup.style import StyleSheet
from kopt_kb.base.markup.text import visible

__all__ = ["Element", "MarkupNode", "element", "write"]

_HTML = (
    "a body caption code dd div dl dt figcaption figure footer h1 h2 head header html li main meta ol p pre section "
    "span style sup table tbody td th thead title tr ul"
)
_SVG = "circle desc line polygon polyline rect svg text"
_TAGS = frozenset(f"{_HTML} {_SVG}".split())
_OF_HTML = "aria-label aria-labelledby charset class content href http-equiv id lang name role scope tabindex title"
_OF_SVG = "cx cy height points r stroke-dasharray viewBox width x x1 x2 xmlns y y1 y2"
_ATTRIBUTES = frozenset(f"{_OF_HTML} {_OF_SVG}".split())
_VOID = frozenset({"meta"})
_LINES = frozenset(
    ("figure", "footer", "h1", "h2", "header", "li", "main", "section", "table", "tr", "dd", "svg", "text")
)
_NAMES = {"class_": "class", "viewBox": "viewBox"}
_LINK = re.compile(r"#[a-z][a-z0-9-]*")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_IN_VALUE = str.maketrans({"\n": "&#10;"})


@dataclass(frozen=True, slots=True)
class Element:
    """One element; made by `element` alone, which checks its names.

    Attributes:
        tag: Name of the closed list.
        attributes: Names of the closed list with values that are not escaped yet.
        children: Elements, and texts that are not escaped yet.
    """

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[MarkupNode, ...]

    def __str__(self) -> str:
        """The markup."""
        return write(self)


MarkupNode = Element | StyleSheet | str


def element(tag: str, *children: MarkupNode | None, **attributes: str | float | None) -> Element:
    """Return an element; children and attributes that are None are left out.

    Args:
        tag: Name of the closed list.
        *children: Elements and texts; a sheet only in `style`.
        **attributes: `class_` is class, an underscore is a hyphen; numbers are written with two decimals at most.

    Raises:
        ValueError: A name is in no list, a link leaves the page, or a number is not finite: a defect of kb.
    """
    if tag not in _TAGS:
        raise ValueError(f"no element {tag!r}")
    given = tuple(child for child in children if child is not None)
    if any(isinstance(child, StyleSheet) is not (tag == "style") for child in given):
        raise ValueError("a sheet belongs into style, and nothing else does")
    named = tuple((_name(name), _value(value)) for name, value in attributes.items() if value is not None)
    for name, value in named:
        if name == "href" and not _LINK.fullmatch(value):
            raise ValueError(f"a link may not leave the page: {value[:80]!r}")
    return Element(tag, named, given)


def _name(name: str) -> str:
    found = _NAMES.get(name, name.replace("_", "-"))
    if found not in _ATTRIBUTES:
        raise ValueError(f"no attribute {found!r}")
    return found


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        raise ValueError(f"{value} is no length")
    return f"{value:.2f}".rstrip("0").rstrip(".")


def write(root: Element) -> str:
    """Return the markup of an element and all that is in it."""
    parts: list[str] = []
    _write(root, parts)
    return "".join(parts)


def _write(one: Element, parts: list[str]) -> None:
    values = "".join(f' {name}="{_escaped(value).translate(_IN_VALUE)}"' for name, value in one.attributes)
    parts.append(f"<{one.tag}{values}>")
    if one.tag in _VOID:
        return
    for child in one.children:
        if isinstance(child, Element):
            _write(child, parts)
        else:
            parts.append(child.value if isinstance(child, StyleSheet) else _escaped(child))
    parts.append(f"</{one.tag}>" + ("\n" if one.tag in _LINES else ""))


def _escaped(text: str) -> str:
    return visible(text).translate(_ESCAPES)
