"""What is refused, and in which words."""
import numpy
import pytest

import duplex


def refusal(problem, *start, **options):
    with pytest.raises(duplex.InvalidInput) as caught:
        duplex.minimize(problem, *start, **options)
    return str(caught.value)


def test_an_error_is_a_value_error_of_the_package():
    assert issubclass(duplex.InvalidInput, ValueError)
    assert issubclass(duplex.NotAvailable, RuntimeError)
    assert issubclass(duplex.OutOfMemory, MemoryError)
    assert duplex.InvalidInput.__module__ == "duplex"


def test_what_is_no_problem_is_named(example):
    assert "found int, expected a duplex.Problem" in refusal(3, *example.start())


def test_a_level_that_lacks_a_member_is_named(example):
    assert refusal(example.problem(grad_y=None), *example.start()).startswith("lower lacks grad_y, its gradient in y")
    assert refusal(example.problem(hess_yy=None), *example.start()).startswith("lower lacks hess_yy")
    lower, upper = example.functions()
    upper["grad_x"] = None
    assert refusal(duplex.Problem(lower, upper), *example.start()) == "upper lacks grad_x, its gradient in x"


def test_a_member_of_the_wrong_number_of_arguments_is_named(example):
    problem = example.problem(grad_y=lambda x: x)
    assert refusal(problem, *example.start()) == (
        "lower: grad_y takes 1 arguments, expected 2, or 3 with out at the end"
    )
    assert refusal(example.problem(grad_y=3), *example.start()) == "lower: grad_y is int, expected a function"


@pytest.mark.parametrize(
    "start, sentence",
    [
        (numpy.ones((5, 1)), "x0: found an array of shape (5, 1), expected one dimension with at least one entry"),
        (numpy.array(["a"] * 5), "x0: found an array of <U1, expected an array of numbers"),
        (numpy.array([None] * 5), "x0: found an array of object, expected an array of numbers"),
        (numpy.ones(5, dtype=complex), "x0: found an array of complex128, expected an array of numbers"),
        ("abc", "x0: found an array of <U3, expected an array of numbers"),
        ([], "x0: found an array of shape (0,), expected one dimension with at least one entry"),
        (numpy.array([1.0, numpy.nan, 1.0, 1.0, 1.0]), "start: x holds NaN or infinity, expected finite numbers"),
    ],
)
def test_a_start_that_is_no_vector_of_numbers(example, start, sentence):
    assert refusal(example.problem(), start, numpy.ones(5)) == sentence


def test_a_missing_start(example):
    assert refusal(example.problem()) == "x0 is missing: the problem has no start() of its own"


def test_integers_and_arrays_that_are_not_contiguous_or_read_only_are_a_start(example):
    problem, expected = example.problem(), example.answer()
    strided = numpy.ones((5, 3))[:, 1]
    read_only = numpy.ones(5)
    read_only.flags.writeable = False
    for start in (numpy.ones(5, dtype=int), [1] * 5, strided, read_only, numpy.ones(5, dtype=numpy.float32)):
        result = duplex.minimize(problem, start, start)
        numpy.testing.assert_allclose(result.x, expected, rtol=1e-4)
    assert (strided == 1.0).all() and (read_only == 1.0).all(), "a start is not moved"


def test_a_function_that_returns_a_wrong_shape_or_kind(example):
    start = example.start()
    returned = {
        "an array of shape (4,), expected (5,)": numpy.ones(4),
        "an array of shape (5, 1), expected (5,)": numpy.ones((5, 1)),
        "None, expected an array of shape (5,)": None,
        "an array of object, expected an array of 5 numbers": numpy.array([None] * 5),
        "an array of <U1, expected an array of 5 numbers": ["a"] * 5,
    }
    for words, value in returned.items():
        problem = example.problem(grad_y=lambda x, y, value=value: value)
        assert refusal(problem, *start) == f"lower: grad_y returned {words}"
    assert refusal(example.problem(value=lambda x, y: "much"), *start) == "lower: value returned str, expected a number"
    assert refusal(example.problem(value=lambda x, y: None), *start, method="automatic") == (
        "lower: value returned NoneType, expected a number"
    )


def test_a_function_may_return_integers_lists_and_strided_arrays(example):
    a = example.a
    problem = example.problem(
        grad_y=lambda x, y: list(a * y - x),
        hess_yy=lambda x, y, v: numpy.column_stack([a * v, v])[:, 0],
        cross_xy=lambda x, y, v: (-v).astype(numpy.float64)[::-1][::-1],
    )
    result = duplex.minimize(problem, *example.start())
    numpy.testing.assert_allclose(result.x, example.answer(), rtol=1e-4)


def test_a_loss_that_is_nan_is_told_with_its_level_and_step(example):
    problem = example.problem(value=lambda x, y: numpy.nan, grad_y=lambda x, y: numpy.full(5, numpy.nan))
    result = duplex.minimize(problem, *example.start(), method="bagdc", alpha=0.1, beta=0.1)
    assert result.failed and not result.success
    assert result.termination == "diverged"
    assert "lower level" in result.message and "NaN at step 1" in result.message
    assert result.fun is None


def test_arrays_that_are_given_to_functions_cannot_be_written(example):
    def grad_y(x, y):
        y[0] = 3.0

    with pytest.raises(ValueError, match="read-only"):
        duplex.minimize(example.problem(grad_y=grad_y), *example.start())


def test_an_array_that_a_function_keeps_stays_valid_after_the_run(example):
    kept = []

    def grad_y(x, y):
        kept.append(y[1:])
        return example.a * y - x

    result = duplex.minimize(example.problem(grad_y=grad_y), *example.start())
    assert result.success and numpy.isfinite(kept).all()


def test_misspelt_names_are_answered_with_what_was_meant(example):
    start = example.start()
    assert "unknown solver 'bagd'; did you mean 'bagdc'?" in refusal(example.problem(), *start, method="bagd")
    assert "unknown option 'alhpa'; did you mean 'alpha'?" in refusal(
        example.problem(), *start, method="bagdc", alhpa=0.1
    )
    assert "unknown metric 'ktt'; did you mean 'kkt'?" in refusal(example.problem(), *start, metrics=["ktt"])
    with pytest.raises(duplex.InvalidInput, match="did you mean 'ridge'"):
        duplex.problem("rigde")
    with pytest.raises(duplex.InvalidInput, match="did you mean 'features'"):
        duplex.problem("ridge", feature=3)


def test_options_of_the_wrong_kind_or_out_of_their_bound(example):
    start = example.start()
    assert refusal(example.problem(), *start, method="bagdc", alpha=-1.0, beta=0.1).startswith("bagdc: alpha = -1")
    assert "expected" in refusal(example.problem(), *start, iterations="many")
    assert "iterations = 2.5" in refusal(example.problem(), *start, iterations=2.5)
    assert refusal(example.problem(), *start, every=0) == "every = 0, expected a whole number >= 1"
    assert "given twice" in refusal(example.problem(), *start, method="bagdc:alpha=0.1", alpha=0.2)


def test_bounds_that_are_none(example):
    start = example.start()
    assert refusal(example.problem(), *start, bounds=3).startswith("bounds: expected a pair")
    assert "shape (2,)" in refusal(example.problem(), *start, bounds=(numpy.zeros(2), None))
    assert (
        refusal(example.problem(), *start, bounds=(3.0, 4.0)) == "start: x[0] = 2, expected at least its lower bound 3"
    )
    assert refusal(example.problem(), *start, bounds=(4.0, 3.0)) == (
        "bounds: lower[0] = 4 and upper[0] = 3, expected lower <= upper"
    )
    assert refusal(duplex.problem("ridge"), bounds=(0.0, 1.0)).startswith("bounds: of a problem by name")


def test_a_problem_without_second_derivatives_and_a_method_that_aggregates(example):
    lower, upper = example.functions()
    upper = {name: upper[name] for name in ("value", "grad_x", "grad_y")}
    sentence = refusal(duplex.Problem(lower, upper), *example.start(), method="bda")
    assert sentence.startswith("bda: the problem lacks upper().hess_yy(v, out)")


def test_a_metric_that_does_not_exist_on_the_problem(example):
    with pytest.raises(duplex.NotAvailable, match="this problem's answer is not known"):
        duplex.minimize(example.problem(), *example.start(), metrics=["x-error"])


def test_batches_of_a_problem_that_draws_none(example):
    assert "draws no batches" in refusal(example.problem(), *example.start(), method="soba", alpha=0.1, batch=4)
