from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional, Union

from numpy import float64
from numpy.typing import NDArray

from . import Bounds, CheckReport, Result

class ModuleAt:
    def __init__(self, module: Any, tensors: Sequence[Any]) -> None: ...
    def __call__(self, *arguments: Any, **named: Any) -> Any: ...
    def parameters(self) -> Iterator[Any]: ...
    def named_parameters(self) -> Iterator[tuple[str, Any]]: ...

class Problem:
    bounds: Optional[Bounds]
    def __init__(
        self,
        lower: Callable[[Any, Any], Any],
        upper: Callable[[Any, Any], Any],
        x: Any,
        y: Any,
        *,
        bounds: Optional[Bounds] = ...,
    ) -> None: ...
    def lower(self) -> Any: ...
    def upper(self) -> Any: ...
    def start(self) -> tuple[NDArray[float64], NDArray[float64]]: ...

def minimize(
    lower: Callable[[Any, Any], Any],
    upper: Callable[[Any, Any], Any],
    x: Any,
    y: Any,
    method: str = ...,
    *,
    bounds: Optional[Bounds] = ...,
    **options: Any,
) -> Result: ...
def check(
    lower: Callable[[Any, Any], Any], upper: Callable[[Any, Any], Any], x: Any, y: Any, **options: Any
) -> CheckReport: ...
