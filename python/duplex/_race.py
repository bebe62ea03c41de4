"""A race of methods on one problem."""
import numpy

from . import _core
from ._core import InvalidInput, NotAvailable
from ._minimize import run
from ._result import Result

_COLUMNS = (
    "method",
    "termination",
    "seconds",
    "steps",
    "gradients",
    "hessian_products",
    "cross_products",
    "direction_norm",
    "hypergradient",
    "x_error",
    "phi_gap",
)


class Race:
    """What `duplex.race` has found: `results`, one `Result` for each method, and `arrival`, by which runs ended.

    It prints as a table; `rows()` is a list of dicts, `to_frame()` a pandas DataFrame, and `plot()` a figure.
    `hypergradient`, `x_error` and `phi_gap` are the truth at where a run ended, with y*(x) solved anew.
    """

    def __init__(self, results, arrival, metric):
        self.results = results
        self.arrival = arrival
        self.metric = metric

    def rows(self):
        """A dict for each method."""
        return [_row(result) for result in self.results]

    def to_frame(self):
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=_COLUMNS).set_index("method")

    def plot(self, axes=None):
        """What was measured over the run's clock, a curve for each method; returns matplotlib's axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        for result in self.results:
            values = result.trace.get(self.metric, result.trace["direction_norm"])
            axes.loglog(result.trace["seconds"], values, label=result.spec)
        axes.set_xlabel("seconds")
        axes.set_ylabel(self.metric)
        axes.legend()
        return axes

    def __repr__(self):
        cells = [_COLUMNS, *[tuple(_cell(row[name]) for name in _COLUMNS) for row in self.rows()]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(_COLUMNS))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        return "\n".join([f"arrival: {self.arrival}", *lines])


def _cell(value):
    if isinstance(value, float):
        return f"{value:.3g}" if numpy.isfinite(value) else "-"
    return str(value)


def _row(result):
    truth = {name: result.metrics.get(f"true-{name}", numpy.nan) for name in ("hypergradient", "x-error", "phi-gap")}
    return {
        "method": result.spec,
        "termination": result.termination,
        "seconds": result.seconds,
        "steps": result.nit,
        "gradients": result.counters["gradients"],
        "hessian_products": result.counters["hessian_products"],
        "cross_products": result.counters["cross_products"],
        "direction_norm": result.direction_norm,
        "hypergradient": truth["hypergradient"],
        "x_error": truth["x-error"],
        "phi_gap": truth["phi-gap"],
    }


def _options_of(spec, options, run_names):
    """Those of the options that the run or this method has."""
    own = {option["name"] for option in _core.options_of_method(spec)}
    return {name: value for name, value in options.items() if name in run_names or name in own}


def _refuse_unknown(options, specs, run_names):
    known = set(run_names)
    for spec in specs:
        known.update(option["name"] for option in _core.options_of_method(spec))
    for name in options:
        if name not in known:
            raise InvalidInput(_core.unknown_name("option", name, sorted(known)))


def race(
    problem, methods=None, x0=None, y0=None, *, bounds=None, target=None, seconds=10.0, batch=0, threads=0, **options
):
    """Runs methods on one problem from one start, and says what each cost and where it really ended.

    `methods` are names, as "bagdc:alpha=0.1:beta=0.2"; None takes all, with the steps .1, .2 and 1 where a method has
    none of its own. Each has `seconds` on its clock. A run arrives at the `target`, a pair of a metric and a value, or
    at a tolerance among the `options`, or else where its own direction is at most 1e-6 long. Options go to the run and
    to every method that has them. Returns a `Race`.
    """
    specs = [entry["name"] for entry in _core.methods()] if methods is None else list(methods)
    run_names = {option["name"] for option in _core.run_options()}
    _refuse_unknown(options, specs, run_names)
    metric = "direction"
    if target is not None:
        metric = target[0]
        arrival = f"{target[0]} <= {target[1]:g}"
    elif any(name.endswith("tolerance") for name in options):
        arrival = "at the tolerance that was given"
    else:
        options = {"direction_tolerance": 1e-6, **options}
        arrival = "‖d‖ <= 1e-6, by a method's own word"
    results = []
    for spec in specs:
        chosen = {"iterations": 10**12, **_options_of(spec, options, run_names), "seconds": seconds}
        request = {
            "method": spec,
            "v0": None,
            "metrics": [],
            "target": target,
            "every": 1,
            "held_out_patience": 0,
            "callback": None,
            "batch": 0 if _core.chooses_its_steps(spec) else batch,
            "seed": None,
            "out": None,
            "resume": None,
            "save_every": 10.0,
            "threads": threads,
            "options": chosen,
        }
        result = _run_or_fail(problem, x0, y0, request, bounds, methods is None)
        result["spec"] = spec
        results.append(result)
    return Race(results, arrival, metric)


def _run_or_fail(problem, x0, y0, request, bounds, usual_steps):
    """Where the problem lacks what a method or a metric needs, a run that failed."""
    try:
        return run(problem, x0, y0, request, bounds=bounds, usual_steps=usual_steps, truth=True)
    except (NotAvailable, InvalidInput) as reason:
        if isinstance(reason, InvalidInput) and "the problem lacks" not in str(reason):
            raise
        return Result(
            termination="step failed",
            message=str(reason),
            success=False,
            failed=True,
            seconds=numpy.nan,
            nit=0,
            direction_norm=numpy.nan,
            counters={"gradients": 0, "hessian_products": 0, "cross_products": 0},
            metrics={},
            trace={"seconds": numpy.empty(0), "direction_norm": numpy.empty(0)},
        )
