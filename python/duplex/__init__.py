"""Duplex: bilevel optimization, min F(x, y) over x where y minimizes f(x, ·).

- `minimize`, `check` and `race` solve problems, of your own or of the catalog (`problem`)
- `HyperCleaner` and `find_label_issues` find labels that look wrong
- `duplex.torch.minimize` takes losses on PyTorch's tensors

docs/python.md has the whole story.
"""
from . import _core
from ._catalog import METRICS, NamedProblem, methods, options, problem, problems
from ._core import InvalidInput, NotAvailable, OutOfMemory
from ._minimize import CheckReport, check, minimize
from ._problem import Level, Point, Problem
from ._race import Race, race
from ._result import Result

__version__ = _core.version

__all__ = [
    "METRICS",
    "CheckReport",
    "HyperCleaner",
    "InvalidInput",
    "Level",
    "NamedProblem",
    "NotAvailable",
    "OutOfMemory",
    "Point",
    "Problem",
    "Race",
    "Result",
    "check",
    "find_label_issues",
    "methods",
    "minimize",
    "options",
    "problem",
    "problems",
    "race",
]

_LATE = {"HyperCleaner": "_cleaner", "find_label_issues": "_cleaner", "torch": "torch"}


def __getattr__(name):
    """What needs scikit-learn or PyTorch is loaded when it is first asked for."""
    if name not in _LATE:
        raise AttributeError(f"module 'duplex' has no attribute '{name}'")
    import importlib

    module = importlib.import_module(f"duplex.{_LATE[name]}")
    return module if name == _LATE[name] else getattr(module, name)


def __dir__():
    return sorted([*globals(), *_LATE])
