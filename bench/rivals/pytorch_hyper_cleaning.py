"""BAGDC on data hyper-cleaning in PyTorch: with automatic differentiation, as one would
write it, and with the derivatives written out by hand. Prints JSON.

    f = 1/N sum_i sigmoid(x_i) CE_i(y) on training samples,   F = mean CE(y) on trusted ones
"""
import argparse
import json
import pathlib
import sys
import time

from torch_at_its_best import about_torch, set_threads, thread_settings, timing, torch

import numpy

ALPHA, BETA, ETA = 3000.0, 0.3, 0.3
CLASSES = 10


class Samples:
    """Pixels/255 with a one for the bias after them."""

    def __init__(self, folder, part):
        pixels = torch.from_numpy(numpy.load(folder / f"{part}.npy")).float() / 255.0
        self.features = torch.cat([pixels, torch.ones(len(pixels), 1)], dim=1)
        self.labels = torch.from_numpy(numpy.load(folder / f"{part}_labels.npy").astype(numpy.int64))
        self.one_hot = torch.nn.functional.one_hot(self.labels, CLASSES).T.float().contiguous()


def start(training):
    y = torch.zeros(CLASSES, training.features.shape[1])
    return torch.zeros(len(training.labels)), y, torch.zeros_like(y)


def scores(samples, y):
    """Classes by samples: OpenBLAS forms this product faster than its transpose."""
    return y @ samples.features.T


def autograd_steps(training, trusted):
    cross_entropy = torch.nn.functional.cross_entropy
    grad = torch.autograd.grad

    def lower(x, y):
        losses = cross_entropy(scores(training, y).T, training.labels, reduction="none")
        return (torch.sigmoid(x) * losses).mean()

    def upper(y):
        return cross_entropy(scores(trusted, y).T, trusted.labels)

    def step(x, y, v):
        x.requires_grad_(True)
        y.requires_grad_(True)
        (gradient,) = grad(lower(x, y), y, create_graph=True)
        y_next = (y - BETA * gradient).detach().requires_grad_(True)

        (upper_y,) = grad(upper(y_next), y_next)
        (gradient_next,) = grad(lower(x.detach(), y_next), y_next, create_graph=True)
        (product,) = grad(gradient_next, y_next, grad_outputs=v)
        v = v + ETA * (upper_y - product)

        (cross,) = grad(gradient, x, grad_outputs=v)
        return (x + ALPHA * cross).detach(), y_next.detach(), v

    return step


def by_hand_steps(training, trusted):
    """Probabilities at y and scores of v are computed once and serve two steps."""
    kept = {}

    def residual(samples, y):
        return torch.softmax(scores(samples, y), dim=0).sub_(samples.one_hot)

    def step(x, y, v):
        with torch.inference_mode():
            continues = kept.get("y") is y
            before = kept["residual"] if continues else residual(training, y)
            along_v = kept["along_v"] if continues else scores(training, v)
            sigma = torch.sigmoid(x)
            weights = sigma / len(x)
            y_next = y.sub((weights * before) @ training.features, alpha=BETA)

            p = torch.softmax(scores(training, y_next), dim=0)
            upper_y = residual(trusted, y_next).div_(len(trusted.labels)) @ trusted.features
            curved = p * (along_v - (p * along_v).sum(dim=0)) * weights
            v = v.add(upper_y.sub_(curved @ training.features), alpha=ETA)

            along_v = scores(training, v)
            x = x.add(weights * (1.0 - sigma) * (before * along_v).sum(dim=0), alpha=ALPHA)
            kept.update(y=y_next, residual=p.sub_(training.one_hot), along_v=along_v)
            return x, y_next, v

    return step


WAYS = {"autograd": autograd_steps, "by_hand": by_hand_steps}


def run(step, begin, steps):
    x, y, v = begin
    began = time.perf_counter()
    for _ in range(steps):
        x, y, v = step(x, y, v)
    return (time.perf_counter() - began) / steps, (x, y, v)


def measure(way, training, trusted, options):
    step = WAYS[way](training, trusted)
    seconds = [run(step, start(training), options.steps)[0] for _ in range(options.repeats + 1)]
    return timing(seconds[1:])


def write_iterates(way, training, trusted, folder, steps):
    _, (x, y, _) = run(WAYS[way](training, trusted), start(training), steps)
    numpy.save(folder / f"{way}_x.npy", x.detach().numpy())
    numpy.save(folder / f"{way}_y.npy", y.detach().numpy().ravel())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="of training.npy, trusted.npy and their labels")
    parser.add_argument("--steps", type=int, default=5, help="of a run")
    parser.add_argument("--repeats", type=int, default=15, help="runs of which the best and the median are taken")
    parser.add_argument("--iterates", type=int, default=0, metavar="STEPS", help="write x and y after so many steps")
    options = parser.parse_args()

    training, trusted = Samples(options.folder, "training"), Samples(options.folder, "trusted")
    results = {}
    for own, blas in thread_settings():
        set_threads(own, blas)
        for way in WAYS:
            results[f"{way}/{own}/{blas}"] = measure(way, training, trusted, options)
    if options.iterates > 0:
        for way in WAYS:
            write_iterates(way, training, trusted, options.folder, options.iterates)
    json.dump({**about_torch(), "results": results}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
