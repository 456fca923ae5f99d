#!/usr/bin/env bash
# Deletes the packs and their tests from a copy of the checkout, and runs there the core's own tests.
set -euo pipefail
python=$(realpath -s "$1")/bin/python
root=$(git rev-parse --show-toplevel)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$root"
git ls-files -z --cached | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
  tar --null -T - -c | tar -x -C "$copy"
cd "$copy"
rm -r kopt_kb/packs tests/packs
# An editable install of the checkout would find its packs below this copy's package.
cat > sitecustomize.py <<'EOF'
import sys
sys.meta_path[:] = [one for one in sys.meta_path if not getattr(one, "__module__", "").startswith("__editable__")]
EOF
# The plugin of pytest is a pack's too; its entry point is still installed.
PYTHONPATH=$copy "$python" -m pytest -q -p no:kopt-kb -p no:cacheprovider -m "not slow" \
  tests/kopt_kb/wiki tests/kopt_kb/quantity tests/kopt_kb/problem tests/analysis tests/kopt_kb/base \
  tests/kopt_kb/sandbox tests/kopt_kb/doors
PYTHONPATH=$copy "$python" -m pytest -q -p no:kopt-kb -p no:cacheprovider tests/contract/test_core_alone.py
