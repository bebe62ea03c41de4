"""What the tests share: small problems whose answers are known."""
import numpy
import pytest

import duplex


class CounterExample:
    """F = ½‖x − z₀‖² + ½yᵀAy, f = ½yᵀAy − xᵀy with A = diag(a), whose answer is x* = a/(a + 1)·z₀."""

    def __init__(self, n=5):
        self.a = numpy.linspace(1.0, 2.0, n)
        self.z0 = numpy.ones(n)

    def answer(self):
        return self.a / (self.a + 1.0) * self.z0

    def functions(self):
        """The lower and the upper level, as dicts of functions."""
        a, z0 = self.a, self.z0
        lower = {
            "value": lambda x, y: 0.5 * y @ (a * y) - x @ y,
            "grad_y": lambda x, y: a * y - x,
            "grad_x": lambda x, y: -y,
            "hess_yy": lambda x, y, v: a * v,
            "cross_xy": lambda x, y, v: -v,
        }
        upper = {
            "value": lambda x, y: 0.5 * (x - z0) @ (x - z0) + 0.5 * y @ (a * y),
            "grad_x": lambda x, y: x - z0,
            "grad_y": lambda x, y: a * y,
            "hess_yy": lambda x, y, v: a * v,
            "cross_xy": lambda x, y, v: numpy.zeros_like(x),
        }
        return lower, upper

    def problem(self, **changed):
        """With other functions of the lower level in the place of its own."""
        lower, upper = self.functions()
        return duplex.Problem({**lower, **changed}, upper)

    def start(self):
        return numpy.full(self.a.size, 2.0), numpy.full(self.a.size, 2.0)


@pytest.fixture
def example():
    return CounterExample()


@pytest.fixture
def noisy():
    """Rows of three classes, a fifth of their labels wrong: X, given labels, right labels, which are wrong."""
    generator = numpy.random.default_rng(7)
    right = generator.integers(0, 3, 300)
    centers = 3.0 * numpy.eye(3, 4)
    X = centers[right] + generator.normal(size=(300, 4))
    wrong = numpy.zeros(300, dtype=bool)
    wrong[60:] = generator.random(240) < 0.2
    given = numpy.where(wrong, (right + 1) % 3, right)
    return X, given, right, wrong
