"""Fixtures that these tests share with others."""

from __future__ import annotations

from tests.kopt_kb.launch.problems.conftest import bench_file, rope_file  # noqa: F401
