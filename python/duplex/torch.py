"""Bilevel problems from losses on PyTorch's tensors, with derivatives by its autograd.

    result = duplex.torch.minimize(lower, upper, x, y)

`lower(x, y)` and `upper(x, y)` give losses as tensors of one number; x and y are tensors, lists of them, or modules.
Any PyTorch from 1.13 on will do, on CPU or CUDA.
"""
import numpy
import torch

from ._core import InvalidInput
from ._minimize import check as _check
from ._minimize import minimize as _minimize_problem


try:
    from torch.func import functional_call as _call_module
except ImportError:  # before PyTorch 2
    from torch.nn.utils.stateless import functional_call as _call_module


class ModuleAt:
    """A module with other tensors in the place of its parameters: what a loss is given of a module."""

    def __init__(self, module, tensors):
        self._module = module
        self._tensors = dict(zip((name for name, _ in module.named_parameters()), tensors))

    def __call__(self, *arguments, **named):
        return _call_module(self._module, self._tensors, arguments, named)

    def parameters(self):
        """The tensors, in the order of the module's parameters."""
        return iter(self._tensors.values())

    def named_parameters(self):
        """The tensors with their names."""
        return iter(self._tensors.items())


class _Variables:
    """Tensors as parts of one vector of doubles.

    On the CPU in double precision they are views of the engine's own array, so that moving them costs nothing; others
    are copied to and fro, in one piece.
    """

    def __init__(self, given, name):
        self.module = given if isinstance(given, torch.nn.Module) else None
        self.is_single = isinstance(given, torch.Tensor)
        self.given = list(given.parameters()) if self.module is not None else [given] if self.is_single else list(given)
        self.name = name
        _require_tensors(self.given, name)
        self.dtype = self.given[0].dtype
        self.device = self.given[0].device
        self.shapes = [tensor.shape for tensor in self.given]
        self.sizes = [tensor.numel() for tensor in self.given]
        self.size = sum(self.sizes)
        self.is_shared = self.device.type == "cpu" and self.dtype == torch.float64
        self.converted = (None, None)  # a vector and its tensors: both levels mostly stand at one point

    def numbers(self):
        """A copy, as one vector."""
        return self.flat(self.given).copy()

    def flat(self, tensors):
        """Tensors of these shapes as one vector of NumPy's."""
        if len(tensors) == 1:
            vector = tensors[0].detach().reshape(-1)
        else:
            vector = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        return vector.to(device="cpu", dtype=torch.float64).numpy()

    def of(self, array):
        """Tensors with the entries of a vector: views of it where they are shared."""
        vector = torch.from_numpy(array)
        if not self.is_shared:
            vector = vector.to(device=self.device, dtype=self.dtype)
        return [part.view(shape) for part, shape in zip(vector.split(self.sizes), self.shapes)]

    def leaves_of(self, array):
        """Tensors with the entries of a vector, by which losses can be differentiated."""
        if self.is_shared:
            return [part.requires_grad_() for part in self.of(array)]
        vector, tensors = self.converted
        if vector is None or not numpy.array_equal(vector, array):
            tensors = self.of(array)
            self.converted = (array.copy(), tensors)
        return [part.detach().requires_grad_() for part in tensors]

    def as_given(self, tensors):
        """As the losses take them."""
        if self.module is not None:
            return ModuleAt(self.module, tensors)
        return tensors[0] if self.is_single else tensors

    def write(self, array):
        """Moves the tensors, or parameters, that were given."""
        with torch.no_grad():
            for tensor, part in zip(self.given, self.of(numpy.array(array))):
                tensor.copy_(part)


def _require_tensors(tensors, name):
    if not tensors:
        raise InvalidInput(f"{name}: found no tensors, expected at least one")
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise InvalidInput(
                f"{name}: found {type(tensor).__name__}, expected a tensor, a list of tensors or a module"
            )
        if not tensor.is_floating_point():
            raise InvalidInput(f"{name}: found a tensor of {tensor.dtype}, expected one of floating point numbers")
        if tensor.device != tensors[0].device or tensor.dtype != tensors[0].dtype:
            raise InvalidInput(f"{name}: tensors on several devices or of several types, expected one of each")


class _Loss:
    """A level: the loss at a point, its gradients and products, with the graph of this point alone."""

    def __init__(self, function, name, x, y):
        self.function = function
        self.name = name
        self.variables = (x, y)
        self.leaves = None
        self.shared = None
        self.forget()

    def forget(self):
        """What was computed at the point before."""
        self.loss = None
        self.slope_y = None

    def at(self, x, y):
        """Where the engine's arrays say; they are the same ones at every point."""
        self.forget()
        self.arrays = (x, y)
        if self.leaves is None or not all(variables.is_shared for variables in self.variables):
            self.leaves = [variables.leaves_of(array) for variables, array in zip(self.variables, (x, y))]

    def value(self):
        """The loss."""
        return float(self._loss().detach())

    def grad_x(self):
        """Its gradient in x."""
        return self.variables[0].flat(self._slope(0, keep=False))

    def grad_y(self):
        """Its gradient in y, whose graph products are taken from."""
        return self.variables[1].flat(self._slope_y())

    def hess_yy(self, v):
        """The second derivative in y times v."""
        return self.variables[1].flat(self._products(v, self.leaves[1]))

    def cross_xy(self, v):
        """The derivative in x of the gradient in y times v."""
        return self.variables[0].flat(self._products(v, self.leaves[0]))

    def both_products(self, v):
        """Both in one pass."""
        found = self._products(v, [*self.leaves[1], *self.leaves[0]])
        count = len(self.leaves[1])
        return self.variables[1].flat(found[:count]), self.variables[0].flat(found[count:])

    def _loss(self):
        if self.loss is None:
            with torch.enable_grad():
                loss = self.function(*[v.as_given(leaves) for v, leaves in zip(self.variables, self.leaves)])
            if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
                found = tuple(loss.shape) if isinstance(loss, torch.Tensor) else type(loss).__name__
                raise InvalidInput(f"{self.name}: returned {found}, expected a tensor of one number")
            self.loss = loss.reshape(())
        return self.loss

    def _derivative(self, of, to, weights, keep, again):
        """By autograd, with zeros where a tensor is not felt."""
        if not of[0].requires_grad:
            return [torch.zeros_like(tensor) for tensor in to]
        found = torch.autograd.grad(of, to, weights, retain_graph=keep, create_graph=again, allow_unused=True)
        return [torch.zeros_like(tensor) if part is None else part for part, tensor in zip(found, to)]

    def _slope(self, which, keep):
        return self._derivative([self._loss()], self.leaves[which], None, True, keep)

    def _slope_y(self):
        if self.slope_y is None:
            self.slope_y = self._slope(1, keep=True)
        return self.slope_y

    def _products(self, v, to):
        slope = [part for part in self._slope_y()]
        weights = self.variables[1].of(v)
        felt = [(part, weight) for part, weight in zip(slope, weights) if part.requires_grad]
        if not felt:
            return [torch.zeros_like(tensor) for tensor in to]
        return self._derivative([part for part, _ in felt], to, [weight for _, weight in felt], True, False)


class _UpperLoss(_Loss):
    """An upper level: both gradients in one pass."""

    def forget(self):
        super().forget()
        self.slopes = None

    def _slopes(self):
        if self.slopes is None:
            count = len(self.leaves[0])
            found = self._derivative([self._loss()], [*self.leaves[0], *self.leaves[1]], None, True, False)
            self.slopes = (found[:count], found[count:])
        return self.slopes

    def grad_x(self):
        return self.variables[0].flat(self._slopes()[0])

    def grad_y(self):
        return self.variables[1].flat(self._slopes()[1])


class Problem:
    """A problem from two losses on tensors, for `duplex.minimize`, `duplex.check` and `duplex.race`.

    x and y are where it starts. `bounds` are those of `duplex.Problem`, for x as one vector.
    """

    writable_point = True

    def __init__(self, lower, upper, x, y, *, bounds=None):
        self._losses = (lower, upper)
        self.x = _Variables(x, "x")
        self.y = _Variables(y, "y")
        self.bounds = bounds

    def lower(self):
        """An evaluation of the lower level."""
        return _Loss(self._losses[0], "lower", self.x, self.y)

    def upper(self):
        """An evaluation of the upper level."""
        return _UpperLoss(self._losses[1], "upper", self.x, self.y)

    def start(self):
        """x and y as they are now, as vectors."""
        return self.x.numbers(), self.y.numbers()


def minimize(lower, upper, x, y, method="automatic", *, bounds=None, **options):
    """Minimizes upper(x, y) over x, where y minimizes lower(x, ·), and moves x and y there.

    `lower` and `upper` take x and y as they are given, tensors or lists of them, and return a loss; in the place of a
    module they are given one that may be called alike (`ModuleAt`). All else is as in `duplex.minimize`. The result's
    `x` and `y` are vectors; the tensors, or the parameters of the modules, that were given hold the same.
    """
    problem = Problem(lower, upper, x, y, bounds=bounds)
    result = _minimize_problem(problem, method=method, **options)
    problem.x.write(result.x)
    problem.y.write(result.y)
    return result


def check(lower, upper, x, y, **options):
    """Compares the derivatives of both losses with finite differences, as `duplex.check` does."""
    return _check(Problem(lower, upper, x, y), **options)
