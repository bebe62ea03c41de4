"""Finding labels that look wrong."""
import json
import pickle
import warnings

import numpy
import pytest

import duplex

pandas = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore::duplex._cleaner.CleaningWarning")


def fit(noisy, **parameters):
    X, given, right, _ = noisy
    return duplex.HyperCleaner(**parameters).fit(X[60:], given[60:], X[:60], right[:60])


def refusal(*arguments, cleaner=None, **named):
    with pytest.raises(duplex.InvalidInput) as caught:
        (cleaner or duplex.HyperCleaner()).fit(*arguments, **named)
    return str(caught.value)


def test_what_is_no_table_of_numbers(noisy):
    X, y = noisy[:2]
    assert refusal(X[:, 0], y).startswith("X: found an array of shape (300,), expected rows and columns. Reshape")
    assert refusal(X[:0], y[:0]) == "X: found 0 sample(s) (shape=(0, 4)) while a minimum of 1 is required."
    assert refusal(X.astype(complex), y).startswith("X: Complex data not supported, found complex128")
    assert refusal([["a", "b"], ["c", "d"]], [0, 1]).startswith("X: could not convert string to float: 'a'")
    assert "TfidfVectorizer" in refusal(["some text", "more of it"], [0, 1])
    with pytest.raises(TypeError):
        duplex.HyperCleaner().fit([[{}], [{}]], [0, 1])


@pytest.mark.parametrize("value, shown", [(numpy.nan, "nan"), (numpy.inf, "inf"), (1e300, "1e+300")])
def test_numbers_that_are_not_finite_are_told_with_their_place(noisy, value, shown):
    X, y = noisy[:2]
    X[3, 1] = value
    assert refusal(X, y).startswith(f"X: row 4, column 2: found {shown}, expected")
    assert refusal(sparse.csr_matrix(X), y).startswith("X: row 4, column 2: found ")
    if numpy.isnan(value):
        assert "in a pandas DataFrame a cell may be missing" in refusal(X, y)


def test_labels_that_are_none(noisy):
    X, y = noisy[:2]
    assert refusal(X, None) == "y requires y to be passed, but the target y is None"
    assert refusal(X, y[:10]) == "X: found 300 rows and 10 labels, expected as many"
    assert refusal(X, X) == "y: found an array of shape (300, 4), expected a 1d array, a label a row"
    assert refusal(X, X[:, 0]).startswith("Unknown label type: continuous")
    assert refusal(X, numpy.where(y == 0, numpy.nan, y)).startswith("y: Input contains NaN")
    assert refusal(X, [None, *y[1:]]) == "y: row 1: found no label (NaN), expected one in every row"
    mixed = numpy.array([1, "a"] * 150, dtype=object)
    assert refusal(X, mixed) == "y: labels of several types, expected all numbers or all text"
    assert refusal(X, ["", "a"] * 150) == "y: row 1: found an empty label, expected some text"
    assert refusal(X, numpy.zeros(300)).startswith("X: one class only, '0', expected at least two")


def test_a_frame_that_holds_its_own_labels(noisy):
    X, y = noisy[:2]
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(species=y)
    assert refusal(frame, y) == "X: the column 'species' holds the labels themselves, expected a table without it"
    duplex.HyperCleaner(model="linear").fit(frame.assign(species=numpy.where(y == 0, 1, y)), y)


def test_labels_that_are_all_different(noisy):
    sentence = refusal(noisy[0], numpy.arange(300))
    assert sentence.endswith("expected several rows of each class; does y hold classes?")


def test_trusted_rows_that_do_not_fit(noisy):
    X, y = noisy[:2]
    assert refusal(X, y, X) == "X_trusted and y_trusted belong together, found one of them"
    assert refusal(X, y, X[:9, :2], y[:9]) == "X_trusted: found 2 features, expected 4 as in X"
    assert refusal(X, y, X[:9], y[:9] + 7).startswith("X_trusted: row 1: found the label '")
    assert refusal(X, y, X[:9], y[:9], trusted=y == 0) == "trusted beside X_trusted: expected one of the two"
    assert refusal(X, y, trusted=numpy.ones(3, dtype=bool)) == "trusted: found a mask of shape (3,), expected (300,)"
    assert refusal(X, y, trusted=[300]) == "trusted: found row 300, expected numbers from 0 to 299"
    assert refusal(X, y, trusted=X[:, 0]) == "trusted: found an array of float64, expected a mask or numbers of rows"
    assert refusal(X, y, trusted=numpy.ones(300, dtype=bool)) == (
        "X: all of its 300 rows are marked as trusted, expected some"
    )


def test_parameters_that_are_wrong(noisy):
    X, y = noisy[:2]
    assert "unknown model 'liner'; did you mean 'linear'?" in refusal(X, y, cleaner=duplex.HyperCleaner("liner"))
    assert refusal(X, y, cleaner=duplex.HyperCleaner(rounds=-1)) == "rounds is -1, expected >= 0 and <= 1000"
    assert refusal(X, y, cleaner=duplex.HyperCleaner(threads=1.5)) == "threads = 1.5, expected a whole number"
    assert refusal(X, y, cleaner=duplex.HyperCleaner(threshold=2.0)) == "threshold is 2, expected >= 0 and <= 1"
    assert refusal(X, y, cleaner=duplex.HyperCleaner(random_state=-3)) == "random_state is -3, expected >= 0"
    with pytest.raises(duplex.NotAvailable, match="has no networks"):
        duplex.HyperCleaner("mlp").fit(X, y)


def test_wrong_labels_are_found_and_the_model_is_better_than_its_labels(noisy):
    X, given, right, wrong = noisy
    cleaner = fit(noisy)
    assert cleaner.trust_.shape == (240,) and ((0 <= cleaner.trust_) & (cleaner.trust_ <= 1)).all()
    assert (cleaner.is_suspect_ == wrong[60:]).mean() > 0.85
    worst = cleaner.suspects_["row"].to_numpy()
    assert (numpy.diff(cleaner.trust_[worst]) >= 0).all()
    assert wrong[60:][worst[:20]].mean() > 0.9
    assert (cleaner.suggested_[worst] == right[60:][worst]).mean() > 0.8
    assert cleaner.expected_wrong_ == pytest.approx((1 - cleaner.trust_).sum(), rel=1e-4)
    assert cleaner.score(X, right) > 0.85
    proba = cleaner.predict_proba(X)
    assert proba.shape == (300, 3)
    numpy.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-6)
    assert (cleaner.classes_[proba.argmax(axis=1)] == cleaner.predict(X)).all()


def test_one_line_gives_the_suspects(noisy):
    X, given, right, _ = noisy
    issues = duplex.find_label_issues(X[60:], given[60:], X[:60], right[:60])
    pandas.testing.assert_frame_equal(issues, fit(noisy).suspects_)
    assert list(issues.columns) == ["row", "given", "suggested", "trust", "probability"]


def test_trusted_rows_may_be_marked_among_the_others(noisy):
    X, given, right, _ = noisy
    y = numpy.where(numpy.arange(300) < 60, right, given)
    by_mask = duplex.HyperCleaner().fit(X, y, trusted=numpy.arange(300) < 60)
    by_rows = duplex.HyperCleaner().fit(X, y, trusted=range(60))
    beside = fit(noisy)
    assert (by_mask.trust_[:60] == 1.0).all() and not by_mask.is_suspect_[:60].any()
    numpy.testing.assert_array_equal(by_mask.trust_[60:], beside.trust_)
    numpy.testing.assert_array_equal(by_rows.trust_, by_mask.trust_)
    numpy.testing.assert_array_equal(by_mask.suspects_["row"], beside.suspects_["row"] + 60)


def test_labels_may_be_text_floats_or_numbers_in_any_order(noisy):
    X, given, right, _ = noisy
    expected = fit(noisy)
    for names in (numpy.array(["ant", "bee", "cow"]), numpy.array([0.0, 1.0, 2.0]), numpy.array([-5, 3, 40])):
        cleaner = duplex.HyperCleaner().fit(X[60:], names[given[60:]], list(X[:60]), list(names[right[:60]]))
        numpy.testing.assert_array_equal(cleaner.trust_, expected.trust_)
        numpy.testing.assert_array_equal(cleaner.suggested_, names[expected.suggested_])
        numpy.testing.assert_array_equal(cleaner.predict(X), names[expected.predict(X)])
    whole_as_text = numpy.array(["10", "9", "2"])  # NumPy sorts these as text, the engine as numbers
    cleaner = duplex.HyperCleaner().fit(X[60:], whole_as_text[given[60:]], X[:60], whole_as_text[right[:60]])
    assert list(cleaner.classes_) == ["10", "2", "9"]
    assert cleaner.score(X, whole_as_text[right]) > 0.85
    assert (cleaner.classes_[cleaner.predict_proba(X).argmax(axis=1)] == cleaner.predict(X)).all()


def test_tables_of_any_kind_give_the_same(noisy):
    X, given, right, _ = noisy
    X = X.astype(numpy.float32)
    expected = fit((X, given, right, None))
    strided = numpy.repeat(X, 2, axis=1)[:, ::2]
    read_only = X.copy()
    read_only.flags.writeable = False
    for table in (X.astype(float), X.tolist(), numpy.asfortranarray(X), strided, read_only, sparse.csc_matrix(X)):
        found = fit((table if not isinstance(table, list) else numpy.array(table), given, right, None))
        numpy.testing.assert_array_equal(found.trust_, expected.trust_)
        numpy.testing.assert_array_equal(found.predict(table), expected.predict(X))


def test_what_is_given_is_left_as_it_was(noisy):
    X, given, right, _ = noisy
    X = X.astype(numpy.float32)
    before = X.copy(), given.copy()
    fit((X, given, right, None))
    assert (X == before[0]).all() and (given == before[1]).all()


def test_single_precision_rows_are_handed_over_without_a_copy(noisy):
    from duplex._tables import table_of

    X = noisy[0].astype(numpy.float32)
    assert table_of(X, "X", "array")["array"] is X
    images = numpy.zeros((5, 4, 4), dtype=numpy.uint8)
    assert table_of(images, "X", "array")["array"] is images


def test_a_frame_may_hold_text_dates_and_missing_cells(noisy):
    X, given, right, _ = noisy
    y = numpy.where(numpy.arange(300) < 60, right, given)
    frame = pandas.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(300)])
    frame["kind"] = pandas.Categorical(numpy.where(right == 0, "round", "square"))
    frame["when"] = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(right, unit="D")
    frame["sure"] = right == 1
    frame.loc["row 5", "b"] = numpy.nan
    frame.loc["row 7", "kind"] = None
    cleaner = duplex.HyperCleaner().fit(frame, y, trusted=range(60))
    assert list(cleaner.feature_names_in_) == ["a", "b", "c", "d", "kind", "when", "sure"]
    assert cleaner.score(frame, right) > 0.95
    suspects = cleaner.suspects_
    assert (suspects.index == frame.index[suspects["row"]]).all()
    shuffled = frame[["sure", "when", "kind", "d", "c", "b", "a"]]
    numpy.testing.assert_array_equal(cleaner.predict(shuffled), cleaner.predict(frame))
    with pytest.raises(duplex.InvalidInput, match="has no column 'kind'"):
        cleaner.predict(frame.drop(columns="kind"))


def test_a_frame_is_read_as_the_csv_file_that_it_would_be(noisy, tmp_path):
    """Through the tool's own reader, if the tool is there."""
    tool = pytest.importorskip("test_tool").tool()
    X, given, right, _ = noisy
    y = numpy.where(numpy.arange(300) < 60, right, given)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["shape"] = numpy.where(X[:, 0] > 1, "round", "square")
    frame["large"] = 1e9 + 10.0 * right
    frame.loc[5, "b"] = numpy.nan
    frame.loc[9, "shape"] = None
    frame.loc[11, "c"] = 1e9
    written = frame.assign(label=y, sure=numpy.arange(300) < 60)
    written.to_csv(tmp_path / "all.csv", index=False)
    tool("clean", "--train", "all.csv", "--trusted-column", "sure", "--out", "out", folder=tmp_path)
    cleaner = duplex.HyperCleaner().fit(frame, y, trusted=range(60))
    weights = pandas.read_csv(tmp_path / "out" / "weights.csv")
    numpy.testing.assert_allclose(cleaner.trust_[weights["row"] - 1], weights["trust"], atol=2e-6)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [entry["code"] for entry in summary["warnings"]] == [code for code, _ in cleaner.warnings_]


def test_sources_probabilities_and_ids_are_taken(noisy):
    X, given, right, wrong = noisy
    sources = numpy.where(wrong, "careless", "careful")
    cleaner = duplex.HyperCleaner().fit(
        X[60:], given[60:], X[:60], right[:60], sources=sources[60:], ids=[f"id {i}" for i in range(240)]
    )
    right_part = {source["name"]: source["right"] for source in cleaner.summary_["sources"]}
    assert right_part["careful"] > right_part["careless"]
    assert (cleaner.suspects_["id"] == [f"id {row}" for row in cleaner.suspects_["row"]]).all()
    sure = numpy.where(numpy.eye(3)[right] == 1, 0.98, 0.01)
    told = duplex.HyperCleaner().fit(
        X[60:], given[60:], X[:60], right[:60], pred_probs=sure[60:], trusted_pred_probs=sure[:60]
    )
    assert (told.is_suspect_ == wrong[60:]).mean() > (fit(noisy).is_suspect_ == wrong[60:]).mean()
    assert (
        refusal(X, given, pred_probs=sure[:, :2]) == "pred_probs: found 2 columns, expected one for each of 3 classes"
    )
    assert "pred_probs: row 1: found probabilities that add up to" in refusal(X, given, pred_probs=2.0 * sure / 3.0)


def test_a_report_a_folder_of_the_model_and_a_pickle(noisy, tmp_path):
    X = noisy[0]
    cleaner = fit(noisy)
    again = pickle.loads(pickle.dumps(cleaner))
    numpy.testing.assert_array_equal(again.predict_proba(X), cleaner.predict_proba(X))
    numpy.testing.assert_array_equal(again.suspects_, cleaner.suspects_)
    cleaner.save(tmp_path / "model")
    assert {"model.json", "model.npy"} <= {file.name for file in (tmp_path / "model").iterdir()}
    try:
        path = again.report(tmp_path / "report.html")
    except duplex.NotAvailable as reason:
        assert "npm" in str(reason)
    else:
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert path == str(tmp_path / "report.html") and "Labels that look wrong" in page


def test_a_pickle_that_was_damaged_is_refused(noisy):
    files = fit(noisy)._model.files()
    model = duplex._core.Model.__new__(duplex._core.Model)
    with pytest.raises(duplex.InvalidInput, match="is damaged"):
        model.__setstate__({**files, "model.npy": files["model.npy"][:-1] + b"x"})
    with pytest.raises(duplex.InvalidInput, match="lacks model-columns.npy"):
        model.__setstate__({"model.json": files["model.json"]})


def test_notebooks_show_what_was_found(noisy):
    assert "HyperCleaner" in duplex.HyperCleaner()._repr_html_()
    shown = fit(noisy)._repr_html_()
    assert "of 240 labels look wrong" in shown and "<table" in shown


def test_progress_is_told(noisy, capsys):
    fit(noisy, verbose=True)
    told = "".join(capsys.readouterr())
    assert told.strip()


def test_warnings_are_given_and_kept(noisy):
    X, given = noisy[:2]
    with pytest.warns(UserWarning):
        cleaner = duplex.HyperCleaner().fit(X[:60], given[:60], X[60:62], given[60:62])
    codes = [code for code, _ in cleaner.warnings_]
    assert "few-trusted-rows" in codes or "class-without-trusted-rows" in codes


def test_the_same_seed_gives_the_same_and_no_seed_is_zero(noisy):
    first = fit(noisy, random_state=3)
    numpy.testing.assert_array_equal(fit(noisy, random_state=3).trust_, first.trust_)
    numpy.testing.assert_array_equal(fit(noisy, random_state=None).trust_, fit(noisy).trust_)
    generator = numpy.random.RandomState(0)
    fit(noisy, random_state=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert refusal(*noisy[:2], cleaner=duplex.HyperCleaner(random_state="a")) == (
            "random_state = 'a', expected a whole number"
        )
