"""AMD code objects that Triton compiled, read from their ELF files; cut and changed ones are refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.launch.record.code_object import is_code_object, processor_of, read_code_object

FOLDER = Path(__file__).parents[3] / "data" / "code_objects"
AXPY = (FOLDER / "axpy.gfx942.hsaco").read_bytes()


@pytest.mark.parametrize(("processor", "wave"), [("gfx942", 64), ("gfx1100", 32), ("gfx1201", 32)])
def test_what_it_says(processor: str, wave: int) -> None:
    """Four warps of the processor's width; accumulation registers are counted apart."""
    said = read_code_object((FOLDER / f"tile_product.{processor}.hsaco").read_bytes())
    one = said.entries["tile_product"]
    assert (said.target, said.memory, said.imports) == (processor, (), ())
    assert (one.wave_size, one.most_threads, one.parameters) == (wave, 4 * wave, (8, 8, 8, 4, 8, 8))
    assert one.kernarg_bytes == 48
    assert one.scratch_bytes == one.vgpr_spills == one.sgpr_spills == 0
    assert (one.agprs > 0) == (processor == "gfx942")
    assert 32 < one.vgprs + one.agprs <= 256


def test_what_is_none() -> None:
    """Another machine, another processor, a file that is cut: one line, never a traceback."""
    assert is_code_object(AXPY) and processor_of(AXPY) == "gfx942"
    other = AXPY[:18] + (190).to_bytes(2, "little") + AXPY[20:]
    unknown = AXPY[:48] + b"\xfe" + AXPY[49:]
    for code, why in ((other, "no ELF file for an AMD GPU"), (unknown, "0xfe is not known"), (AXPY[:3000], "sections")):
        with pytest.raises(BadInput, match=why):
            read_code_object(code)


def test_changed_bytes_are_answers_or_refusals() -> None:
    """Whatever lies in a file that somebody gave."""
    draw = random.Random(7)
    for _ in range(400):
        code = bytearray(AXPY)
        for _ in range(draw.randint(1, 6)):
            code[draw.randrange(len(code))] = draw.randrange(256)
        try:
            read_code_object(bytes(code))
        except BadInput as error:
            assert error.error_code == "KB083"
