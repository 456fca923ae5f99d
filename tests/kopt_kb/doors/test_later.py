"""What is named now and imported when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kopt_kb.doors.later import Later, later


def test_nothing_is_imported_until_it_is_called() -> None:
    """A name costs no import; the call does."""
    code = (
        "import sys\nfrom kopt_kb.doors.later import later\nhalf = later('colorsys:hls_to_rgb')\n"
        "assert 'colorsys' not in sys.modules\nassert half(0, 0, 0) == (0, 0, 0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("place", ["fractions", ":Fraction", "fractions:"])
def test_a_place_has_a_module_and_a_name(place: str) -> None:
    """Anything else is refused where it is written."""
    with pytest.raises(ValueError, match="module:name"):
        Later(place)


def test_a_name_that_is_not_there_is_an_error_of_the_call() -> None:
    """As any import is."""
    with pytest.raises(AttributeError):
        later("fractions:Third")()
