"""Tables and labels as people have them, as the engine reads them."""
import warnings

import numpy

from ._core import InvalidInput


def is_frame(X):
    """Whether it is a table with named columns, such as a pandas DataFrame."""
    return hasattr(X, "columns") and hasattr(X, "iloc")


def is_sparse(X):
    """Whether it is a sparse matrix of SciPy's."""
    return hasattr(X, "tocsr")


def kind_of(X):
    """ "columns", "entries" or "array": as what a table is read, of which all others of a cleaning are."""
    return "columns" if is_frame(X) else "entries" if is_sparse(X) else "array"


def names_of(X):
    """The names of a table's columns, None where it has none."""
    return [str(name) for name in X.columns] if is_frame(X) else None


def table_of(X, name, kind, names=None):
    """What the engine takes; `names` are those of the columns of the training table."""
    if kind == "columns":
        return _columns(X if is_frame(X) else _frame_like(X, name, names))
    if is_sparse(X):
        return _entries(X, name)
    return {"kind": "array", "array": array_of(X.to_numpy() if is_frame(X) else X, name)}


def array_of(X, name):
    """Rows and columns of real numbers, one after the other in memory: X itself where it is that."""
    array = numpy.asarray(X)
    if array.dtype.kind == "c":
        raise InvalidInput(f"{name}: Complex data not supported, found {array.dtype}, expected real numbers")
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(float)
        except ValueError as error:
            raise InvalidInput(
                f"{name}: {error}; expected numbers, a pandas DataFrame, whose columns may hold text, or text that "
                "was made numbers, as by scikit-learn's TfidfVectorizer"
            ) from None
    if array.ndim < 2:
        raise InvalidInput(
            f"{name}: found an array of shape {array.shape}, expected rows and columns. Reshape your data: "
            "X.reshape(1, -1) is one row, X.reshape(-1, 1) is one column"
        )
    if array.shape[0] == 0:
        raise InvalidInput(f"{name}: found 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if 0 in array.shape:
        raise InvalidInput(f"{name}: found 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.dtype.kind == "b":
        array = array.view(numpy.uint8) if array.flags.c_contiguous else array.astype(numpy.uint8)
    elif array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = array.astype(float)
    elif array.dtype.kind not in "fiu":
        raise InvalidInput(f"{name}: found an array of {array.dtype}, expected numbers")
    return numpy.ascontiguousarray(array)


def _entries(X, name):
    rows = X.tocsr()
    if rows.dtype.kind not in "fiub":
        raise InvalidInput(f"{name}: Complex data not supported, found {rows.dtype}, expected real numbers")
    if 0 in rows.shape:
        what = "sample" if rows.shape[0] == 0 else "feature"
        raise InvalidInput(f"{name}: found 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required.")
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    with numpy.errstate(over="ignore"):  # what is too large is told with its place
        values = rows.data.astype(numpy.float32)
    return {
        "kind": "entries",
        "ends": rows.indptr[1:].astype(numpy.uint64),
        "columns": rows.indices.astype(numpy.uint32),
        "values": values,
        "width": rows.shape[1],
    }


def _frame_like(X, name, names):
    """A table of numbers as columns with the names of the training table's."""
    array = X.toarray() if is_sparse(X) else array_of(X, name)
    require_width(array.shape[1], len(names))
    return _NamedColumns(array, names)


class _NamedColumns:
    """As much of a DataFrame as is needed here."""

    def __init__(self, array, names):
        self.columns = names
        self._array = array

    def cells(self, place):
        return self._array[:, place]


def _columns(frame):
    names = [str(name) for name in frame.columns]
    cells = frame.cells if isinstance(frame, _NamedColumns) else lambda place: frame.iloc[:, place]
    return {"kind": "columns", "names": names, "columns": [_cells(cells(place)) for place in range(len(names))]}


def _cells(column):
    """Numbers, with NaN where one is missing, or texts, with None."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "fiu":
        numbers = column.to_numpy(dtype=float, na_value=numpy.nan) if hasattr(column, "to_numpy") else column
        return numpy.ascontiguousarray(numbers, dtype=float)
    if kind == "c":
        raise InvalidInput(f"X: Complex data not supported, found {column.dtype} in a column")
    missing = column.isna().to_numpy() if hasattr(column, "isna") else numpy.zeros(len(column), dtype=bool)
    return [None if absent else str(cell) for cell, absent in zip(column, missing)]


def width_of(table):
    """The columns of what `table_of` gave."""
    if table["kind"] == "columns":
        return len(table["names"])
    return table["width"] if table["kind"] == "entries" else int(numpy.prod(table["array"].shape[1:]))


def refuse_labels_among_features(X, labels):
    """Refuses a DataFrame that holds its own labels, by which every one of them would look right."""
    texts = numpy.asarray(labels.names)[labels.numbers]
    for name in X.columns if is_frame(X) else ():
        column = X[name]
        if getattr(column, "ndim", 2) != 1 or len(column) != len(texts):
            continue
        if (column[:8].astype(str) == texts[:8]).all() and (column.astype(str) == texts).all():
            raise InvalidInput(f"X: the column '{name}' holds the labels themselves, expected a table without it")


def require_width(found, expected):
    """Refuses a table of another width than the one that was fitted to."""
    if found != expected:
        raise InvalidInput(f"X has {found} features, but HyperCleaner is expecting {expected} features as input")


class Labels:
    """Labels of rows: `classes` as NumPy sorts them, the number of each row's, and the names of the classes."""

    def __init__(self, y, name):
        if y is None:
            raise InvalidInput(f"{name} requires y to be passed, but the target y is None")
        values = numpy.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1:
            warnings.warn(
                f"A column-vector y was passed when a 1d array was expected, as {name}",
                _conversion_warning(),
                stacklevel=4,
            )
            values = values.ravel()
        if values.ndim != 1:
            raise InvalidInput(f"{name}: found an array of shape {values.shape}, expected a 1d array, a label a row")
        _require_labels(values, name)
        try:
            self.classes, self.numbers = numpy.unique(values, return_inverse=True)
        except TypeError:
            raise InvalidInput(f"{name}: labels of several types, expected all numbers or all text") from None
        self.names = [_text_of(label) for label in self.classes]
        if "" in self.names:
            row = int(numpy.argmax(self.numbers == self.names.index(""))) + 1
            raise InvalidInput(f"{name}: row {row}: found an empty label, expected some text")

    def told(self):
        """What the engine takes."""
        return {"numbers": self.numbers.astype(numpy.int64), "names": self.names}


def _require_labels(values, name):
    if values.dtype.kind == "f":
        if not numpy.isfinite(values).all():
            raise InvalidInput(f"{name}: Input contains NaN or infinity, expected a label in every row")
        if (values != numpy.round(values)).any():
            raise InvalidInput(f"Unknown label type: continuous; {name} is to hold classes")
    elif values.dtype.kind == "O":
        for row, label in enumerate(values):
            if label is None or label != label:  # NaN and pandas' NaT differ from themselves
                raise InvalidInput(f"{name}: row {row + 1}: found no label (NaN), expected one in every row")
    elif values.dtype.kind == "c":
        raise InvalidInput(f"{name}: Complex data not supported, found {values.dtype}, expected classes")
    elif values.dtype.kind not in "iubUS":
        raise InvalidInput(f"{name}: found an array of {values.dtype}, expected classes")


def _text_of(label):
    if isinstance(label, (float, numpy.floating)):
        return str(int(label))
    return label.decode() if isinstance(label, bytes) else str(label)


def _conversion_warning():
    try:
        from sklearn.exceptions import DataConversionWarning

        return DataConversionWarning
    except ImportError:
        return UserWarning
