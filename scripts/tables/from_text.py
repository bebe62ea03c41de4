"""from_text.py FOLDER: two collections of short texts as TF-IDF in LIBSVM's format.

foldoc: the Free On-line Dictionary of Computing, as Debian's package dict-foldoc holds it (one version for each release of Debian), by
subject. packages: what Debian's packages say of themselves in one line, by section of the archive, from the index that apt has; updates
of a release change few rows of it, since rows are chosen by the hash of a package's name.

The columns are words and pairs of neighbouring words, (1 + log count) log((1 + n) / (1 + rows with it)) + 1, rows of length one.
"""

import gzip
import hashlib
import pathlib
import re
import subprocess
import sys

from sklearn.feature_extraction.text import TfidfVectorizer

LARGEST_VOCABULARY = 50000
FOLDOC = "/usr/share/dictd/foldoc.dict.dz"
SECTIONS = ["admin", "fonts", "games", "graphics", "java", "math", "net", "science", "sound", "text", "web", "x11"]
ROWS_OF_A_SECTION = 700
ROWS_OF_A_SUBJECT = 150


def dictionary_entries():
    """Pairs of subject and text: an entry starts at the left margin, its text is indented and starts with <subject, ...>."""
    with gzip.open(FOLDOC, "rt", encoding="utf-8", errors="replace") as dictionary:
        text = dictionary.read()
    # Between two tags there is one entry, and the head word of the next one, which is too short to matter.
    parts = re.split(r"\n   <([a-z][a-z, ]*)>", text)
    for subjects, body in zip(parts[1::2], parts[2::2]):
        lines = body.split("\n")
        # The head words of the next entry are the last unindented lines.
        while lines and (not lines[-1].startswith(" ")):
            lines.pop()
        yield subjects.split(",")[0].strip(), " ".join(lines)


def package_descriptions():
    """Pairs of section and description in one line, each description once, ordered by the hash of the package's name."""
    index = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True).stdout
    found = {}
    for paragraph in index.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Description): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Section") in SECTIONS and "Description" in fields:
            found.setdefault(fields["Description"], (fields["Package"], fields["Section"]))
    taken = {section: 0 for section in SECTIONS}
    for description, (package, section) in sorted(found.items(), key=lambda item: hashlib.md5(item[1][0].encode()).digest()):
        if taken[section] < ROWS_OF_A_SECTION:
            taken[section] += 1
            yield section, description


def write(name, entries):
    labels = [label for label, _ in entries]
    classes = sorted(set(labels))
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, max_features=LARGEST_VOCABULARY, token_pattern=r"[a-z][a-z0-9+]+"
    )
    rows = vectorizer.fit_transform([text for _, text in entries]).tocsr()
    rows.sort_indices()
    with open(pathlib.Path(sys.argv[1]) / f"{name}.libsvm", "w", encoding="ascii") as table:
        for row, label in enumerate(labels):
            begin, end = rows.indptr[row], rows.indptr[row + 1]
            if begin < end:
                cells = " ".join(f"{column + 1}:{value:.6g}" for column, value in zip(rows.indices[begin:end], rows.data[begin:end]))
                table.write(f"{classes.index(label)} {cells}\n")
    print(f"{name}: {rows.shape[0]} x {rows.shape[1]}, {rows.nnz} entries, classes {', '.join(classes)}")


entries = list(dictionary_entries())
frequent = [subject for subject in {s for s, _ in entries} if sum(s == subject for s, _ in entries) >= ROWS_OF_A_SUBJECT]
write("foldoc", [(subject, text) for subject, text in entries if subject in frequent])
write("packages", list(package_descriptions()))
