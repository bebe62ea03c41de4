"""What other tools reach on the cells of `duplex reproduce clean-anywhere`.

  duplex reproduce clean-anywhere --export cells
  /usr/bin/python3 bench/rivals/cleanlab_baseline.py cells results.csv [--trusted 50,500] [--seeds 0,1] [--only letter] [--rivals ...]
  duplex reproduce clean-anywhere --rivals results.csv

Rivals, with scikit-learn's defaults unless said:
  cleanlab-lr, cleanlab-rf, cleanlab-hgb   cleanlab's filter (find_label_issues as it comes) on probabilities of five stratified
      folds by logistic regression (standardized columns, text as it is; at most 300 iterations), a random forest of 100 trees, and
      histogram gradient boosting (at most 50 iterations; not on text, which it does not take sparse); average precision of cleanlab's
      ranking by self-confidence. Trusted rows are among the rows that are fitted, with their right labels; only the others count.
  trusted-lr, trusted-rf   a model of the trusted rows alone: a label is wrong where the model would choose another; average precision
      of the model's probability of the given label.

Cells that are in the results already are left as they are: the script can be ended and started again.
"""

import argparse
import csv
import pathlib
import sys
import time
import warnings

try:
    import numpy as np
    from sklearn.datasets import load_svmlight_file
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError as error:
    sys.exit(f"{error.name} is missing in {sys.executable} (Debian: apt-get install python3-sklearn)")
try:
    import cleanlab
    from cleanlab.filter import find_label_issues
except ImportError as error:
    sys.exit(f"cleanlab is missing in {sys.executable}: {error} (pip install cleanlab, or its source's folder in PYTHONPATH)")

COLUMNS = ["table", "noise", "trusted", "seed", "rival", "f1", "average_precision"]
FOLDS = 5


def logistic_regression(text, seed):
    model = LogisticRegression(max_iter=300, random_state=seed)
    return model if text else make_pipeline(StandardScaler(), model)


def random_forest(text, seed):
    return RandomForestClassifier(n_jobs=2, random_state=seed)


def gradient_boosting(text, seed):
    return HistGradientBoostingClassifier(max_iter=50, random_state=seed)


MODELS = {"lr": logistic_regression, "rf": random_forest, "hgb": gradient_boosting}


def probabilities(model, fitted, labels, judged, classes):
    """Of every class for every judged row; a class that the model has not seen gets zero."""
    out = np.zeros((judged.shape[0], classes))
    if len(np.unique(labels)) == 1:  # nothing to learn
        out[:, labels[0]] = 1.0
        return out
    model.fit(fitted, labels)
    out[:, model.classes_] = model.predict_proba(judged)
    return out


def out_of_fold(make, text, features, given, classes, seed):
    out = np.zeros((len(given), classes))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for inside, outside in folds.split(features, given):
        out[outside] = probabilities(make(text, seed), features[inside], given[inside], features[outside], classes)
    return out


def scores(flagged, suspicion, wrong):
    hits = int(np.sum(flagged & wrong))
    f1 = 2.0 * hits / max(int(flagged.sum() + wrong.sum()), 1)
    return f1, average_precision_score(wrong, suspicion)


def cleanlab_scores(make, text, cell, seed):
    # cleanlab wants the labels 0 ... K - 1, each of which is there.
    present, given = np.unique(cell["given"], return_inverse=True)
    p = out_of_fold(make, text, cell["features"], given, len(present), seed)
    flagged = find_label_issues(labels=given, pred_probs=p, n_jobs=1)
    self_confidence = p[np.arange(len(given)), given]
    judged = ~cell["trusted"]
    return scores(flagged[judged], -self_confidence[judged], (cell["given"] != cell["true"])[judged])


def trusted_scores(make, text, cell, seed):
    trusted = cell["trusted"]
    judged = ~trusted
    classes = int(max(cell["given"].max(), cell["true"].max())) + 1
    given = cell["given"][judged]
    p = probabilities(make(text, seed), cell["features"][trusted], cell["true"][trusted], cell["features"][judged], classes)
    return scores(p.argmax(axis=1) != given, -p[np.arange(len(given)), given], given != cell["true"][judged])


def rival_scores(rival, text, cell, seed):
    kind, model = rival.split("-")
    return (cleanlab_scores if kind == "cleanlab" else trusted_scores)(MODELS[model], text, cell, seed)


def read_features(folder, name):
    text = folder / f"{name}.libsvm"
    if text.exists():
        return load_svmlight_file(str(text))[0].tocsr(), True
    return np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1, ndmin=2), False


def read_cell(file, features):
    columns = np.genfromtxt(file, delimiter=",", skip_header=1, usecols=(0, 1, 2, 3), dtype=int)
    rows = columns[:, 0]
    return {"features": features[rows], "trusted": columns[:, 1] == 1, "given": columns[:, 2], "true": columns[:, 3]}


def cells_of(folder):
    """(table, seed, noise, trusted, file), from TABLE-SEED-NOISE-TRUSTED.csv."""
    for file in sorted(folder.glob("*-*-*-*.csv")):
        table, seed, noise, trusted = file.stem.split("-")
        yield table, int(seed), noise, int(trusted), file


def means(results):
    """A table in Markdown: mean F1 and average precision of each rival by noise."""
    with open(results, encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    noises = sorted({row["noise"] for row in rows})
    print("| rival | " + " | ".join(noises) + " |\n|---|" + "---|" * len(noises))
    for rival in sorted({row["rival"] for row in rows}):
        cells = []
        for noise in noises:
            own = [row for row in rows if row["rival"] == rival and row["noise"] == noise]
            f1 = sum(float(row["f1"]) for row in own) / max(len(own), 1)
            precision = sum(float(row["average_precision"]) for row in own) / max(len(own), 1)
            cells.append(f"{f1:.3f} / {precision:.3f} ({len(own)})")
        print(f"| {rival} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--trusted", default="20,50,100,500")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--only", default="", help="tables with this in their name")
    parser.add_argument("--noises", default="uniform20,uniform40,pair,boundary,source")
    parser.add_argument("--rivals", default="cleanlab-lr,cleanlab-rf,cleanlab-hgb,trusted-lr,trusted-rf")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # classes of fewer rows than folds, and iterations that end early
    wanted_trusted = {int(number) for number in arguments.trusted.split(",")}
    wanted_seeds = {int(number) for number in arguments.seeds.split(",")}
    done = set()
    if arguments.results.exists():
        with open(arguments.results, encoding="ascii") as file:
            done = {tuple(row[column] for column in COLUMNS[:5]) for row in csv.DictReader(file)}
    else:
        arguments.results.write_text(",".join(COLUMNS) + "\n", encoding="ascii")
    print(f"cleanlab {cleanlab.__version__}", file=sys.stderr)
    name, features, text = None, None, False
    for table, seed, noise, trusted, file in cells_of(arguments.cells):
        if trusted not in wanted_trusted or seed not in wanted_seeds or arguments.only not in table:
            continue
        if noise not in arguments.noises.split(","):
            continue
        if name != f"{table}-{seed}":
            name = f"{table}-{seed}"
            features, text = read_features(arguments.cells, name)
        cell = None
        for rival in arguments.rivals.split(","):
            key = (table, noise, str(trusted), str(seed), rival)
            if key in done or (text and rival.endswith("hgb")):
                continue
            cell = cell or read_cell(file, features)
            began = time.monotonic()
            f1, precision = rival_scores(rival, text, cell, seed)
            with open(arguments.results, "a", encoding="ascii") as results:
                results.write(",".join(key) + f",{f1:.5f},{precision:.5f}\n")
            print(f"{','.join(key)}: {f1:.3f} {precision:.3f} {time.monotonic() - began:.1f} s", file=sys.stderr)
    means(arguments.results)


if __name__ == "__main__":
    main()
