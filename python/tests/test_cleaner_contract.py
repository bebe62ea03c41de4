"""HyperCleaner as scikit-learn expects an estimator to be."""
import numpy
import pytest

import duplex

pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_check_of_scikit_learn_passes():
    checks = list(check_estimator(duplex.HyperCleaner(), generate_only=True))
    assert len(checks) > 30
    for estimator, check in checks:
        check(estimator)


def test_it_runs_in_a_pipeline_with_trusted_rows(noisy):
    X, given, right, wrong = noisy
    y = numpy.where(numpy.arange(300) < 60, right, given)
    pipeline = make_pipeline(StandardScaler(), duplex.HyperCleaner())
    pipeline.fit(X, y, hypercleaner__trusted=range(60))
    assert pipeline.score(X, right) > 0.85
    assert (pipeline[-1].is_suspect_[60:] == wrong[60:]).mean() > 0.85


def test_it_runs_in_cross_validation_and_grid_search(noisy):
    X, _, right, _ = noisy
    scores = cross_val_score(duplex.HyperCleaner(model="linear"), X, right, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.8
    search = GridSearchCV(duplex.HyperCleaner(), {"model": ["linear", "kernel"], "rounds": [0, 1]}, cv=2).fit(X, right)
    assert set(search.best_params_) == {"model", "rounds"}
    assert search.best_estimator_.score(X, right) > 0.8


def test_parameters_are_read_set_and_cloned():
    cleaner = duplex.HyperCleaner("linear", rounds=1)
    assert clone(cleaner).get_params() == cleaner.get_params()
    assert cleaner.set_params(threshold=0.5).threshold == 0.5
    with pytest.raises(ValueError):
        cleaner.set_params(thresold=0.5)
    assert repr(cleaner) == "HyperCleaner(model='linear', rounds=1, threshold=0.5)"
    assert is_classifier(cleaner)


def test_it_refuses_to_answer_before_it_is_fitted(tmp_path):
    cleaner = duplex.HyperCleaner()
    for ask in (
        lambda: cleaner.predict([[0.0]]),
        lambda: cleaner.predict_proba([[0.0]]),
        lambda: cleaner.suspects_,
        lambda: cleaner.report(tmp_path / "report.html"),
        lambda: cleaner.save(tmp_path),
    ):
        with pytest.raises(NotFittedError):
            ask()


def test_it_refuses_rows_of_another_width(noisy):
    X, given = noisy[:2]
    cleaner = duplex.HyperCleaner(model="linear").fit(X, given)
    with pytest.raises(
        duplex.InvalidInput, match="X has 2 features, but HyperCleaner is expecting 4 features as input"
    ):
        cleaner.predict(X[:, :2])


def test_without_scikit_learn_it_does_the_same(noisy):
    from duplex._without_sklearn import BaseEstimator, ClassifierMixin

    class Plain(ClassifierMixin, BaseEstimator):
        def __init__(self, model="auto", rounds=2):
            self.model = model
            self.rounds = rounds

        def predict(self, X):
            return numpy.zeros(len(X))

    plain = Plain(rounds=1)
    assert plain.get_params() == {"model": "auto", "rounds": 1}
    assert plain.set_params(model="linear").model == "linear"
    assert repr(plain) == "Plain(model='linear', rounds=1)"
    assert plain.score(numpy.zeros((4, 1)), [0, 0, 1, 0]) == 0.75
    with pytest.raises(ValueError, match="Invalid parameter 'rouns'"):
        plain.set_params(rouns=3)
