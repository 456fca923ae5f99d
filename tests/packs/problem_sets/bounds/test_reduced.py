"""A problem's file with smaller numbers."""

from __future__ import annotations

from kopt_kb.packs.problem_sets.bounds.reduced import reductions

_FILE = "batch_size = 128\nwidth = 512\nsizes = (512, 4096)\nkernel = 3\nname = 'x'\n"


def test_equal_numbers_shrink_alike_and_small_ones_stay():
    how, module = next(reductions(_FILE, "p.py"))
    assert (module.batch_size, module.width, module.sizes, module.kernel, module.name) == (2, 8, (8, 64), 3, "x")
    assert how == "numbers above 24 divided by 64, batch 2"


def test_the_last_way_changes_the_batch_alone():
    how, module = list(reductions(_FILE, "p.py"))[-1]
    assert (module.batch_size, module.width, how) == (2, 512, "batch alone, batch 2")


def test_a_file_that_fails_with_smaller_numbers_is_left_out():
    assert not list(reductions("width = 512\nassert width == 511\n", "p.py"))
