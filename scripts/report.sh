#!/bin/sh
# report.sh FOLDER: bundles report/ into FOLDER/report.html and FOLDER/html_template.cpp, unless they are
# there already from the same sources.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../report"

hash_of() { sha256sum "$@" | sha256sum | cut -c1-32; }
is_stamped() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }

# Builds in several folders share report/node_modules.
exec 9>.lock
command -v flock >/dev/null && flock 9

packages=$(hash_of package.json package-lock.json)
if ! is_stamped node_modules/.installed "$packages"; then
  log="$folder/npm.log"
  if ! npm ci --loglevel=error --no-audit --no-fund >"$log" 2>&1; then
    cat "$log" >&2
    echo "npm could not install what the report page is made of; -DDUPLEX_REPORT=OFF builds the tool without the page" >&2
    exit 1
  fi
  echo "$packages" >node_modules/.installed
fi

# shellcheck disable=SC2046
sources=$(hash_of package-lock.json build.mjs $(find src -type f | sort))
if is_stamped "$folder/.bundled" "$sources" && [ -f "$folder/html_template.cpp" ]; then
  touch "$folder/report.html" "$folder/html_template.cpp"
  exit 0
fi
node build.mjs "$folder"
echo "$sources" >"$folder/.bundled"
