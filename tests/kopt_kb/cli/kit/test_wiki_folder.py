"""The folder of a wiki on a command line."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from kopt_kb.base.errors import BadInput
from kopt_kb.cli.kit.wiki_folder import one_folder


def test_either_way_names_it() -> None:
    """The same twice is one; two are refused; none is none."""
    assert one_folder(Namespace(folder="w", wiki=None)) == one_folder(Namespace(folder=None, wiki="w")) == Path("w")
    assert one_folder(Namespace(folder="w", wiki="w")) == Path("w")
    assert one_folder(Namespace(folder=None, wiki=None)) is None
    with pytest.raises(BadInput) as caught:
        one_folder(Namespace(folder="v", wiki="w"))
    assert caught.value.error_code == "KB103"
