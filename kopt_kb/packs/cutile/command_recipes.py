"""`kb cutile recipes`: which recipes of the performance loop apply to a file, why, and the edits that it can make."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from kopt_kb.base.errors import BadInput, ExitCode
from kopt_kb.base.files import read_words, write_output
from kopt_kb.base.wire import Wire
from kopt_kb.cli.kit.output import add_common, print_json, printable, printable_lines
from kopt_kb.packs.cutile.source.answer import Situation
from kopt_kb.packs.cutile.source.recipes import RECIPES, RecipeWord, recipe_words
from kopt_kb.packs.cutile.source.source import read_cutile

__all__ = ["RecipesOf", "add_recipes", "run_recipes"]


@dataclass(frozen=True, slots=True)
class RecipesOf(Wire):
    """The recipes of a file in the order in which they are to be tried.

    Attributes:
        path: The file.
        limiter: What limits the kernel, by the report; empty without one.
        recipes: What each says.
        written: File that the chosen recipe's edit went to; empty where none was chosen.
    """

    path: str
    limiter: str
    recipes: tuple[RecipeWord, ...]
    written: str = ""


def add_recipes(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="Python file with cuTile kernels")
    parser.add_argument("--profile", metavar="REPORT", default="", help="profiler report: the limiter gives the order")
    parser.add_argument("--dtype", metavar="TYPE", default="", help="storage type of the operands, such as bf16")
    parser.add_argument("--target", metavar="TARGET", default="", help="such as sm_90")
    parser.add_argument("--apply", metavar="LETTER", default="", help="write the file with this recipe's edit")
    parser.add_argument(
        "--output", "--out", metavar="OUT", default="", help="file to write (default: FILE with _LETTER.py)"
    )
    parser.add_argument("--force", action="store_true", help="write over a file that exists")
    add_common(parser)


def run_recipes(args: argparse.Namespace) -> int:
    """Print what each recipe says; exit 1 where the chosen one makes no edit."""
    limiter = _limiter(args.profile) if args.profile else ""
    file = read_cutile(read_words(args.file), args.file)
    found = RecipesOf(args.file, limiter, recipe_words(file, Situation(args.dtype, args.target, limiter)))
    if args.apply:
        found = _applied(args, found)
    if args.json:
        print_json(found)
    else:
        print(printable_lines(_shown(found)))
    return ExitCode.OK if found.written or not args.apply else ExitCode.FINDING


def _limiter(report: str) -> str:
    """Return what limits the longest kernel of a report; raises `BadInput` where no rule says it."""
    from kopt_kb.analysis.readers.read import read_profiles
    from kopt_kb.analysis.rules.classify import classify

    profiles = sorted(read_profiles(report), key=lambda one: -one.metrics.get("duration_s", 0.0))
    return classify(profiles[0]).limiter if profiles else ""


def _applied(args: argparse.Namespace, found: RecipesOf) -> RecipesOf:
    """Write the edit of the recipe that was asked for, where it makes one."""
    letter = args.apply.upper()
    if letter not in RECIPES:
        fix = f"one of {', '.join(RECIPES)}"
        raise BadInput(f"there is no recipe {printable(args.apply)!r}", where="--apply", fix=fix, code="KB102")
    word = next(one for one in found.recipes if one.recipe == letter)
    output = args.output or f"{args.file.removesuffix('.py')}_{letter}.py"
    if word.source:
        write_output(output, word.source, force=args.force)
    return RecipesOf(found.path, found.limiter, (word,), output if word.source else "")


def _shown(found: RecipesOf) -> str:
    lines = []
    for recipe in found.recipes:
        head = f"{recipe.recipe} {recipe.name} ({RECIPES[recipe.recipe].claimed} by its source)"
        place = f"{found.path}:{recipe.line}: " if recipe.line else ""
        how = {"edit": "can edit", "search": "can search", "hypothesis": "for you"}.get(recipe.how, "")
        lines.append(f"{head}: {recipe.why}")
        lines += [f"  {how}: {place}{recipe.change}"] if how else []
    return "\n".join([*lines, f"written: {found.written}"] if found.written else lines)
