"""Methods and problems by name, as the engine's catalog describes them."""
import numpy

from . import _core
from ._core import InvalidInput
from ._result import Result

METRICS = tuple(_core.metrics)


class NamedProblem:
    """A problem of the catalog, which runs at the speed of C++: made by `duplex.problem(name)`."""

    def __init__(self, name, options):
        self._source = _core.NamedProblem(name, options)
        self.name = name
        self.remarks = tuple(self._source.remarks())

    def start(self):
        """x and y that the problem begins with."""
        begin = self._source.start()
        return begin["x"], begin["y"]

    def answer(self):
        """The solution, with x, y, v and value; None where it is not known."""
        known = self._source.answer()
        return None if known is None else Result(known)

    def evaluate(self, x, y, v=None):
        """Both levels at a point: `lower` and `upper`, dicts of value, grad_x, grad_y, hess_yy and cross_xy of v."""
        return Result({name: Result(level) for name, level in self._source.evaluate(x, y, v).items()})

    def __repr__(self):
        x, y = self.start()
        return f"<duplex problem {self.name}: x of {numpy.size(x)}, y of {numpy.size(y)}>"


def problem(name, **options):
    """A problem of the catalog by its name, with options, as duplex.problem("ridge", features=50).

    `duplex.problems()` lists them, and `duplex.options("ridge")` their options.
    """
    return NamedProblem(name, options)


def methods():
    """Every method: a dict of its name and what it is."""
    return {entry["name"]: entry["title"] for entry in _core.methods()}


def problems():
    """Every problem of the catalog: a dict of its name and what it is."""
    return {entry["name"]: entry["title"] for entry in _core.problems()}


def options(name=None):
    """The options of a method or a problem, or of every run where no name is given: a list of dicts."""
    if name is None:
        return _core.run_options()
    entries = {entry["name"]: entry for entry in [*_core.methods(), *_core.problems()]}
    if name not in entries:
        raise InvalidInput(_core.unknown_name("method or problem", str(name), sorted(entries)))
    return entries[name]["options"]
