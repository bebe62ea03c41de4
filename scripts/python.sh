#!/bin/sh
# python.sh [PYTEST-ARGUMENT ...]: the wheel of the Python package from what build/ holds, into build/python-package/, installed into a fresh virtual
# environment beside the system's packages, and its tests there.
set -eu
build=$(cd build && pwd)
folder=$build/python-package
python=/usr/bin/python3
rm -rf "$folder"
mkdir -p "$folder"
# Offline: neither pip nor its backend asks anybody for anything.
if ! DUPLEX_BUILD=$build $python -m pip wheel ./python --quiet --no-build-isolation --no-deps --no-index --disable-pip-version-check \
  -w "$folder/wheel" >"$folder/wheel.log" 2>&1; then
  cat "$folder/wheel.log" >&2
  exit 1
fi
$python -m venv --system-site-packages --without-pip "$folder/venv"
$python -m pip --python "$folder/venv/bin/python" install --quiet --no-index --no-deps --disable-pip-version-check "$folder"/wheel/*.whl
cd "$folder"
# Not from the sources, which have no module that is compiled.
OMP_WAIT_POLICY=passive DUPLEX_BUILD=$build venv/bin/python -m pytest -c "$OLDPWD/python/pyproject.toml" --rootdir "$OLDPWD/python" \
  -p no:cacheprovider "$OLDPWD/python/tests" "$@"
