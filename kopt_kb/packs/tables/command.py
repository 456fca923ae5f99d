"""Tuned tables of other programs: what rows say, what is wrong with them, which are slow, and which shapes they miss.

kb table read 'E=128,N=384,device_name=NVIDIA_H20-3e,dtype=fp8_w8a8,block_shape=[128,128].json'
kb table audit FOLDER
kb table audit FOLDER --engine vllm --markdown tables.md
kb table misses trace.json.gz --table FOLDER
kb table check TABLE --engine vllm --hidden 4096 --top-k 8 --tokens 1,64,1024
kb table tune TABLE --engine vllm --hidden 4096 --top-k 8 --missing --out FOLDER/TABLE

A name of a device that is several products, or none, is said with the reason: a row is of one product. An audit
without --engine judges form, sizes, duplicates and names; with it, the engine's own kernel is compiled for every row as
its launcher calls it, none of the engine's Python is run, and each code object is compiled once and remembered.
A check and a search time whole layers on a GPU of the table's product: the engine's own kernel, inputs of this
program's, results held against float64. A table does not say how deep a layer is, or how many experts a token goes to.
"""

from __future__ import annotations

import argparse

from kopt_kb.packs.tables import command_audit, command_check, command_misses, command_read, command_tune

__all__ = ["add_arguments", "run"]

_ACTIONS = {
    "read": (command_read, "rows of a file, and the product of its device"),
    "audit": (command_audit, "what is wrong with tables, without a GPU"),
    "check": (command_check, "rows against the engine's default and their neighbours, on a GPU"),
    "tune": (command_tune, "rows that are missing or slow, found on a GPU"),
    "misses": (command_misses, "shapes of a log or a trace that no row serves"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, (module, what) in _ACTIONS.items():
        module.add_arguments(commands.add_parser(name, help=what, allow_abbrev=False))


def run(args: argparse.Namespace) -> int:
    """Run the action."""
    module, _ = _ACTIONS[args.action]
    code: int = module.run(args)
    return code
