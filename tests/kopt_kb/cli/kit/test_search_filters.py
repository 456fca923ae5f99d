"""Filters of pages on a command line."""

from __future__ import annotations

import argparse

from kopt_kb.cli.kit.search_filters import add_filters, filters


def test_filters_are_what_was_asked() -> None:
    """A target may be called an architecture; what a command does not declare is empty."""
    parser = argparse.ArgumentParser()
    add_filters(parser)
    asked = filters(parser.parse_args(["--op", "gemm", "--arch", "sm_90"]))
    assert (asked.op, asked.backend, asked.kind) == ("gemm", "", "")
    assert asked == filters(parser.parse_args(["--target", "sm_90", "--op", "gemm"]))
