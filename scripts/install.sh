#!/bin/sh
# install.sh PACKAGE|COMMAND=PACKAGE ...: installs the Debian packages that are missing; with a command, only
# where that command is missing, whatever it comes from. Quick when nothing is.
set -eu
missing=""
for wanted in "$@"; do
  package=${wanted#*=}
  if [ "$package" != "$wanted" ]; then
    command -v "${wanted%%=*}" >/dev/null || missing="$missing $package"
  elif ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed'; then
    missing="$missing $package"
  fi
done
[ -z "$missing" ] && exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  as_root="sudo"
  command -v sudo >/dev/null || {
    echo "These packages are missing and sudo is not there to install them:$missing" >&2
    exit 2
  }
fi
log=$(mktemp)
echo "installing:$missing"
# shellcheck disable=SC2086
if ! { $as_root apt-get update -qq && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "could not install:$missing" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
