#!/usr/bin/env bash
# Compile, limits, count and record on the newest triton, in an environment of its own beside the test environment's triton:
#   tools/smoke_newest.sh TEST_ENVIRONMENT NEWEST_ENVIRONMENT
# Everything but triton comes from the test environment. Skipped, in words, only when the registry can't be asked.
set -euo pipefail
cd "$(dirname "$0")/.."
test_env=$1 env=$2
python=$env/bin/python
[ -x "$python" ] || "$test_env/bin/python" -m venv "$env"

installed=$("$python" -c 'from importlib.metadata import version; print(version("triton"))' 2>/dev/null || true)
if ! said=$("$python" -m pip index versions triton --disable-pip-version-check 2>&1); then
  echo "smoke-newest: SKIPPED: the package registry can't be asked for triton's versions:" \
    "$(grep -v '^WARNING' <<<"$said" | tail -n 1)"
  exit 0
fi
newest=$(sed -n 's/^triton (\(.*\))$/\1/p' <<<"$said")
[ -n "$newest" ] || { echo "smoke-newest: no version of triton in: $said" >&2; exit 1; }

site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
beside=$("$test_env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if [ "$installed" != "$newest" ] || [ ! -e "$site/beside.pth" ]; then
  rm -f "$site/beside.pth"
  "$python" -m pip install --disable-pip-version-check --quiet "triton==$newest"
  echo "import site; site.addsitedir('$beside')" >"$site/beside.pth"
fi
echo "smoke-newest: triton $newest"
KOPT_SMOKE_TRITON=$newest exec "$python" -m pytest -q -n 2 --dist loadfile -p no:cacheprovider \
  tests/smoke tests/kopt_kb/launch/compile tests/kopt_kb/launch/record/test_maker.py tests/kopt_kb/launch/counts/test_pruning.py
