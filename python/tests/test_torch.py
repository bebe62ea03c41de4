"""Losses on PyTorch's tensors, beside the same problems in C++."""
import gc

import numpy
import pytest

import duplex

torch = pytest.importorskip("torch")

double = {"dtype": torch.float64}


def tensor(values):
    return torch.tensor(numpy.asarray(values), **double)


def counter_example(n):
    """The problem of the catalog with A = I, as losses."""
    z0 = torch.ones(n, **double)
    return (
        lambda x, y: 0.5 * (y * y).sum() - (x * y).sum(),
        lambda x, y: 0.5 * ((x - z0) ** 2).sum() + 0.5 * (y * y).sum(),
    )


def ridge():
    """Penalties of ridge regression, with the samples of the catalog's problem as its levels tell them."""
    named = duplex.problem("ridge", features=4, informative=2, rho=1e-3)
    x, y = named.start()
    unit = numpy.eye(4)
    penalty = numpy.exp(x)
    hessian = numpy.array([named.evaluate(x, y, v).lower.hess_yy - penalty * v for v in unit])
    lower_slope = named.evaluate(x, 0 * y).lower.grad_y
    at_zero = named.evaluate(0 * x, 0 * y)
    upper_slope, constant = at_zero.upper.grad_y, at_zero.upper.value
    upper_hessian = numpy.array([named.evaluate(x, v).upper.grad_y - upper_slope for v in unit])
    H, b, G, c = (tensor(part) for part in (hessian, lower_slope, upper_hessian, upper_slope))
    return (
        named,
        lambda x, y: 0.5 * y @ H @ y + b @ y + 0.5 * (torch.exp(x) * y * y).sum(),
        lambda x, y: 0.5 * y @ G @ y + c @ y + constant + 0.5e-3 * (x * x).sum(),
    )


def hyper_cleaning(folder):
    """A weight for each training sample, on samples from files."""
    generator = numpy.random.default_rng(3)
    parts = []
    for name in ("training", "trusted"):
        features = generator.normal(size=(30, 3)).astype(numpy.float32)
        labels = generator.integers(0, 3, 30)
        lines = [",".join([*map(repr, map(float, row)), f"class {label}"]) for row, label in zip(features, labels)]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,c,label", *lines]) + "\n")
        ones = numpy.ones((30, 1))
        parts.append((tensor(numpy.hstack([features, ones])), torch.tensor(labels)))
    named = duplex.problem(
        "hyper-cleaning",
        data=str(folder / "training.csv"),
        validation=str(folder / "trusted.csv"),
        standardize=False,
        rho=0.1,
    )
    (A, a), (B, b) = parts
    losses = lambda rows, labels, y: torch.nn.functional.cross_entropy(
        rows @ y.reshape(3, 4).T, labels, reduction="none"
    )
    return (
        named,
        lambda x, y: (torch.sigmoid(x) * losses(A, a, y)).mean() + 0.05 * (y * y).sum(),
        lambda x, y: losses(B, b, y).mean(),
    )


@pytest.mark.parametrize("name", ["counter-example", "ridge", "hyper-cleaning"])
def test_every_method_comes_to_the_iterates_of_cpp(name, tmp_path):
    named, lower, upper = {
        "counter-example": lambda: (duplex.problem("counter-example", n=8), *counter_example(8)),
        "ridge": ridge,
        "hyper-cleaning": lambda: hyper_cleaning(tmp_path),
    }[name]()
    x0, y0 = named.start()
    options = {"iterations": 12, "recoveries": 0, "direction_tolerance": 0.0}
    methods = [method for method in duplex.methods() if method != "automatic"]
    expected = duplex.race(named, **options)
    found = duplex.race(duplex.torch.Problem(lower, upper, tensor(x0), tensor(y0)), **options)
    assert [result.method for result in found.results] == ["automatic", *methods]
    for ours, theirs in list(zip(found.results, expected.results))[1:]:
        assert (ours.nit, ours.termination) == (theirs.nit, theirs.termination), ours.spec
        for part in "xyv":
            scale = max(1.0, numpy.abs(theirs[part]).max())
            numpy.testing.assert_allclose(
                ours[part] / scale, theirs[part] / scale, rtol=0, atol=1e-10, err_msg=ours.spec
            )


def test_steps_that_the_method_chooses_itself_come_to_the_answer():
    named = duplex.problem("counter-example", n=8)
    x, y = (tensor(part) for part in named.start())
    result = duplex.torch.minimize(*counter_example(8), x, y)
    assert result.termination == "tolerance verified"
    numpy.testing.assert_allclose(x.numpy(), named.answer().x, rtol=1e-4)


def test_derivatives_by_autograd_are_checked_against_differences():
    x, y = torch.randn(4, **double), torch.randn(3, **double)
    A = torch.randn(3, 4, **double)
    lower = lambda x, y: torch.log(torch.cosh(y - A @ x)).sum() + 0.5 * (y**2).sum()
    upper = lambda x, y: (y**2).sum() + 0.1 * (x**4).sum()
    assert duplex.torch.check(lower, upper, x, y).passes
    assert not duplex.torch.check(lambda x, y: lower(x, y.detach()) + 0.5 * (y**2).sum(), upper, x, y).passes


def test_lists_of_tensors_in_single_precision_are_moved_where_they_lie():
    x = [torch.zeros(2, 2), torch.zeros(3)]
    y = torch.zeros(7)
    target = torch.arange(7.0)
    lower = lambda x, y: 0.5 * ((y - torch.cat([part.reshape(-1) for part in x])) ** 2).sum()
    upper = lambda x, y: 0.5 * ((y - target) ** 2).sum()
    before = [part.data_ptr() for part in x]
    result = duplex.torch.minimize(lower, upper, x, y, method="bagdc", alpha=0.5, beta=0.9, iterations=300)
    assert [part.data_ptr() for part in x] == before
    assert x[0].dtype == torch.float32 and x[0].shape == (2, 2)
    torch.testing.assert_close(torch.cat([part.reshape(-1) for part in x]), target, atol=1e-4, rtol=1e-4)
    assert result.x.dtype == numpy.float64


def test_a_module_is_called_with_other_parameters_and_ends_with_those_that_were_found():
    torch.manual_seed(0)
    data, labels = torch.randn(40, 3, **double), torch.randint(0, 2, (40,))
    net = torch.nn.Linear(3, 2).double()
    log_penalty = torch.zeros(1, **double)
    loss = torch.nn.functional.cross_entropy

    def lower(x, net):
        penalty = sum((part**2).sum() for part in net.parameters())
        return loss(net(data[:30]), labels[:30]) + torch.exp(x[0]) * penalty

    def upper(x, net):
        return loss(net(data[30:]), labels[30:])

    before = upper(log_penalty, net).item()
    result = duplex.torch.minimize(lower, upper, log_penalty, net, iterations=20)
    assert not result.failed
    assert upper(log_penalty, net).item() == pytest.approx(result.fun) and result.fun < before
    flat = torch.cat([part.detach().reshape(-1) for part in net.parameters()])
    numpy.testing.assert_array_equal(flat.numpy(), result.y)


def test_memory_does_not_grow_with_steps():
    lower, upper = counter_example(8)
    x, y = torch.zeros(8, **double), torch.zeros(8, **double)
    counts = []

    def callback(progress):
        if progress["iteration"] % 500 == 0:
            gc.collect()
            counts.append(sum(isinstance(thing, torch.Tensor) for thing in gc.get_objects()))

    duplex.torch.minimize(
        lower, upper, x, y, method="bagdc", alpha=1e-3, beta=1e-3, fused=False, iterations=2000, callback=callback
    )
    assert len(counts) == 4 and counts[-1] <= counts[0]


def test_an_exception_of_a_loss_and_a_loss_that_is_none():
    x, y = torch.zeros(2, **double), torch.zeros(2, **double)
    _, upper = counter_example(2)

    def lower(x, y):
        raise RuntimeError("of mine")

    with pytest.raises(RuntimeError, match="^of mine$"):
        duplex.torch.minimize(lower, upper, x, y)
    with pytest.raises(duplex.InvalidInput, match=r"lower: returned \(2,\), expected a tensor of one number"):
        duplex.torch.minimize(lambda x, y: y, upper, x, y)
    with pytest.raises(duplex.InvalidInput, match="lower: returned float"):
        duplex.torch.minimize(lambda x, y: 1.0, upper, x, y)


def test_what_is_no_tensor_of_floating_point_numbers_is_refused():
    lower, upper = counter_example(2)
    y = torch.zeros(2, **double)
    with pytest.raises(duplex.InvalidInput, match="x: found a tensor of torch.int64"):
        duplex.torch.minimize(lower, upper, torch.zeros(2, dtype=torch.int64), y)
    with pytest.raises(duplex.InvalidInput, match="x: found no tensors"):
        duplex.torch.minimize(lower, upper, [], y)
    with pytest.raises(duplex.InvalidInput, match="x: found float"):
        duplex.torch.minimize(lower, upper, [1.0], y)
    with pytest.raises(duplex.InvalidInput, match="several devices or of several types"):
        duplex.torch.minimize(lower, upper, [torch.zeros(2), y], y)
