"""Makes the words that the tests of whole campaigns share importable."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("campaign_words", Path(__file__).with_name("campaign_words.py"))
assert _SPEC is not None and _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
sys.modules["campaign_words"] = _MODULE
_SPEC.loader.exec_module(_MODULE)
