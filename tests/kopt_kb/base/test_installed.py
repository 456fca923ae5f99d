"""A version, or what stands for a package that is not installed."""

from __future__ import annotations

import pytest

from kopt_kb.base.installed import extra_of, version_of

pytestmark = pytest.mark.core


def test_what_is_missing_has_no_version() -> None:
    """The test's own tool is there; a name that no distribution has is not."""
    assert version_of("pytest") == pytest.__version__
    assert version_of("no-such-package") == ""
    assert version_of("no-such-package", "unknown") == "unknown"


def test_the_extra_that_brings_a_package() -> None:
    """By what the distribution itself declares; what only its tests need is no extra for a user."""
    assert (extra_of("optuna"), extra_of("shtab")) == ("tune", "completion")
    modules = {"numpy": "static", "torch": "gpu", "cuda": "gpu", "ncu_report": "ncu", "pyarrow": "columnar"}
    assert {name: extra_of(name) for name in modules} == modules
    assert extra_of("pytest-timeout") == extra_of("no-such-package") == ""
