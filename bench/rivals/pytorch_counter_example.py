"""BAGDC on the counter-example in PyTorch: with automatic differentiation, as one would
write it, and with the derivatives written out by hand. Prints JSON.

    F = 1/2 |x - z0|^2 + 1/2 y'Ay,   f = 1/2 y'Ay - x'y,   z0 = e, x = y = 2e, v = 0
"""
import argparse
import json
import sys
import time

from torch_at_its_best import about_torch, set_threads, thread_settings, timing, torch

ALPHA, BETA, ETA = 0.1, 0.2, 1.0


class Identity:
    """A = I costs nothing."""

    def __init__(self, n):
        self.n = n

    def times(self, y):
        return y


class Dense:
    """A = 1/2 (I + cc') with c the unit vector along cos(0), cos(1), ..."""

    def __init__(self, n):
        self.n = n
        c = torch.cos(torch.arange(n, dtype=torch.float64))
        c /= c.norm()
        self.entries = 0.5 * torch.outer(c, c)
        self.entries.diagonal().add_(0.5)

    def times(self, y):
        return self.entries @ y


def start(a):
    everywhere = torch.full((a.n,), 2.0, dtype=torch.float64)
    return everywhere.clone(), everywhere.clone(), torch.zeros(a.n, dtype=torch.float64)


def autograd_run(a, steps):
    z0 = torch.ones(a.n, dtype=torch.float64)

    def lower(x, y):
        return 0.5 * y.dot(a.times(y)) - x.dot(y)

    def upper(x, y):
        return 0.5 * (x - z0).square().sum() + 0.5 * y.dot(a.times(y))

    grad = torch.autograd.grad
    x, y, v = start(a)
    began = time.perf_counter()
    for _ in range(steps):
        x.requires_grad_(True)
        y.requires_grad_(True)
        (gradient,) = grad(lower(x, y), y, create_graph=True)
        y_next = (y - BETA * gradient).detach().requires_grad_(True)

        upper_x, upper_y = grad(upper(x, y_next), (x, y_next))
        (gradient_next,) = grad(lower(x, y_next), y_next, create_graph=True)
        (product,) = grad(gradient_next, y_next, grad_outputs=v)
        v = v + ETA * (upper_y - product)

        (cross,) = grad(gradient, x, grad_outputs=v)
        x = (x - ALPHA * (upper_x - cross)).detach()
        y = y_next.detach()
    return time.perf_counter() - began, (x, y, v)


def by_hand_run(a, steps):
    z0 = torch.ones(a.n, dtype=torch.float64)
    x, y, v = start(a)
    began = time.perf_counter()
    with torch.inference_mode():
        ay = a.times(y)
        for _ in range(steps):
            y = y.sub(ay - x, alpha=BETA)
            ay = a.times(y)
            v = v.add(ay - a.times(v), alpha=ETA)
            x = x.sub(x - z0 + v, alpha=ALPHA)
    return time.perf_counter() - began, (x, y, v)


def measure(run, a, steps, repeats):
    for _ in range(2):
        run(a, steps)
    results = [run(a, steps) for _ in range(repeats)]
    ends = dict(zip("xyv", results[-1][1]))
    return {
        **timing([seconds / steps for seconds, _ in results]),
        "steps": steps,
        **{f"{name}_mean": end.mean().item() for name, end in ends.items()},
        **{f"{name}_norm": end.norm().item() for name, end in ends.items()},
    }


def fastest_setting(run, a, steps, repeats):
    settings = []
    for own, blas in thread_settings():
        set_threads(own, blas)
        settings.append({**measure(run, a, steps, repeats), "threads": own, "blas_threads": blas})
    return min(settings, key=lambda result: result["microseconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=30, help="runs of which the median is taken")
    parser.add_argument("--dense", type=int, default=4096, metavar="N", help="rows of the dense A (0: none)")
    options = parser.parse_args()

    identity = Identity(100)
    results = {
        "identity/100/autograd": fastest_setting(autograd_run, identity, 100, options.repeats),
        "identity/100/by_hand": fastest_setting(by_hand_run, identity, 100, options.repeats),
    }
    if options.dense > 0:
        dense = Dense(options.dense)
        repeats = max(3, options.repeats // 6)
        name = f"dense/{options.dense}"
        results[f"{name}/autograd"] = fastest_setting(autograd_run, dense, 10, repeats)
        results[f"{name}/by_hand"] = fastest_setting(by_hand_run, dense, 10, repeats)
    json.dump({**about_torch(), "results": results}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
