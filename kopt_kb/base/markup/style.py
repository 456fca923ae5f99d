"""The sheets of reports and pictures, made of two palettes; the only raw text that a page holds."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

__all__ = ["DARK", "GROUPS", "LIGHT", "StyleSheet"]

GROUPS = 8
"""How many series of a picture have colours of their own; then they come round again, and shapes differ."""

LIGHT: Mapping[str, str] = {
    "ground": "#ffffff", "panel": "#f6f8fa", "text": "#1b1f24", "quiet": "#57606a", "rule": "#d0d7de",
    "link": "#0550ae", "good": "#116329", "bad": "#a40e26", "warn": "#7d4e00",
    "group0": "#0884e2", "group1": "#7b3107", "group2": "#35a176", "group3": "#73125d", "group4": "#9e8b1d",
    "group5": "#1b1f24", "group6": "#c34d41", "group7": "#35126e",
}  # fmt: skip
"""Colours on white: text stands out from ground and panel at 4.5 to 1 or more, lines and marks at 3 to 1. Series have
the hues of M. Okabe and K. Ito ("Color Universal Design", 2002) in shades that differ without red or green too."""

DARK: Mapping[str, str] = {
    "ground": "#0d1117", "panel": "#161b22", "text": "#e6edf3", "quiet": "#9ba3ad", "rule": "#3d444d",
    "link": "#79c0ff", "good": "#56d364", "bad": "#ff9a91", "warn": "#e3b341",
    "group0": "#117bfa", "group1": "#e65300", "group2": "#19fc9e", "group3": "#e99bd9", "group4": "#f0c65e",
    "group5": "#e6edf3", "group6": "#e38988", "group7": "#b17ce5",
}  # fmt: skip
"""The same on nearly black."""


def _variables(palette: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in palette.items() if not name.startswith("group"))


def _drawn(palette: Mapping[str, str]) -> str:
    """Return the rules that colour a picture; programs that show SVG know no variables."""
    rules = [
        f".grid{{stroke:{palette['rule']}}}.axis,.drop{{stroke:{palette['quiet']}}}",
        f".paper{{fill:{palette['ground']}}}.mark,text.over{{stroke:{palette['ground']}}}",
        f"text{{fill:{palette['text']}}}text.quiet{{fill:{palette['quiet']}}}.neutral{{color:{palette['quiet']}}}",
        f".mark.open{{fill:{palette['ground']};stroke:currentColor}}",
        *(f".group{at}{{color:{palette[f'group{at}']}}}" for at in range(GROUPS)),
    ]
    return "".join(rules)


_PAGE = f"""
:root{{color-scheme:light dark;{_variables(LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}
@media print{{:root{{color-scheme:light;{_variables(LIGHT)}}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--ground);color:var(--text);
font:15px/1.5 system-ui,Roboto,"DejaVu Sans",sans-serif}}
main,footer{{max-width:76rem;margin:0 auto;padding:1rem}}
h1{{font-size:1.6rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}}
h2{{font-size:1.15rem;margin:2rem 0 .5rem;padding-bottom:.25rem;border-bottom:1px solid var(--rule);
overflow-wrap:anywhere}}
p{{margin:.5rem 0;max-width:60rem;overflow-wrap:anywhere}}
a{{color:var(--link)}}
dl{{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.5rem 0}}
dt{{color:var(--quiet)}}
dd{{margin:0;overflow-wrap:anywhere}}
li{{overflow-wrap:anywhere}}
table{{border-collapse:collapse;margin:.5rem 0;font-size:.9rem}}
caption{{text-align:left;color:var(--quiet);padding:.2rem 0}}
th,td{{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid var(--rule)}}
tbody th{{overflow-wrap:anywhere;min-width:10.5rem}}
th{{font-weight:600}}
thead th{{background:var(--panel)}}
tbody th{{font-weight:inherit}}
td{{max-width:34rem}}
tbody .number{{min-width:0}}.number{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
.scroll{{overflow-x:auto;max-width:100%}}
.scroll:focus-visible,pre:focus-visible{{outline:2px solid var(--link)}}
figure{{margin:1rem 0}}
figcaption{{color:var(--quiet);font-size:.9rem;max-width:60rem}}
svg{{display:block;max-width:42rem;width:100%;height:auto}}
pre{{background:var(--panel);border:1px solid var(--rule);padding:.6rem;
white-space:pre-wrap;overflow-wrap:anywhere}}
code{{font-family:ui-monospace,"DejaVu Sans Mono",Consolas,monospace;font-size:.88rem}}
.noted{{text-decoration:underline dotted var(--quiet);text-underline-offset:.2em;cursor:help}}
.good{{color:var(--good)}}.bad{{color:var(--bad)}}.warn{{color:var(--warn)}}.quiet{{color:var(--quiet)}}
p.good,p.bad,p.warn{{font-weight:600}}
sup{{font-size:.7em;line-height:0;margin-left:.15em}}sup+sup{{margin-left:.5em}}
.notes{{font-size:.85rem}}
footer{{color:var(--quiet);font-size:.85rem}}
@media (max-width:40rem){{main,footer{{padding:.6rem}}dl{{grid-template-columns:1fr;gap:0}}dd{{margin-bottom:.4rem}}
th,td{{padding:.3rem}}tbody th{{min-width:7rem}}}}
@page{{size:A4 landscape;margin:12mm}}
@media print{{
body{{font-size:9pt}}main,footer{{max-width:none;padding:0}}.scroll{{overflow:visible}}table{{width:100%;font-size:8pt}}
th,td{{padding:.15rem .3rem}}td{{max-width:none}}
tbody th,td{{min-width:0;overflow-wrap:anywhere}}.noted{{text-decoration:none}}
svg{{max-width:11cm;max-height:16.5cm}}
h2{{break-after:avoid}}tr,figure,pre{{break-inside:avoid}}thead{{display:table-header-group}}a{{color:inherit}}
}}
"""

_PICTURE = f"""
svg text{{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,"Liberation Sans",
"DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}}
svg text.title{{font-size:15px;font-weight:600}}svg text.number{{font-weight:600}}
.middle{{text-anchor:middle}}.end{{text-anchor:end}}
text.over{{paint-order:stroke;stroke-width:3;stroke-linejoin:round}}
.line,.grid,.axis{{fill:none;stroke-width:1}}.line{{stroke:currentColor;stroke-width:2}}
.line.thin,.line.drop{{stroke-width:1}}.mark{{fill:currentColor;stroke-width:1.2}}
{_drawn(LIGHT)}
@media (prefers-color-scheme:dark){{{_drawn(DARK)}}}
@media print{{{_drawn(LIGHT)}}}
"""


class StyleSheet(Enum):
    """The sheets there are."""

    PAGE = _PAGE
    PICTURE = _PICTURE
