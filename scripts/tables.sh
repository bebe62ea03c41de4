#!/bin/sh
# tables.sh [FOLDER]: data sets that Debian's packages bring, as CSV (columns f0, f1, ..., label) and LIBSVM text (word counts), into
# FOLDER (data/tables). Quick when they are there.
set -eu
folder=${1:-data/tables}
here=$(dirname "$0")
tables="digits breast iris wine satellite letter vowel vehicle glass sonar ionosphere pima dna shuttle spam musk"
files="foldoc.libsvm packages.libsvm"
for table in $tables; do
  files="$files $table.csv"
done
complete=yes
for file in $files; do
  [ -s "$folder/$file" ] || complete=no
done
[ $complete = yes ] && exit 0
sh "$here/install.sh" Rscript=r-base-core r-cran-mlbench r-cran-kernlab python3-sklearn dict-foldoc
mkdir -p "$folder"
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT
echo "writing tables"
Rscript --vanilla "$here/tables/from_r.R" "$draft"
/usr/bin/python3 "$here/tables/from_sklearn.py" "$draft"
/usr/bin/python3 "$here/tables/from_text.py" "$draft"
for file in $files; do
  cp "$draft/$file" "$folder/.$file"
  mv "$folder/.$file" "$folder/$file"
done
