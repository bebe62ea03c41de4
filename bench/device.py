"""One BAGDC step on hyper-cleaning through losses on tensors, against PyTorch eager and JAX, on one device in one run.

    python3 bench/device.py --step build/duplex_torch_step --device cuda

Synthetic samples of the size of FashionMNIST's 5000 + 5000; 500 steps of beta = eta = .3, alpha = 3000, from zero."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import torch

SAMPLES, FEATURES, CLASSES, STEPS = 5000, 785, 10, 500
ALPHA, BETA, ETA = 3000.0, 0.3, 0.3
LARGEST_GRAPH_MICROSECONDS = 300.0
SMALLEST_EAGER_OVER_GRAPH = 6.0
ANSWER_TOLERANCE = 1e-5
REPETITIONS = 5


def samples(folder):
    random = numpy.random.default_rng(1)
    truth = random.standard_normal((FEATURES, CLASSES))
    sets = {}
    for name in ("training", "trusted"):
        pixels = 0.4 * numpy.clip(numpy.abs(random.standard_normal((SAMPLES, FEATURES))), 0, 1)
        pixels = pixels.astype(numpy.float32)
        pixels[:, -1] = 1
        labels = (pixels @ truth).argmax(1)
        if name == "training":
            labels[::2] = (labels[::2] + 1 + random.integers(CLASSES - 1, size=SAMPLES // 2)) % CLASSES
        pixels.tofile(folder / f"{name}.f32")
        labels.astype(numpy.int64).tofile(folder / f"{name}_labels.i64")
        sets[name] = (pixels, labels)
    return sets


def best_seconds(work, synchronize):
    best = float("inf")
    for _ in range(REPETITIONS):
        synchronize()
        begin = time.perf_counter()
        work()
        synchronize()
        best = min(best, time.perf_counter() - begin)
    return best


def pytorch(sets, device):
    torch.backends.cuda.matmul.allow_tf32 = False
    data = {n: (torch.tensor(p, device=device), torch.tensor(l, device=device)) for n, (p, l) in sets.items()}
    losses = torch.nn.functional.cross_entropy

    def lower(x, y):
        pixels, labels = data["training"]
        return (x.sigmoid() * losses(pixels @ y, labels, reduction="none")).mean()

    def upper(y):
        pixels, labels = data["trusted"]
        return losses(pixels @ y, labels)

    def run(steps):
        x = torch.zeros(SAMPLES, device=device)
        y = torch.zeros(FEATURES, CLASSES, device=device)
        v = torch.zeros_like(y)
        for _ in range(steps):
            xs, here = x.requires_grad_(), y.requires_grad_()
            (slope,) = torch.autograd.grad(lower(xs, here), here, create_graph=True)
            there = (y.detach() - BETA * slope.detach()).requires_grad_()
            (next_slope,) = torch.autograd.grad(lower(x.detach(), there), there, create_graph=True)
            (product,) = torch.autograd.grad(next_slope, there, v)
            (wanted,) = torch.autograd.grad(upper(there), there)
            v = v + ETA * (wanted - product)
            (cross,) = torch.autograd.grad(slope, xs, v)
            x = (x + ALPHA * cross).detach()
            y = there.detach()
        return x, y

    def synchronize():
        if device != "cpu":
            torch.cuda.synchronize()

    answer = run(STEPS)
    run(20)
    return 1e6 * best_seconds(lambda: run(STEPS), synchronize) / STEPS, [t.cpu().numpy() for t in answer]


def jax_step(sets):
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_default_matmul_precision", "highest")
    data = {n: (jnp.asarray(p), jax.nn.one_hot(jnp.asarray(l), CLASSES)) for n, (p, l) in sets.items()}

    def losses(name, y):
        pixels, wanted = data[name]
        return -(wanted * jax.nn.log_softmax(pixels @ y)).sum(1)

    def lower(x, y):
        return (jax.nn.sigmoid(x) * losses("training", y)).mean()

    def step(state, _):
        x, y, v = state
        slope = jax.grad(lower, 1)
        there = y - BETA * slope(x, y)
        product = jax.jvp(lambda w: slope(x, w), (there,), (v,))[1]
        v = v + ETA * (jax.grad(lambda w: losses("trusted", w).mean())(there) - product)
        cross = jax.grad(lambda z: jnp.vdot(slope(z, y), v))(x)
        return (x + ALPHA * cross, there, v), None

    run = jax.jit(lambda s: jax.lax.scan(step, s, None, length=STEPS)[0])
    start = (jnp.zeros(SAMPLES), jnp.zeros((FEATURES, CLASSES)), jnp.zeros((FEATURES, CLASSES)))
    jax.block_until_ready(run(start))
    return 1e6 * best_seconds(lambda: jax.block_until_ready(run(start)), lambda: None) / STEPS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sets = samples(folder)
        eager, answer = pytorch(sets, options.device)
        output = subprocess.run(
            [options.step.resolve(), options.device, str(folder), str(STEPS)], check=True, capture_output=True, text=True
        ).stdout
        mine = json.loads(output)

        def distance(way, part, theirs):
            own = numpy.fromfile(folder / f"{way}_{part}.f32", dtype=numpy.float32).astype(float)
            return float(numpy.linalg.norm(own - theirs.ravel()) / numpy.linalg.norm(theirs))

        errors = {way: max(distance(way, part, theirs) for part, theirs in zip("xy", answer)) for way in mine}
    jax_time = jax_step(sets) if options.device != "cpu" else None
    print(f"one BAGDC step, {SAMPLES} + {SAMPLES} samples of {FEATURES} features, {CLASSES} classes, on {options.device}")
    print(f"  PyTorch {torch.__version__} eager   {eager:8.1f} us")
    for way, microseconds in mine.items():
        print(f"  Duplex, {way:<16} {microseconds:8.1f} us   {eager / microseconds:5.1f} x   iterates {errors[way]:.1e}")
    if jax_time:
        print(f"  JAX, jit and scan        {jax_time:8.1f} us")
    kept = all(error <= ANSWER_TOLERANCE for error in errors.values())
    if "graph" in mine:
        kept &= mine["graph"] <= LARGEST_GRAPH_MICROSECONDS and eager / mine["graph"] >= SMALLEST_EAGER_OVER_GRAPH
    print("targets met" if kept else "FAILED: a target is missed")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
