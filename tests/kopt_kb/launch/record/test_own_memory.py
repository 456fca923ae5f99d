"""All memory that a code object has of its own is found by its variables' names, or the code object is refused."""

from __future__ import annotations

import pytest

from kopt_kb.base.errors import BadInput, FindingError
from kopt_kb.launch.cuda.cubin import Cubin, OwnMemory
from kopt_kb.launch.record import own_memory
from kopt_kb.launch.record.own_memory import MOST_OWN_BYTES, own_places


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch):
    """Lets every code object have such sections."""

    def hold(*sections: OwnMemory) -> None:
        monkeypatch.setattr(own_memory, "read_cubin", lambda *_: Cubin({}, sections))

    return hold


def _at(**places: tuple[int, int]):
    def find(name: str) -> tuple[int, int]:
        return places[name]

    return find


def test_a_section_is_put_back_whole(holding) -> None:
    """What lies between its variables too; sections lie anywhere."""
    zeros = OwnMemory(".nv.global", bytes(264), {"count": (0, 4), "wide": (8, 256)})
    held = OwnMemory(".nv.global.init", b"abcd", {"table": (0, 4)})
    holding(zeros, held)
    find = _at(count=(1000, 4), wide=(1008, 256), table=(50, 4))
    assert own_places(b"", find) == ((1000, 264), (50, 4))


def test_variables_that_lie_apart(holding) -> None:
    """Each for itself."""
    holding(OwnMemory(".nv.global", bytes(12), {"one": (0, 4), "two": (8, 4)}))
    assert own_places(b"", _at(one=(1000, 4), two=(5000, 4))) == ((1000, 4), (5000, 4))


CONSTANTS = OwnMemory(".nv.constant3", b"abcdefgh", {"scale": (0, 4), "hidden": (4, 4)})


def _only_scale(name: str) -> tuple[int, int]:
    if name != "scale":
        raise FindingError("not found", where="replay", code="KB449")
    return 1000, 4


def test_constants_are_put_back(holding) -> None:
    """Whole, where every name leads somewhere."""
    holding(CONSTANTS)
    assert own_places(b"", _at(scale=(1000, 4), hidden=(1004, 4))) == ((1000, 8),)


def test_constants_that_no_name_leads_to_are_left_alone(holding) -> None:
    """Only once all has been tried, and only those; a variable that stores are meant for is never left."""
    holding(CONSTANTS)
    with pytest.raises(FindingError):
        own_places(b"", _only_scale, last=False)
    assert own_places(b"", _only_scale) == ((1000, 4),)
    holding(OwnMemory(".nv.constant3", b"abcd", {}))
    assert own_places(b"", _only_scale) == ()
    holding(OwnMemory(".nv.global", b"abcdefgh", CONSTANTS.symbols))
    with pytest.raises(FindingError):
        own_places(b"", _only_scale)


@pytest.mark.parametrize(
    ("symbols", "size"),
    [
        ({}, 4),
        ({"count": (0, 4)}, 600),
        ({"count": (596, 4)}, 600),
        ({"count": (0, 8)}, 8),
        ({"count": (8, 4)}, 8),
    ],
)
def test_what_no_name_leads_to_is_refused(holding, symbols: dict[str, tuple[int, int]], size: int) -> None:
    """No variable at all, room before or behind, another size than the driver's, one beyond the section."""
    holding(OwnMemory(".nv.global", bytes(size), symbols))
    with pytest.raises(BadInput, match=r"bytes in \.nv\.global that no variable's name leads to"):
        own_places(b"", _at(count=(1000, 4)))


def test_too_much_is_refused(holding) -> None:
    """It would be written before every launch."""
    holding(OwnMemory(".nv.global", bytes(MOST_OWN_BYTES + 1), {"all": (0, MOST_OWN_BYTES + 1)}))
    with pytest.raises(BadInput, match="more than 67108864"):
        own_places(b"", _at(all=(0, MOST_OWN_BYTES + 1)))


def test_what_is_no_cubin_is_refused() -> None:
    """Whatever a driver would make of it."""
    with pytest.raises(BadInput, match="no whole cubin"):
        own_places(b"//\n.version 8.0\n", _at())
