"""from_sklearn.py FOLDER: the tables that scikit-learn carries with it, as CSV (features f0, f1, ..., column label)."""

import pathlib
import sys

from sklearn import datasets

folder = pathlib.Path(sys.argv[1])
for name, load in {
    "digits": datasets.load_digits,
    "breast": datasets.load_breast_cancer,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}.items():
    features, labels = load(return_X_y=True)
    with open(folder / f"{name}.csv", "w", encoding="ascii") as table:
        table.write(",".join([f"f{column}" for column in range(features.shape[1])] + ["label"]) + "\n")
        for row, label in zip(features, labels):
            table.write(",".join([f"{value:.10g}" for value in row] + [str(label)]) + "\n")
