"""Fixtures of the reader tests: sample pages and the mutations of the fuzz run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def _load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def samples():
    """Hand-written pages."""
    return _load("reader_samples", HERE / "samples.py")


@pytest.fixture(scope="session")
def fuzz(repo_root):
    """The module of the long fuzz run."""
    return _load("fuzz_readers", repo_root / "benchmarks" / "fuzz_readers.py")


@pytest.fixture(scope="session")
def amd():
    """Invented AMD reports."""
    return _load("amd_samples", HERE / "amd_samples.py")


@pytest.fixture(scope="session")
def traces():
    """Invented traces, and the recorded ones."""
    return _load("trace_samples", HERE / "trace_samples.py")


@pytest.fixture(scope="session")
def tables():
    """Counter tables of rocprofv3, read the general way."""
    return _load("rocprofv3_tables", HERE / "rocprofv3_tables.py")


@pytest.fixture(scope="session")
def amd_fuzz(repo_root):
    """The module of the long fuzz run over AMD reports."""
    return _load("fuzz_amd_readers", repo_root / "benchmarks" / "fuzz_amd_readers.py")
