"""Problems that are written in Python, as the engine takes them."""
import inspect

import numpy

from . import _core
from ._core import InvalidInput

_GIVEN = {
    "at": 2,
    "value": 0,
    "grad_x": 0,
    "grad_y": 0,
    "hess_yy": 1,
    "cross_xy": 1,
    "both_products": 1,
    "precondition": 1,
    "solve_lower": 1,
}
_WRITES = {"grad_x", "grad_y", "hess_yy", "cross_xy", "precondition", "solve_lower"}
_MEANING = {
    "value": "its loss",
    "grad_x": "its gradient in x",
    "grad_y": "its gradient in y",
    "hess_yy": "its second derivative in y times v",
    "cross_xy": "the derivative in x of its gradient in y times v",
}


class Point:
    """A base for evaluations: keeps where it stands as `self.x` and `self.y`.

    An evaluation is moved to a point by `at(x, y)` and then asked for the loss and its derivatives there. It owns the
    two arrays, whose entries change from point to point; keep a copy of what is to stay.
    """

    def at(self, x, y):
        """Moves the evaluation to a point. Override it to forget what was computed at the point before."""
        self.x = x
        self.y = y


class Level:
    """A level of a problem from functions of x and y.

    Each function takes the arrays x and y, those of products the direction v besides, and returns an array, or writes
    into an array `out` that is its last argument:

    - `value(x, y)`, `grad_x(x, y)`, `grad_y(x, y)`
    - `hess_yy(x, y, v)`: the second derivative in y times v
    - `cross_xy(x, y, v)`: the derivative in x of the gradient in y times v
    - `both_products(x, y, v)`: both as a tuple, where they share work
    - `precondition(x, y, v)`, `solve_lower(x, y, b)`: of a lower level, about the inverse of the second derivative, or
      it exactly

    A lower level needs `value`, `grad_y` and either both products or `grad_x`; an upper level needs `value`, `grad_x`
    and `grad_y`.
    """

    def __init__(
        self,
        value,
        grad_y,
        *,
        grad_x=None,
        hess_yy=None,
        cross_xy=None,
        both_products=None,
        precondition=None,
        solve_lower=None,
    ):
        self.value = value
        self.grad_x = grad_x
        self.grad_y = grad_y
        self.hess_yy = hess_yy
        self.cross_xy = cross_xy
        self.both_products = both_products
        self.precondition = precondition
        self.solve_lower = solve_lower


class Problem:
    """min F(x, y) over x, where y minimizes f(x, ·), from functions of both levels.

    `lower` and `upper` are a `Level` each, or a dict of its arguments. `bounds` is a pair of what x is at least and at
    most, numbers or arrays, None where there is no bound. `x_scale` and `y_scale` tell how large entries typically are,
    `upper_scale` which change of an entry of x matters, and `held_out(x, y)` the loss of the upper level on samples
    that neither level sees.
    """

    def __init__(self, lower, upper, *, bounds=None, x_scale=None, y_scale=None, upper_scale=0.0, held_out=None):
        self.lower = _as_level(lower, "lower")
        self.upper = _as_level(upper, "upper")
        self.bounds = bounds
        self.x_scale = x_scale
        self.y_scale = y_scale
        self.upper_scale = upper_scale
        self.held_out = held_out


def _as_level(given, name):
    if isinstance(given, Level):
        return given
    if isinstance(given, dict):
        return Level(**given)
    raise InvalidInput(f"{name}: found {type(given).__name__}, expected a duplex.Level or a dict of its functions")


def _takes_out(function, given, name):
    """Whether the function has one more parameter than what it is given: the array to write into."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # written in C, and says nothing of itself
        return False
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [parameter for parameter in parameters if parameter.kind in kinds]
    required = sum(parameter.default is parameter.empty for parameter in positional)
    if required == given + 1 or (len(positional) > given and positional[given].name == "out"):
        return True
    if required > given or len(positional) < given:
        raise InvalidInput(f"{name} takes {required} arguments, expected {given}, or {given + 1} with out at the end")
    return False


def _functions_of(holder, name, takes_point):
    """(function, takes out, takes x and y) of each member, in the order of the engine."""
    functions = []
    for member in _core.members:
        function = None if member == "at" else getattr(holder, member, None)
        if function is None:
            functions.append((None, False, False))
            continue
        if not callable(function):
            raise InvalidInput(f"{name}: {member} is {type(function).__name__}, expected a function")
        given = _GIVEN[member] + (2 if takes_point else 0)
        shown = f"{name}: {member}"
        functions.append((function, member in _WRITES and _takes_out(function, given, shown), takes_point))
    return functions


class _FromFunctions:
    """A level whose functions take x and y."""

    def __init__(self, level, name):
        self.functions = _functions_of(level, name, takes_point=True)

    def make(self, x, y):
        return self.functions


class _FromEvaluations:
    """A level whose evaluations know where they stand."""

    def __init__(self, make_evaluation, name):
        self.make_evaluation = make_evaluation
        self.name = name
        self.functions = _functions_of(make_evaluation(), name, takes_point=False)

    def make(self, x, y):
        evaluation = self.make_evaluation()
        functions = _functions_of(evaluation, self.name, takes_point=False)
        at = getattr(evaluation, "at", None)
        if at is None:
            raise InvalidInput(f"{self.name}() has no at(x, y), expected one, as duplex.Point has it")
        at(x, y)
        if type(evaluation).at is not Point.at:  # it forgets what it has computed
            functions[0] = (at, False, True)
        return functions


def _offered(functions):
    return sum(1 << place for place, (function, _, _) in enumerate(functions) if function is not None)


def _require(functions, name, members, besides=""):
    for member in members:
        if functions[_core.members.index(member)][0] is None:
            raise InvalidInput(f"{name} lacks {member}, {_MEANING[member]}{besides}")


def _require_members(lower, upper):
    has = {member for member, (function, _, _) in zip(_core.members, lower) if function is not None}
    if has & {"hess_yy", "cross_xy"} or "grad_x" not in has:
        _require(lower, "lower", ("value", "grad_y", "hess_yy", "cross_xy"), "; grad_x can stand for both products")
    else:
        _require(lower, "lower", ("value", "grad_y"))
    _require(upper, "upper", ("value", "grad_x", "grad_y"))


def _value_of(problem, name, default=None):
    """A member of a problem that may be a function or a value."""
    value = getattr(problem, name, default)
    return value() if callable(value) else value


def _bound(given, size, name):
    if given is None:
        return None
    try:
        return numpy.ascontiguousarray(numpy.broadcast_to(numpy.asarray(given, dtype=float), (size,)))
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name}: found an array of shape {numpy.shape(given)}, expected a number or an array of {size}"
        ) from None


def _bounds_of(problem, bounds, size):
    if bounds is None:
        bounds = getattr(problem, "bounds", None)
    if bounds is None:
        bounds = (_value_of(problem, "lower_bound"), _value_of(problem, "upper_bound"))
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise InvalidInput("bounds: expected a pair of what x is at least and at most, None for no bound") from None
    return _bound(low, size, "lower_bound"), _bound(high, size, "upper_bound")


def _start_of(problem, x0, y0):
    start = getattr(problem, "start", None)
    if (x0 is None or y0 is None) and start is not None:
        begin = tuple(start())
        x0 = begin[0] if x0 is None else x0
        y0 = begin[1] if y0 is None else y0
    if x0 is None or y0 is None:
        raise InvalidInput(f"{'x0' if x0 is None else 'y0'} is missing: the problem has no start() of its own")
    return x0, y0


def source_of(problem, x0, y0, bounds):
    """What the engine runs on, x0 and y0."""
    named = getattr(problem, "_source", None)
    if isinstance(named, _core.ProblemSource):
        if bounds is not None:
            raise InvalidInput("bounds: of a problem by name they are its options x_lower and x_upper")
        return named, x0, y0
    if isinstance(problem, Problem):
        lower, upper = _FromFunctions(problem.lower, "lower"), _FromFunctions(problem.upper, "upper")
    elif callable(getattr(problem, "lower", None)) and callable(getattr(problem, "upper", None)):
        lower, upper = _FromEvaluations(problem.lower, "lower"), _FromEvaluations(problem.upper, "upper")
    else:
        raise InvalidInput(
            f"found {type(problem).__name__}, expected a duplex.Problem, duplex.problem(name), or an object whose "
            "lower() and upper() make evaluations"
        )
    _require_members(lower.functions, upper.functions)
    x0, y0 = _start_of(problem, x0, y0)
    low, high = _bounds_of(problem, bounds, numpy.size(x0))
    told = {
        "lower": lower.make,
        "upper": upper.make,
        "of_lower": _offered(lower.functions),
        "of_upper": _offered(upper.functions),
        "x": x0,
        "y": y0,
        "lower_bound": low,
        "upper_bound": high,
        "x_scale": _value_of(problem, "x_scale"),
        "y_scale": _value_of(problem, "y_scale"),
        "upper_scale": float(_value_of(problem, "upper_scale", 0.0)),
        "held_out": getattr(problem, "held_out", None),
        "writable_point": getattr(problem, "writable_point", False),
    }
    return _core.ToldProblem(told), x0, y0
