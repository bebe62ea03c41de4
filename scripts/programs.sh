#!/bin/sh
# programs.sh [experiments] [torch]: the build targets of the tool's programs, with what is asked for and what was built before.
set -eu
has_experiments=$(test -e build/duplex-reproduce && echo yes || echo no)
has_torch=$(test -e build/duplex-torch && echo yes || echo no)
for wanted in "$@"; do
  case $wanted in
    experiments) has_experiments=yes ;;
    torch) has_torch=yes ;;
  esac
done
echo duplex_main
if [ $has_experiments = yes ]; then echo duplex_reproduce_main; fi
if [ $has_torch = yes ]; then echo duplex_torch_main; fi
if [ $has_experiments = yes ] && [ $has_torch = yes ]; then echo duplex_reproduce_torch_main; fi
