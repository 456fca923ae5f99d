"""Every error code of the core: one cause each, in words, with what to do about it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, NewType, cast, get_args

__all__ = ["Cause", "Code", "PackCode", "cause_of", "causes"]

Code = Literal[
    "KB000", "KB010", "KB011", "KB012", "KB020", "KB021", "KB022", "KB023", "KB024", "KB025", "KB026", "KB030",
    "KB031", "KB032", "KB033", "KB040", "KB041", "KB042", "KB043", "KB044", "KB045", "KB046", "KB047", "KB050",
    "KB051", "KB052", "KB053", "KB054", "KB055", "KB056", "KB057", "KB058", "KB059", "KB060", "KB061", "KB062",
    "KB063", "KB064", "KB065", "KB066", "KB068", "KB069", "KB070", "KB071", "KB072", "KB073", "KB074", "KB075",
    "KB076", "KB077", "KB078", "KB079", "KB080", "KB081", "KB082", "KB083", "KB084", "KB085", "KB086", "KB087",
    "KB089", "KB091", "KB092", "KB093", "KB094", "KB095", "KB096", "KB097", "KB098", "KB101", "KB102", "KB103",
    "KB104", "KB105", "KB106", "KB107", "KB108", "KB110", "KB111", "KB112", "KB113", "KB114", "KB115", "KB116",
    "KB117", "KB118", "KB119",
    "KB120", "KB121", "KB122", "KB123", "KB124", "KB125", "KB126", "KB127", "KB130", "KB131", "KB200", "KB201",
    "KB202", "KB203", "KB204", "KB205", "KB206", "KB207", "KB208", "KB210",
    "KB211", "KB212", "KB213", "KB220", "KB222", "KB301",
    "KB302", "KB303", "KB304", "KB306", "KB307", "KB308", "KB309", "KB310", "KB311", "KB312",
    "KB314", "KB318", "KB319", "KB320", "KB321",
    "KB326", "KB327", "KB328", "KB400", "KB401", "KB402", "KB403", "KB405", "KB406", "KB407", "KB408",
    "KB410", "KB411", "KB412", "KB413", "KB414", "KB415", "KB416", "KB417", "KB420", "KB421", "KB422", "KB423",
    "KB424", "KB425", "KB426", "KB427", "KB428", "KB429", "KB430", "KB431", "KB432", "KB433", "KB434",
    "KB440", "KB442", "KB444", "KB445", "KB446", "KB447", "KB448", "KB449", "KB451", "KB452",
    "KB453", "KB454", "KB455", "KB456", "KB457", "KB458", "KB459", "KB460", "KB461", "KB462",
    "KB474", "KB475",
]  # fmt: skip
"""The closed list of the core: mypy refuses any other word where an error is raised."""

PackCode = NewType("PackCode", str)
"""A code that one pack alone raises, and declares in its `causes`."""


class Cause(NamedTuple):
    """What one code stands for.

    Attributes:
        name: A short name, unique like the code.
        cause: Why the error is raised, in words.
        remedy: What a reader can do about it in general; the error's own text says it of the case.
    """

    name: str
    cause: str
    remedy: str


@cache
def causes() -> dict[Code, Cause]:
    """Return the table: a line `code name: cause`, below it the remedy."""
    lines = Path(__file__).with_name("error_causes.txt").read_text(encoding="utf-8").splitlines()
    table: dict[Code, Cause] = {}
    for head, remedy in zip(lines[::2], lines[1::2], strict=True):
        title, _, cause = head.partition(": ")
        code, name = title.split(" ")
        if code not in get_args(Code) or code in table:
            raise ValueError(f"{code} is not in the closed list, or stands twice")
        table[cast("Code", code)] = Cause(name, cause, remedy.strip())
    return table


def cause_of(word: str) -> Code:
    """Return a code that another process wrote, as a code of the list; raises `ValueError` for any other word."""
    if word not in get_args(Code):
        raise ValueError(f"{word!r} is no error code")
    return cast("Code", word)
