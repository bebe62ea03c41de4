#!/usr/bin/env python3
"""SOBA, SABA and SRBA in JAX beside Duplex, on the same samples, batches and steps.

    python3 bench/rivals/jax_stochastic.py build/duplex_stochastic

Where JAX is installed. First both do the same steps in double precision, and their states are compared; then each is
timed in float, JAX on the CPU and on whatever other device it has. Steps are written as JAX's users write them: products
by jax.vjp of jax.grad, many steps in one compiled scan. Exit 1 where the states differ.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy

TOLERANCE = 1e-9
RUNS = 5


class Problem:
    def __init__(self, folder, about, dtype):
        self.batch, self.rho = about["batch"], about["rho"]
        self.classes, self.width = about["classes"], about["features"] + 1

        def samples(name):
            table = numpy.fromfile(folder / f"{name}.f32", numpy.float32).reshape(-1, about["features"])
            table = numpy.hstack([table, numpy.ones((len(table), 1), numpy.float32)])
            return jnp.asarray(table, dtype), jnp.asarray(numpy.fromfile(folder / f"{name}.u32", numpy.uint32).astype(int))

        self.training, self.trusted = samples("training"), samples("trusted")
        self.lower_batches = len(self.training[1]) // self.batch
        self.upper_batches = len(self.trusted[1]) // self.batch
        self.dtype = dtype

    def start(self):
        y = jnp.zeros((self.classes, self.width), self.dtype)
        return jnp.zeros(len(self.training[1]), self.dtype), y, jnp.zeros_like(y)

    def losses(self, samples, first, count, y):
        rows = jax.lax.dynamic_slice(samples[0], (first, 0), (count, self.width))
        labels = jax.lax.dynamic_slice(samples[1], (first,), (count,))
        scores = rows @ y.T
        chosen = jnp.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
        return jax.nn.logsumexp(scores, axis=1) - chosen

    def lower(self, y, x, first, count):
        weights = jax.nn.sigmoid(jax.lax.dynamic_slice(x, (first,), (count,)))
        mean = (weights * self.losses(self.training, first, count, y)).mean()
        return mean + 0.5 * self.rho * (y * y).sum()

    def upper(self, y, first, count):
        return self.losses(self.trusted, first, count, y).mean()

    def pieces(self, state, lower_first, lower_count, upper_first, upper_count):
        """gradient of f in y, its products with v, and the upper level's gradient in y; its gradient in x is zero"""
        x, y, v = state
        gradient, products = jax.vjp(lambda y, x: jax.grad(self.lower)(y, x, lower_first, lower_count), y, x)
        hess, cross = products(v)
        return gradient, hess, cross, jax.grad(self.upper)(y, upper_first, upper_count)

    def directions(self, state, lower_first, lower_count, upper_first, upper_count):
        gradient, hess, cross, slope = self.pieces(state, lower_first, lower_count, upper_first, upper_count)
        return gradient, hess - slope, -cross


def moved(state, directions, alpha, beta):
    (x, y, v), (dy, dv, dx) = state, directions
    return x - alpha * dx, y - beta * dy, v - beta * dv


def soba(problem, about):
    def step(carry, batches):
        state, k = carry
        share = (k + 1.0) ** -about["decay"]
        directions = problem.directions(state, batches[0], problem.batch, batches[1], problem.batch)
        return (moved(state, directions, share * about["alpha"], share * about["beta"]), k + 1.0), None

    return (problem.start(), jnp.asarray(0.0, problem.dtype)), step


def saba(problem, about):
    size, lower_count, upper_count = problem.batch, problem.lower_batches, problem.upper_batches
    state = problem.start()

    def at(i, j):
        return problem.pieces(state, i * size, size, j * size, size)

    lower = jax.lax.map(lambda i: at(i, 0)[:3], jnp.arange(lower_count))
    upper = jax.lax.map(lambda j: at(0, j)[3], jnp.arange(upper_count))
    tables = (*lower, upper)
    means = tuple(table.mean(axis=0) for table in tables)

    def step(carry, batches):
        state, tables, means = carry
        number = (batches[0] // size,) * 3 + (batches[1] // size,)
        counts = (lower_count,) * 3 + (upper_count,)
        said = problem.pieces(state, batches[0], size, batches[1], size)
        changes = tuple(new - table[i] for new, table, i in zip(said, tables, number))
        gradient, hess, cross, slope = (change + mean for change, mean in zip(changes, means))
        tables = tuple(table.at[i].set(new) for new, table, i in zip(said, tables, number))
        means = tuple(mean + change / count for mean, change, count in zip(means, changes, counts))
        return (moved(state, (gradient, hess - slope, -cross), about["alpha"], about["beta"]), tables, means), None

    return (state, tables, means), step


def srba(problem, about):
    size, rows, trusted = problem.batch, len(problem.training[1]), len(problem.trusted[1])
    state = problem.start()
    zeros = jax.tree_util.tree_map(jnp.zeros_like, (state[1], state[2], state[0]))

    def step(carry, batches):
        state, previous, estimates, k = carry

        def anew():
            return problem.directions(state, 0, rows, 0, trusted)

        def follow():
            here = problem.directions(state, batches[0], size, batches[1], size)
            before = problem.directions(previous, batches[0], size, batches[1], size)
            return tuple(e + h - b for e, h, b in zip(estimates, here, before))

        estimates = jax.lax.cond(k % about["period"] == 0, anew, follow)
        return (moved(state, estimates, about["alpha"], about["beta"]), state, estimates, k + 1), None

    return (state, state, zeros, 0), step


METHODS = {"soba": soba, "saba": saba, "srba": srba}


def steps_of(method, problem, about, batches):
    carry, step = method(problem, about)
    run = jax.jit(lambda carry, batches: jax.lax.scan(step, carry, batches)[0])
    return run, carry, jnp.asarray(batches)


def distance(ours, theirs):
    return float(numpy.linalg.norm(ours - theirs) / max(numpy.linalg.norm(theirs), 1e-300))


def compare(folder, about, batches, checked):
    problem = Problem(folder, about, jnp.float64)
    worst = 0.0
    for name, method in METHODS.items():
        run, carry, all_batches = steps_of(method, problem, about, batches[:checked])
        state = run(carry, all_batches)[0]
        for part, mine in zip("xyv", state):
            theirs = numpy.fromfile(folder / f"{name}_{part}.f64", numpy.float64)
            far = distance(numpy.asarray(mine).ravel(), theirs)
            print(f"{name}: {part} after {checked} steps differs by {far:.1e}")
            worst = max(worst, far)
    return worst


def time_all(folder, about, batches, timed):
    for device in [jax.devices("cpu")[0], *(d for d in jax.devices() if d.platform != "cpu")]:
        with jax.default_device(device):
            problem = Problem(folder, about, jnp.float32)
            for name, method in METHODS.items():
                run, carry, all_batches = steps_of(method, problem, about, batches[:timed])
                jax.block_until_ready(run(carry, all_batches))
                best = float("inf")
                for _ in range(RUNS):
                    begin = time.perf_counter()
                    jax.block_until_ready(run(carry, all_batches))
                    best = min(best, (time.perf_counter() - begin) / timed)
                ours = about["seconds"][name]
                print(f"{name}: JAX on {device.platform} {1e6 * best:.1f} us a step, Duplex {1e6 * ours:.1f}, "
                      f"{best / ours:.1f} times")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="duplex_stochastic")
    parser.add_argument("--checked", type=int, default=400, help="steps after which states are compared")
    parser.add_argument("--timed", type=int, default=2000, help="steps of a timed run")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        said = subprocess.run([options.program, name, str(options.checked), str(options.timed)], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        about = json.loads(said)
        lower = numpy.fromfile(folder / "lower_batches.i64", numpy.int64)
        upper = numpy.fromfile(folder / "upper_batches.i64", numpy.int64)
        batches = numpy.stack([lower, upper], axis=1)
        worst = compare(folder, about, batches, options.checked)
        time_all(folder, about, batches, options.timed)
    if not worst <= TOLERANCE:
        sys.exit(f"states differ by {worst:.1e}, expected at most {TOLERANCE:.0e}")


if __name__ == "__main__":
    main()
