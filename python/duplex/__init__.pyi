from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Optional, Union

from numpy import bool_, float64, ndarray
from numpy.typing import ArrayLike, NDArray

from . import torch as torch

__version__: str
METRICS: tuple[str, ...]

Vector = NDArray[float64]
Bounds = tuple[Optional[ArrayLike], Optional[ArrayLike]]

class InvalidInput(ValueError): ...
class NotAvailable(RuntimeError): ...
class OutOfMemory(MemoryError): ...

class Point:
    x: Vector
    y: Vector
    def at(self, x: Vector, y: Vector) -> None: ...

class Level:
    def __init__(
        self,
        value: Callable[..., float],
        grad_y: Callable[..., Any],
        *,
        grad_x: Optional[Callable[..., Any]] = ...,
        hess_yy: Optional[Callable[..., Any]] = ...,
        cross_xy: Optional[Callable[..., Any]] = ...,
        both_products: Optional[Callable[..., Any]] = ...,
        precondition: Optional[Callable[..., Any]] = ...,
        solve_lower: Optional[Callable[..., Any]] = ...,
    ) -> None: ...

class Problem:
    def __init__(
        self,
        lower: Union[Level, Mapping[str, Callable[..., Any]]],
        upper: Union[Level, Mapping[str, Callable[..., Any]]],
        *,
        bounds: Optional[Bounds] = ...,
        x_scale: Optional[ArrayLike] = ...,
        y_scale: Optional[ArrayLike] = ...,
        upper_scale: float = ...,
        held_out: Optional[Callable[[Vector, Vector], float]] = ...,
    ) -> None: ...

class NamedProblem:
    name: str
    remarks: tuple[str, ...]
    def start(self) -> tuple[Vector, Vector]: ...
    def answer(self) -> Optional[Result]: ...
    def evaluate(self, x: ArrayLike, y: ArrayLike, v: Optional[ArrayLike] = ...) -> Result: ...

class Result(dict[str, Any]):
    x: Vector
    y: Vector
    v: Vector
    fun: Optional[float]
    success: bool
    failed: bool
    termination: str
    status: int
    message: str
    explanation: str
    method: str
    spec: str
    nit: int
    seconds: float
    direction_norm: float
    recoveries: list[str]
    counters: dict[str, float]
    metrics: dict[str, float]
    trace: dict[str, ndarray[Any, Any]]
    def __getattr__(self, name: str) -> Any: ...

class CheckReport:
    passes: bool
    is_wrong: bool
    tolerance: float
    rows: list[dict[str, Any]]
    def __bool__(self) -> bool: ...

class Race:
    results: list[Result]
    arrival: str
    metric: str
    def rows(self) -> list[dict[str, Any]]: ...
    def to_frame(self) -> Any: ...
    def plot(self, axes: Any = ...) -> Any: ...

class HyperCleaner:
    trust_: Vector
    suggested_: ndarray[Any, Any]
    is_suspect_: NDArray[bool_]
    expected_wrong_: float
    warnings_: list[tuple[str, str]]
    summary_: dict[str, Any]
    classes_: ndarray[Any, Any]
    n_features_in_: int
    feature_names_in_: ndarray[Any, Any]
    def __init__(
        self,
        model: str = ...,
        *,
        rounds: int = ...,
        threshold: float = ...,
        storage: str = ...,
        threads: int = ...,
        random_state: Any = ...,
        verbose: bool = ...,
    ) -> None: ...
    def fit(
        self,
        X: Any,
        y: Any,
        X_trusted: Any = ...,
        y_trusted: Any = ...,
        *,
        trusted: Optional[ArrayLike] = ...,
        sources: Optional[Sequence[Any]] = ...,
        pred_probs: Optional[ArrayLike] = ...,
        trusted_pred_probs: Optional[ArrayLike] = ...,
        ids: Optional[Iterable[Any]] = ...,
    ) -> HyperCleaner: ...
    def predict(self, X: Any) -> ndarray[Any, Any]: ...
    def predict_proba(self, X: Any) -> Vector: ...
    def report(self, path: Union[str, PathLike[str]]) -> str: ...
    def save(self, folder: Union[str, PathLike[str]]) -> None: ...
    @property
    def suspects_(self) -> Any: ...

def find_label_issues(
    X: Any,
    y: Any,
    X_trusted: Any = ...,
    y_trusted: Any = ...,
    *,
    trusted: Optional[ArrayLike] = ...,
    sources: Optional[Sequence[Any]] = ...,
    pred_probs: Optional[ArrayLike] = ...,
    trusted_pred_probs: Optional[ArrayLike] = ...,
    ids: Optional[Iterable[Any]] = ...,
    **parameters: Any,
) -> Any: ...
def minimize(
    problem: Any,
    x0: Optional[ArrayLike] = ...,
    y0: Optional[ArrayLike] = ...,
    method: str = ...,
    *,
    v0: Optional[ArrayLike] = ...,
    bounds: Optional[Bounds] = ...,
    metrics: Union[str, Sequence[str]] = ...,
    target: Optional[tuple[str, float]] = ...,
    every: int = ...,
    held_out_patience: int = ...,
    callback: Optional[Callable[[dict[str, Any]], Any]] = ...,
    batch: int = ...,
    seed: Optional[int] = ...,
    out: Optional[Union[str, PathLike[str]]] = ...,
    resume: Optional[Union[str, PathLike[str]]] = ...,
    save_every: float = ...,
    threads: int = ...,
    **options: Any,
) -> Result: ...
def check(
    problem: Any,
    x0: Optional[ArrayLike] = ...,
    y0: Optional[ArrayLike] = ...,
    *,
    v0: Optional[ArrayLike] = ...,
    bounds: Optional[Bounds] = ...,
    points: int = ...,
    spread: float = ...,
    tolerance: float = ...,
    seed: int = ...,
) -> CheckReport: ...
def race(
    problem: Any,
    methods: Optional[Sequence[str]] = ...,
    x0: Optional[ArrayLike] = ...,
    y0: Optional[ArrayLike] = ...,
    *,
    bounds: Optional[Bounds] = ...,
    target: Optional[tuple[str, float]] = ...,
    seconds: float = ...,
    batch: int = ...,
    threads: int = ...,
    **options: Any,
) -> Race: ...
def methods() -> dict[str, str]: ...
def problems() -> dict[str, str]: ...
def options(name: Optional[str] = ...) -> list[dict[str, str]]: ...
def problem(name: str, **options: Any) -> NamedProblem: ...
