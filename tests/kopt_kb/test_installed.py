"""A version, or what stands for a package that is not installed."""

from __future__ import annotations

import pytest

from kopt_kb.installed import version_of

pytestmark = pytest.mark.core


def test_what_is_missing_has_no_version() -> None:
    """The test's own tool is there; a name that no distribution has is not."""
    assert version_of("pytest") == pytest.__version__
    assert version_of("no-such-package") == ""
    assert version_of("no-such-package", "unknown") == "unknown"
