"""All memory that a code object has of its own is found by its variables' names, or the code object is refused."""

from __future__ import annotations

import pytest

from kopt_kb.errors import BadInput
from kopt_kb.kernels.cuda.cubin import Cubin, OwnMemory
from kopt_kb.kernels.record import own_memory
from kopt_kb.kernels.record.own_memory import MOST_OWN_BYTES, own_places


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
