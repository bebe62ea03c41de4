"""Runs: duplex.minimize and duplex.check."""
import threading
import warnings

from . import _core
from ._core import InvalidInput
from ._problem import source_of
from ._result import Result

_OWN_NAMES = [
    "x0",
    "y0",
    "v0",
    "method",
    "bounds",
    "metrics",
    "target",
    "every",
    "held_out_patience",
    "callback",
    "batch",
    "seed",
    "out",
    "resume",
    "save_every",
    "threads",
]


def minimize(
    problem,
    x0=None,
    y0=None,
    method="automatic",
    *,
    v0=None,
    bounds=None,
    metrics=(),
    target=None,
    every=1,
    held_out_patience=0,
    callback=None,
    batch=0,
    seed=None,
    out=None,
    resume=None,
    save_every=10.0,
    threads=0,
    **options,
):
    """Minimizes F(x, y) over x, where y minimizes f(x, ·), from x0 and y0.

    `problem` is a `duplex.Problem`, a `duplex.problem(name)`, or an object whose `lower()` and `upper()` make
    evaluations (docs/python.md). A problem that has a start of its own needs no x0 and y0.

    `method` is the name of a method, as "bagdc" or "rhg:inner=20"; `duplex.methods()` lists them. All further
    `options` are the method's or the run's, such as alpha=0.1, iterations=500, seconds=10, direction_tolerance=1e-6;
    `duplex.options(method)` lists them. Without a method, one that needs no step sizes runs to its own tolerance.

    - `v0`: the multiplier to begin with, zero unless given
    - `bounds`: a pair of what x is at least and at most, numbers or arrays, None where there is no bound
    - `metrics`: names of what to measure on the way, of `duplex.METRICS`; `every` so many steps
    - `target`: a pair of a metric and a value, at which the run stops
    - `held_out_patience`: stop once the loss on held-out samples has not fallen for so many measurements
    - `callback(progress)`: called at every measurement with a dict of iteration, seconds, x, y, v, direction_norm and
      metrics; a true answer, or StopIteration, ends the run
    - `batch`: each step on so many samples of each level, of a problem by name that is a sum over samples, drawn by
      `seed`
    - `threads`: how many the engine takes; 0: as many as are useful
    - `out`: a folder for a checkpoint every `save_every` seconds and for results; `resume` goes on from such a folder

    Returns a `Result`. An exception that a function of the problem raises goes on as it is; its attribute `result`,
    and that of a KeyboardInterrupt, says where the run was.
    """
    return run(
        problem,
        x0,
        y0,
        {
            "method": None if resume is not None and method == "automatic" else method,
            "v0": v0,
            "metrics": [metrics] if isinstance(metrics, str) else list(metrics),
            "target": target,
            "every": every,
            "held_out_patience": held_out_patience,
            "callback": callback,
            "batch": batch,
            "seed": seed,
            "out": None if out is None else str(out),
            "resume": None if resume is None else str(resume),
            "save_every": float(save_every),
            "threads": threads,
            "options": options,
        },
        bounds=bounds,
    )


def run(problem, x0, y0, request, *, bounds=None, usual_steps=False, truth=False):
    """A run as the request says, on whatever is a problem."""
    if request["out"] is not None and request["resume"] is not None:
        raise InvalidInput("out beside resume: a run that goes on stays in its folder, expected one of the two")
    source, x0, y0 = source_of(problem, x0, y0, bounds)
    request = {
        **request,
        "x0": x0,
        "y0": y0,
        "own_names": _OWN_NAMES,
        "usual_steps": usual_steps,
        "truth": truth,
        "is_main": threading.current_thread() is threading.main_thread(),
    }
    outcome = _core.minimize(source, request)
    for message in outcome["messages"]:
        warnings.warn(message, stacklevel=4)
    result = None
    if outcome["result"] is not None:
        result = Result(outcome["result"])
        result["fun"] = outcome["fun"]
        result["message"] = result["message"] or result.pop("brief")
        result.pop("brief", None)
    if outcome["error"] is not None:
        if result is not None:
            result["message"] = f"{type(outcome['error']).__name__} ended the run at step {result['nit'] + 1}"
        raise _with_result(outcome["error"], result)
    return result


def _with_result(error, result):
    try:
        error.result = result
    except AttributeError:  # it has no room for one
        pass
    return error


class CheckReport:
    """What `duplex.check` has found: `passes`, `is_wrong`, `tolerance`, and `rows`, one for each derivative."""

    def __init__(self, found):
        self.passes = found["passes"]
        self.is_wrong = found["is_wrong"]
        self.tolerance = found["tolerance"]
        self.rows = found["rows"]
        self._table = found["table"]

    def __bool__(self):
        return self.passes

    def __repr__(self):
        return self._table.rstrip("\n")


def check(problem, x0=None, y0=None, *, v0=None, bounds=None, points=3, spread=1.0, tolerance=0.0, seed=0):
    """Compares every derivative of a problem, and the hypergradient, with finite differences around a start.

    At `points` random points that lie up to `spread` away in units of the entries; `tolerance` is the relative error
    that is allowed besides that of differences (0: 1e-6). Returns a `CheckReport`, which is true where all is right.
    """
    source, x0, y0 = source_of(problem, x0, y0, bounds)
    request = {"x0": x0, "y0": y0, "v0": v0, "points": points, "spread": spread, "tolerance": tolerance, "seed": seed}
    return CheckReport(_core.check(source, request))
