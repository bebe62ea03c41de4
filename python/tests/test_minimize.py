"""Problems that are written in Python, and what runs on them give back."""
import pickle

import numpy
import pytest

import duplex


class Evaluations:
    """The counter-example as a class with the methods of a problem in C++; both ways of giving a result."""

    def __init__(self, example):
        self.example = example
        self.forgotten = 0

    def lower(self):
        problem, a = self, self.example.a

        class Lower(duplex.Point):
            def at(self, x, y):
                super().at(x, y)
                self.ay = None
                problem.forgotten += 1

            def product(self):
                if self.ay is None:
                    self.ay = a * self.y
                return self.ay

            def value(self):
                return 0.5 * self.y @ self.product() - self.x @ self.y

            def grad_y(self, out):
                numpy.subtract(self.product(), self.x, out=out)

            def hess_yy(self, v):
                return a * v

            def cross_xy(self, v, out):
                numpy.negative(v, out=out)

        return Lower()

    def upper(self):
        a, z0 = self.example.a, self.example.z0

        class Upper(duplex.Point):
            def value(self):
                return 0.5 * (self.x - z0) @ (self.x - z0) + 0.5 * self.y @ (a * self.y)

            def grad_x(self, out):
                out[:] = self.x - z0

            def grad_y(self):
                return a * self.y

        return Upper()

    def start(self):
        return self.example.start()


def test_a_problem_from_functions_comes_to_its_answer(example):
    result = duplex.minimize(example.problem(), *example.start())
    assert result.success and not result.failed
    assert result.termination == "tolerance verified" and result.status == 1
    numpy.testing.assert_allclose(result.x, example.answer(), rtol=1e-4)
    numpy.testing.assert_allclose(result.y, result.x / example.a, rtol=1e-4)
    assert result.fun == pytest.approx(example.functions()[1]["value"](result.x, result.y))
    assert "curvatures" in result.explanation
    assert result.method == "automatic" and result.spec.startswith("automatic:tolerance=")


def test_a_class_with_evaluations_comes_to_the_same_bits(example):
    problem = Evaluations(example)
    steps = {"method": "bagdc", "alpha": 0.1, "beta": 0.2, "iterations": 40}
    by_class = duplex.minimize(problem, **steps)
    by_functions = duplex.minimize(example.problem(), *example.start(), **steps)
    assert by_class.nit == 40 and problem.forgotten >= 40
    for name in "xyv":
        numpy.testing.assert_array_equal(by_class[name], by_functions[name])
    assert duplex.check(problem).passes


def test_every_method_runs_on_functions_as_on_the_problem_in_cpp():
    named = duplex.problem("counter-example", n=4)
    lower = {
        "value": lambda x, y: 0.5 * y @ y - x @ y,
        "grad_x": lambda x, y: -y,
        "grad_y": lambda x, y: y - x,
        "hess_yy": lambda x, y, v: v,
        "cross_xy": lambda x, y, v: -v,
    }
    z0 = -named.evaluate(numpy.zeros(4), numpy.zeros(4)).upper.grad_x
    upper = {
        "value": lambda x, y: 0.5 * (x - z0) @ (x - z0) + 0.5 * y @ y,
        "grad_x": lambda x, y: x - z0,
        "grad_y": lambda x, y: y,
        "hess_yy": lambda x, y, v: v,
        "cross_xy": lambda x, y, v: numpy.zeros(4),
    }
    options = {"iterations": 25, "recoveries": 0, "direction_tolerance": 0.0}
    expected = duplex.race(named, **options)
    found = duplex.race(duplex.Problem(lower, upper), None, *named.start(), **options)
    assert len(found.results) == len(duplex.methods())
    for ours, theirs in list(zip(found.results, expected.results))[1:]:
        assert (ours.nit, ours.termination) == (theirs.nit, theirs.termination), ours.spec
        for name in "xyv":
            scale = max(1.0, numpy.abs(theirs[name]).max())
            numpy.testing.assert_allclose(
                ours[name] / scale, theirs[name] / scale, rtol=0, atol=1e-12, err_msg=ours.spec
            )
    assert sum(result.failed for result in found.results) == 0
    assert found.results[0].termination == "tolerance verified"


def test_gradients_alone_are_enough(example):
    lower, upper = example.functions()
    del lower["hess_yy"], lower["cross_xy"]
    upper = {name: upper[name] for name in ("value", "grad_x", "grad_y")}
    problem = duplex.Problem(lower, upper)
    for method in ({}, {"method": "f2sa", "alpha": 0.02, "beta": 0.2, "iterations": 3000}):
        result = duplex.minimize(problem, *example.start(), **method)
        numpy.testing.assert_allclose(result.x, example.answer(), rtol=0.05 if method else 1e-4)
    assert duplex.check(problem, *example.start()).passes


def test_both_products_and_inverses_are_used_where_they_are_offered(example):
    a = example.a
    calls = []
    problem = example.problem(
        both_products=lambda x, y, v: calls.append("both") or (a * v, -v),
        solve_lower=lambda x, y, b: calls.append("solve") or b / a,
    )
    duplex.minimize(problem, *example.start(), method="soba", alpha=0.05, beta=0.1, eta=0.1, iterations=3)
    assert calls == ["both"] * 3
    result = duplex.minimize(problem, *example.start())
    assert "solve" in calls
    numpy.testing.assert_allclose(result.x, example.answer(), rtol=1e-4)
    sentence = "lower: both_products returned list, expected a tuple of two arrays"
    with pytest.raises(duplex.InvalidInput, match=sentence):
        duplex.minimize(
            example.problem(both_products=lambda x, y, v: [v, v]),
            *example.start(),
            method="soba",
            alpha=0.1,
            iterations=3,
        )


def test_bounds_hold_x_and_may_come_from_the_problem(example):
    lower, upper = example.functions()
    low = numpy.full(5, 0.6)
    within = duplex.minimize(example.problem(), *example.start(), bounds=(0.6, None))
    own = duplex.minimize(duplex.Problem(lower, upper, bounds=(low, 10.0)), *example.start())
    for result in (within, own):
        assert result.success and (result.x >= 0.6).all()
        numpy.testing.assert_allclose(result.x, numpy.maximum(example.answer(), 0.6), rtol=1e-4)


def test_a_trace_metrics_and_counters_are_told(example):
    result = duplex.minimize(
        example.problem(),
        *example.start(),
        method="bagdc",
        alpha=0.1,
        beta=0.2,
        iterations=10,
        metrics=["kkt", "upper"],
    )
    assert result.termination == "max iterations" and not result.success
    assert list(result.trace["iteration"]) == list(range(1, 11))
    assert {"seconds", "direction_norm", "alpha", "beta", "eta", "kkt", "upper"} < set(result.trace)
    assert result.trace["kkt"][-1] == result.metrics["kkt"]
    assert result.metrics["upper"] == pytest.approx(result.fun)
    assert result.counters["gradients"] == 30 and result.counters["cross_products"] == 10


def test_a_run_stops_at_a_target_and_at_a_tolerance(example):
    steps = {"method": "bagdc", "alpha": 0.1, "beta": 0.2}
    result = duplex.minimize(example.problem(), *example.start(), target=("kkt", 1e-3), **steps)
    assert result.termination == "target reached" and result.metrics["kkt"] <= 1e-3
    result = duplex.minimize(example.problem(), *example.start(), direction_tolerance=1e-4, **steps)
    assert result.termination == "direction tolerance" and result.direction_norm <= 1e-4


def test_held_out_samples_stop_a_run(example):
    lower, upper = example.functions()
    problem = duplex.Problem(lower, upper, held_out=lambda x, y: float(x @ x - 4.0 * x.sum()))
    result = duplex.minimize(
        problem, *example.start(), method="bagdc", alpha=0.01, beta=0.2, held_out_patience=5, iterations=500
    )
    assert result.termination == "overfitted" and result.nit < 500
    assert "held-out" in result.metrics


def test_a_result_is_a_dict_with_attributes_that_prints_and_pickles(example):
    result = duplex.minimize(example.problem(), *example.start())
    assert result["x"] is result.x and "termination" in dir(result)
    assert "termination: tolerance verified" in repr(result)
    with pytest.raises(AttributeError):
        _ = result.nothing
    again = pickle.loads(pickle.dumps(result))
    numpy.testing.assert_array_equal(again.x, result.x)


def test_check_names_the_derivative_that_is_wrong(example):
    right = duplex.check(example.problem(), *example.start())
    assert right and right.passes and not right.is_wrong
    assert "lower grad_y" in repr(right)
    wrong = duplex.check(example.problem(cross_xy=lambda x, y, v: v), *example.start())
    assert not wrong and wrong.is_wrong
    assert [row["derivative"] for row in wrong.rows if not row["passes"]][0] == "lower cross_xy"


def test_a_problem_by_name_has_a_start_an_answer_and_values():
    problem = duplex.problem("counter-example", n=3)
    x, y = problem.start()
    assert x.shape == y.shape == (3,)
    result = duplex.minimize(problem)
    numpy.testing.assert_allclose(result.x, problem.answer().x, rtol=1e-4)
    at = problem.evaluate(result.x, result.y)
    assert at.upper.value == pytest.approx(result.fun)
    assert duplex.check(problem).passes
    with pytest.raises(duplex.InvalidInput, match="start: x has 2 entries, the problem expects 3"):
        problem.evaluate(numpy.zeros(2), numpy.zeros(3))


def test_batches_are_drawn_by_a_seed():
    problem = duplex.problem("softmax")
    steps = {"method": "soba", "alpha": 0.05, "beta": 0.05, "eta": 0.05, "batch": 8, "iterations": 30}
    first = duplex.minimize(problem, seed=1, **steps)
    numpy.testing.assert_array_equal(duplex.minimize(problem, seed=1, **steps).x, first.x)
    assert (duplex.minimize(problem, seed=2, **steps).x != first.x).any()
    assert first.counters["lower_passes"] < 60
    with pytest.raises(duplex.InvalidInput, match="chooses|expected a method with steps"):
        duplex.minimize(problem, batch=8)


def test_any_number_of_threads_gives_the_same_bits():
    problem = duplex.problem("counter-example", n=600, matrix="dense")
    steps = {"method": "bagdc", "alpha": 0.05, "beta": 0.05, "iterations": 20}
    alone = duplex.minimize(problem, threads=1, **steps)
    numpy.testing.assert_array_equal(duplex.minimize(problem, threads=2, **steps).x, alone.x)
    with pytest.raises(duplex.InvalidInput, match="threads is -1"):
        duplex.minimize(problem, threads=-1, **steps)


def test_a_race_tells_where_each_method_really_ended():
    race = duplex.race(
        duplex.problem("counter-example", n=6), ["automatic", "bagdc:alpha=0.1:beta=0.2", "nosa:alpha=0.1:beta=0.2"]
    )
    rows = {row["method"].split(":")[0]: row for row in race.rows()}
    assert rows["bagdc"]["direction_norm"] <= 1e-6 and rows["bagdc"]["x_error"] < 1e-4
    assert rows["nosa"]["direction_norm"] <= 1e-6 and rows["nosa"]["x_error"] > 0.1, "it reports a tiny d, and is wrong"
    assert repr(race).splitlines()[0] == "arrival: ‖d‖ <= 1e-6, by a method's own word"
    assert list(pytest.importorskip("pandas").DataFrame(race.rows()).columns) == ["method", *race.to_frame().columns]
    with pytest.raises(duplex.InvalidInput, match="unknown option 'alhpa'; did you mean 'alpha'"):
        duplex.race(duplex.problem("ridge"), ["bagdc"], alhpa=1.0)


def test_a_race_goes_on_where_the_problem_lacks_what_a_method_needs(example):
    lower, upper = example.functions()
    del lower["grad_x"], upper["hess_yy"]
    race = duplex.race(duplex.Problem(lower, upper), ["bda", "f2sa", "automatic"], *example.start())
    assert [result.failed for result in race.results] == [True, True, False]
    assert "lacks upper().hess_yy" in race.results[0].message and "lacks lower().grad_x" in race.results[1].message
    assert repr(race).count("step failed") == 2


def test_a_race_draws_a_curve_for_each_method():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = duplex.race(duplex.problem("counter-example", n=3), ["automatic", "bagdc:alpha=0.1:beta=0.2"]).plot()
    assert len(axes.lines) == 2 and axes.get_xlabel() == "seconds"


def test_a_run_goes_on_from_its_folder_to_the_same_bits(example, tmp_path):
    steps = {"method": "bagdc", "alpha": 0.02, "beta": 0.1}
    whole = duplex.minimize(example.problem(), *example.start(), iterations=60, metrics=["kkt"], **steps)
    first = duplex.minimize(
        example.problem(), *example.start(), iterations=25, metrics=["kkt"], out=tmp_path / "run", **steps
    )
    assert first.nit == 25
    assert {"minimize.json", "minimize.csv", "manifest.json", "checkpoint.dpx"} <= {
        file.name for file in (tmp_path / "run").iterdir()
    }
    rest = duplex.minimize(example.problem(), *example.start(), resume=tmp_path / "run", iterations=60)
    assert rest.nit == 60 and rest.spec == whole.spec
    for name in "xyv":
        numpy.testing.assert_array_equal(rest[name], whole[name])
    numpy.testing.assert_array_equal(rest.trace["kkt"], whole.trace["kkt"])
    with pytest.raises(duplex.InvalidInput, match="the run that goes on is one of bagdc"):
        duplex.minimize(example.problem(), *example.start(), "cg", resume=tmp_path / "run")
    with pytest.raises(duplex.InvalidInput, match="out beside resume"):
        duplex.minimize(example.problem(), *example.start(), out=tmp_path / "a", resume=tmp_path / "run")
    with pytest.raises(duplex.InvalidInput):
        duplex.minimize(example.problem(), *example.start(), resume=tmp_path / "nothing")


def test_a_run_that_an_exception_ended_goes_on_from_its_folder(example, tmp_path):
    steps = {"method": "bagdc", "alpha": 0.02, "beta": 0.1, "iterations": 50}
    calls = []

    def grad_y(x, y):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return example.a * y - x

    with pytest.raises(KeyboardInterrupt) as caught:
        duplex.minimize(example.problem(grad_y=grad_y), *example.start(), out=tmp_path / "run", **steps)
    assert 0 < caught.value.result.nit < 50
    rest = duplex.minimize(example.problem(), *example.start(), resume=tmp_path / "run", iterations=50)
    whole = duplex.minimize(example.problem(), *example.start(), **steps)
    assert rest.nit == 50
    for name in "xyv":
        numpy.testing.assert_array_equal(rest[name], whole[name])
