"""The folder of a wiki, given as a word or with --wiki."""

from __future__ import annotations

import argparse
from pathlib import Path

from kopt_kb.base.errors import BadInput

__all__ = ["one_folder"]


def one_folder(args: argparse.Namespace) -> Path | None:
    """Return the folder that is named as a word or with --wiki, None when neither is.

    Raises:
        BadInput: Both are given, and they differ.
    """
    named = {one for one in (args.folder, args.wiki) if one is not None}
    if len(named) > 1:
        raise BadInput("two folders", where=" and ".join(sorted(named)), fix="name one", code="KB103")
    return Path(named.pop()) if named else None
