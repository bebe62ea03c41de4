"""Labels that look wrong: an estimator with scikit-learn's contracts."""
import html
import json
import os
import sys
import threading
import warnings

import numpy

from . import _core
from ._core import InvalidInput
from ._tables import (
    Labels,
    array_of,
    is_frame,
    kind_of,
    names_of,
    refuse_labels_among_features,
    require_width,
    table_of,
    width_of,
)

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
except ImportError:
    from ._without_sklearn import BaseEstimator, ClassifierMixin, NotFittedError


class CleaningWarning(UserWarning):
    """What one should know before relying on what a cleaning has found."""


class HyperCleaner(ClassifierMixin, BaseEstimator):
    """Finds labels that look wrong, and fits a classifier to what can be trusted.

    As `duplex clean` does, with the same results: by models that judge rows which they have not seen, by how labels
    come about, and by rows whose labels are known to be right, where there are some.

    Parameters
    ----------
    model : {"auto", "linear", "kernel"}
        What judges: softmax regression on features, on a Gaussian kernel, or both, pooled as they fit.
    rounds : int
        Most rounds of refitting.
    threshold : float
        Rows of less trust are suspects; 0 takes as many as are expected to give the best F1.
    storage : {"auto", "float32", "float16"}
        How features are kept in memory.
    threads : int
        0 takes as many as are useful.
    random_state : int, RandomState instance or None
        The seed of all that is random; None is 0.
    verbose : bool
        Whether to tell what is being done, by tqdm where it is there.

    Attributes
    ----------
    trust_ : array of float
        For every row of X the probability that its given label is right; 1 for rows marked as trusted.
    suggested_ : array
        The given label where it is trusted, else the most probable other one.
    is_suspect_ : array of bool
        Which rows are suspects.
    suspects_ : pandas.DataFrame, or a structured array where pandas is not there
        The suspects, worst first: row, given, suggested, trust, and the models' probability of the given label.
    expected_wrong_ : float
        How many labels are expected to be wrong.
    warnings_ : list of (code, sentence)
        What one should know before relying on all this.
    summary_ : dict
        Everything else that was found, as in summary.json.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    """

    def __init__(
        self,
        model="auto",
        *,
        rounds=2,
        threshold=0.0,
        storage="auto",
        threads=0,
        random_state=0,
        verbose=False,
    ):
        self.model = model
        self.rounds = rounds
        self.threshold = threshold
        self.storage = storage
        self.threads = threads
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X,
        y,
        X_trusted=None,
        y_trusted=None,
        *,
        trusted=None,
        sources=None,
        pred_probs=None,
        trusted_pred_probs=None,
        ids=None,
    ):
        """Finds what labels of the rows of X look wrong.

        X is an array, a pandas DataFrame (of which columns may be text, dates, booleans, and lack cells), a sparse
        matrix or a list of rows, and y their labels. Rows that are known to be right are X_trusted with y_trusted, or
        those of X that `trusted` marks, a mask or their numbers; there may be none.

        - `sources`: who or what labelled each row
        - `pred_probs`: probabilities of the classes, in the order of classes_, by models that have not seen the
          labels; `trusted_pred_probs` are those of X_trusted
        - `ids`: names of the rows, for the report and the suspects
        """
        labels = Labels(y, "y")
        refuse_labels_among_features(X, labels)
        kind = kind_of(X)
        names = names_of(X)
        mask = _mask_of(trusted, len(labels.numbers))
        if mask is not None and X_trusted is not None:
            raise InvalidInput("trusted beside X_trusted: expected one of the two")
        if (X_trusted is None) != (y_trusted is None):
            raise InvalidInput("X_trusted and y_trusted belong together, found one of them")
        of_trusted = None if X_trusted is None else Labels(y_trusted, "y_trusted")
        settings = self._settings()
        request = {
            "table": table_of(X, "X", kind),
            "labels": labels.told(),
            "trusted": mask,
            "trusted_table": None if X_trusted is None else table_of(X_trusted, "X_trusted", kind, names),
            "trusted_labels": None if of_trusted is None else of_trusted.told(),
            "sources": None if sources is None else Labels(sources, "sources").told(),
            "pred_probs": _probabilities(pred_probs, labels, "pred_probs"),
            "trusted_pred_probs": _probabilities(trusted_pred_probs, labels, "trusted_pred_probs"),
            "ids": None if ids is None else [str(name) for name in ids],
            "settings": settings,
            "settings_text": json.dumps(settings),
            "is_main": threading.current_thread() is threading.main_thread(),
        }
        with _Progress(self.verbose) as progress:
            found = _call(_core.clean, {**request, "tell": progress.tell})
        self.n_features_in_ = width_of(request["table"])
        self._take(found, labels, X)
        self._kind = kind
        self._ids = None if ids is None else numpy.asarray(request["ids"])
        for _, text in self.warnings_:
            warnings.warn(text, CleaningWarning, stacklevel=_levels_to_the_caller())
        return self

    def predict(self, X):
        """The most probable class of each row."""
        self._require_fitted()
        return self.classes_[numpy.argmax(self.predict_proba(X), axis=1)]

    def predict_proba(self, X):
        """The probability of each class, in the order of classes_, for every row."""
        self._require_fitted()
        table = table_of(X, "X", self._kind, getattr(self, "feature_names_in_", None))
        if not is_frame(X):  # in which columns are found by name
            require_width(width_of(table), self.n_features_in_)
        return _call(self._model.probabilities, table)[:, self._order]

    def report(self, path):
        """Writes what was found as one HTML page that opens anywhere, and returns its path."""
        self._require_fitted()
        page = _core.report_page(self._page)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return os.fspath(path)

    def save(self, folder):
        """Writes the model into a folder, as `duplex clean` does and `duplex predict` reads it."""
        self._require_fitted()
        os.makedirs(folder, exist_ok=True)
        for name, content in self._model.files().items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)

    @property
    def suspects_(self):
        """The suspects, worst first."""
        self._require_fitted()
        rows = self._suspects
        columns = {"row": rows}
        if self._ids is not None:
            columns["id"] = self._ids[rows]
        columns["given"] = self._given[rows]
        columns["suggested"] = self.suggested_[rows]
        columns["trust"] = self.trust_[rows]
        columns["probability"] = self._probability[rows]
        try:
            import pandas
        except ImportError:
            return numpy.rec.fromarrays(list(columns.values()), names=list(columns))
        return pandas.DataFrame(columns, index=rows if self._index is None else self._index[rows])

    def _settings(self):
        return {
            "model": str(self.model),
            "rounds": _whole(self.rounds, "rounds"),
            "threshold": float(self.threshold),
            "storage": str(self.storage),
            "threads": _whole(self.threads, "threads"),
            "random_state": _seed(self.random_state),
        }

    def _take(self, found, labels, X):
        """Keeps what was found, for every row of X."""
        order = [found["classes"].index(name) for name in labels.names]
        number_of = numpy.argsort(order)  # of the engine's classes, the number among ours
        rows = numpy.arange(len(labels.numbers)) if found["rows"] is None else found["rows"]
        self.classes_ = labels.classes
        if is_frame(X):
            self.feature_names_in_ = numpy.asarray(names_of(X), dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.trust_ = numpy.ones(len(labels.numbers))
        self.trust_[rows] = found["trust"]
        suggested = labels.numbers.copy()
        suggested[rows] = number_of[found["suggested"]]
        self.suggested_ = labels.classes[suggested]
        self._probability = numpy.full(len(labels.numbers), numpy.nan)
        self._probability[rows] = found["probability"]
        self._suspects = rows[found["suspects"]]
        self.is_suspect_ = numpy.zeros(len(labels.numbers), dtype=bool)
        self.is_suspect_[self._suspects] = True
        self.expected_wrong_ = found["expected_wrong"]
        self.warnings_ = found["warnings"]
        self.summary_ = json.loads(found["summary"])
        self._given = labels.classes[labels.numbers]
        self._index = X.index if is_frame(X) else None
        self._order = order
        self._model = found["model"]
        self._page = found["page"]

    def _require_fitted(self):
        if not hasattr(self, "classes_"):
            raise NotFittedError("This HyperCleaner instance is not fitted yet: call fit before it is asked")

    def _more_tags(self):
        return {"poor_score": False}

    def _repr_html_(self):
        if not hasattr(self, "classes_"):
            return f"<pre>{html.escape(repr(self))}</pre>"
        suspects = self.suspects_
        shown = suspects[:10]
        table = shown.to_html() if hasattr(shown, "to_html") else f"<pre>{html.escape(repr(shown))}</pre>"
        return (
            f"<p>{html.escape(repr(self))}: {len(suspects)} of {len(self.trust_)} labels look wrong, "
            f"about {self.expected_wrong_:.0f} are</p>{table}"
        )


def find_label_issues(
    X,
    y,
    X_trusted=None,
    y_trusted=None,
    *,
    trusted=None,
    sources=None,
    pred_probs=None,
    trusted_pred_probs=None,
    ids=None,
    **parameters,
):
    """The rows of X whose labels look wrong, worst first, as `HyperCleaner(**parameters).fit(...).suspects_`."""
    cleaner = HyperCleaner(**parameters)
    cleaner.fit(
        X,
        y,
        X_trusted,
        y_trusted,
        trusted=trusted,
        sources=sources,
        pred_probs=pred_probs,
        trusted_pred_probs=trusted_pred_probs,
        ids=ids,
    )
    return cleaner.suspects_


def _levels_to_the_caller():
    """How many calls up the code is that has asked for a cleaning."""
    levels = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
        levels += 1
    return levels


def _call(function, *arguments):
    try:
        return function(*arguments)
    except InvalidInput as error:
        sentence = str(error).replace("is --label the right column?", "does y hold classes?")
        if "found nan" in sentence:
            sentence += ": an array may hold no NaN; in a pandas DataFrame a cell may be missing"
        raise InvalidInput(sentence) from None


def _whole(value, name):
    try:
        return int(value.__index__())
    except AttributeError:
        raise InvalidInput(f"{name} = {value!r}, expected a whole number") from None


def _seed(random_state):
    if random_state is None:
        return 0
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    return _whole(random_state, "random_state")


def _mask_of(trusted, rows):
    """A mask over the rows, from a mask or from numbers of rows."""
    if trusted is None:
        return None
    given = numpy.asarray(trusted)
    if given.dtype == bool:
        if given.shape != (rows,):
            raise InvalidInput(f"trusted: found a mask of shape {given.shape}, expected ({rows},)")
        return given.astype(numpy.uint8)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InvalidInput(f"trusted: found an array of {given.dtype}, expected a mask or numbers of rows")
    if given.size and not (0 <= given.min() and given.max() < rows):
        raise InvalidInput(f"trusted: found row {given.max()}, expected numbers from 0 to {rows - 1}")
    mask = numpy.zeros(rows, dtype=numpy.uint8)
    mask[given] = 1
    return mask


def _probabilities(given, labels, name):
    """With columns in the engine's order of the classes."""
    if given is None:
        return None
    array = array_of(given, name)
    if array.shape[1] != len(labels.names):
        raise InvalidInput(
            f"{name}: found {array.shape[1]} columns, expected one for each of {len(labels.names)} classes"
        )
    whole = all(name.lstrip("+-").isdigit() for name in labels.names)
    order = sorted(range(len(labels.names)), key=lambda i: int(labels.names[i]) if whole else labels.names[i].encode())
    return {"kind": "array", "array": numpy.ascontiguousarray(array[:, order], dtype=float)}


class _Progress:
    """A line that tells what is being done."""

    def __init__(self, verbose):
        self.bar = None
        self.tell = None
        if not verbose:
            return
        try:
            from tqdm.auto import tqdm

            self.bar = tqdm(bar_format="{desc} {elapsed}", leave=False)
            self.tell = self.bar.set_description_str
        except ImportError:
            self.tell = print

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
