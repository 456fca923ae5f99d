"""The child process: reads requests on stdin, answers on the inherited stdout, keeps Triton warm."""

from __future__ import annotations

import os
import sys
import warnings
from typing import BinaryIO

from kopt_kb.base.errors import BadInput, KoptError
from kopt_kb.launch.compile.frames import Answered, request_of, said
from kopt_kb.launch.compile.importing import missing_package
from kopt_kb.launch.compile.request import CompileFailed, CompileRequest

__all__ = ["answer", "main"]


def answer(job: CompileRequest) -> Answered:
    """Return the result of one job, or the error that ends it."""
    try:
        from kopt_kb.launch.compile.build import build, listed

        return listed(job) if job.listing else build(job)
    except KoptError as error:
        return error
    except MemoryError:
        return _out_of_memory()
    except ImportError as error:
        if any(sign in str(error) for sign in ("failed to map segment", "annot allocate memory")):
            return _out_of_memory()

        return missing_package(error, "compile")
    except Exception as error:  # noqa: BLE001 - a worker must answer whatever happens
        return BadInput(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", where="compile", code="KB084")


def _out_of_memory() -> KoptError:
    return CompileFailed.of("memory_limit", "the compiler ran out of its memory limit", where="compile")


def _prepare() -> BinaryIO:
    """Pin what changes code, and keep foreign prints off the answer stream."""
    os.environ.update(
        TRITON_ALWAYS_COMPILE="1",
        TRITON_DEFAULT_FP_FUSION="1",
        TRITON_DISABLE_LINE_INFO="1",
        TRITON_DUMP_PTXAS_LOG="1",
        CUDA_VISIBLE_DEVICES="",
    )
    os.environ.pop("TRITON_INTERPRET", None)
    sys.dont_write_bytecode = True  # nothing is left beside the files of others
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    return answers


def main() -> None:
    """Serve jobs until stdin closes; whoever started it gave it limits and a folder for Triton's files."""
    answers = _prepare()
    while True:
        try:
            job = request_of(sys.stdin.buffer)
        except EOFError:
            return
        answers.write(said(answer(job)))
        answers.flush()


if __name__ == "__main__":
    main()
