"""`python -m kopt_kb` is `kb`."""

from __future__ import annotations

import sys

from kopt_kb.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
