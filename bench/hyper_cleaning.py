"""One BAGDC step on hyper-cleaning, FashionMNIST with 5000 + 5000 samples, against PyTorch and the hardware's limit."""
import json
import os

import numpy
from common import at_least, at_most, capture, duration
from fashion_mnist import CLASSES, TRAINING, TRUSTED

RIVAL = "pytorch_hyper_cleaning.py"
STEPS_TO_COMPARE = 500
ANSWER_TOLERANCE = 1e-4
SMALLEST_AUTOGRAD_OVER_FUSED = 8.0  # on all cores; one core is bounded by the floor alone
SMALLEST_AUTOGRAD_OVER_GENERAL = 2.0
SMALLEST_PART_OF_FLOOR = 0.85
FEATURES = 784
STORED_BYTES = {"byte": 1, "float16": 2, "float32": 4}
THREADS = ("one_thread", "all_threads")
SCALES = {
    "rows": ("N, of training and trusted samples each", (1250, 2500, 5000, 10000, 20000)),
    "features": ("D", (98, 196, 392, 784)),
    "classes": ("K", (2, 5, 10, 20, 50)),
}
MEMORY_ROWS, MEMORY_FEATURES = 200_000, 256


def cores(threads):
    return "one core" if threads == "one_thread" else f"{os.cpu_count()} cores"


def iterates(options, folder):
    """name -> relative distance of x and y from PyTorch's by autograd, in the 2-norm"""
    capture(
        [str(options.bench), "iterates", str(folder), str(STEPS_TO_COMPARE)],
        options.bench.name,
        DUPLEX_BENCH_DATA=str(folder),
    )

    def distance(name, part):
        theirs = numpy.load(folder / f"autograd_{part}.npy").astype(float)
        mine = numpy.load(folder / f"{name}_{part}.npy").astype(float)
        return float(numpy.linalg.norm(mine - theirs) / numpy.linalg.norm(theirs))

    names = ("fused_byte", "fused_float16", "fused_float32", "general_byte", "by_hand")
    return {name: max(distance(name, part) for part in "xy") for name in names}


def peak_memory(options):
    command = [str(options.bench), "memory", str(MEMORY_ROWS), str(MEMORY_FEATURES)]
    return json.loads(capture(command, options.bench.name))


def best_rivals(results):
    """(way, threads) -> PyTorch's best with at most that many"""
    best = {}
    for name, result in results.items():
        way, _, blas_threads = name.split("/")
        for setting in THREADS if blas_threads == "1" else THREADS[1:]:
            before = best.get((way, setting))
            best[way, setting] = min(before, result, key=lambda r: r["best"]) if before else result
    return best


def floor(ours, storage, threads, columns):
    """Six products of samples, features and columns; training samples read twice and trusted ones once, as stored."""
    fma = ours[f"hardware/fma_float/{threads}"]
    read = ours[f"hardware/read/cleaning/{storage}/{threads}"]
    operations = 2 * (4 * TRAINING + 2 * TRUSTED) * FEATURES * columns
    stored = (2 * TRAINING + TRUSTED) * FEATURES * STORED_BYTES[storage]
    by_operations = operations * fma["best"] / fma["operations"]
    by_bytes = stored * read["best"] / read["bytes"]
    return {"operations": by_operations, "bytes": by_bytes, "floor": max(by_operations, by_bytes)}


def derive(ours, rivals):
    best = best_rivals(rivals)
    derived = {}
    for threads in THREADS:
        step = {kind: ours[f"cleaning/{kind}/byte/{threads}"]["best"] for kind in ("fused", "general")}
        floors = {storage: floor(ours, storage, threads, CLASSES - 1) for storage in STORED_BYTES}
        fma, read = ours[f"hardware/fma_float/{threads}"], ours[f"hardware/read/cleaning/byte/{threads}"]
        derived[threads] = {
            "fma": fma["operations"] / fma["best"] / 1e9,
            "read": read["bytes"] / read["best"] / 1e9,
            "floors": floors,
            "floor_with_all_columns": floor(ours, "byte", threads, CLASSES)["floor"],
            "part_of_floor": {
                storage: floors[storage]["floor"] / ours[f"cleaning/fused/{storage}/{threads}"]["best"]
                for storage in STORED_BYTES
            },
            **{
                f"{way}_over_{kind}": best[way, threads]["best"] / step[kind]
                for way in ("autograd", "by_hand")
                for kind in step
            },
        }
    return derived


def cores_were_free(ours):
    """Whether all threads together multiplied as fast as so many single ones: other processes leave less."""
    one, all_threads = (ours[f"hardware/fma_float/{threads}"] for threads in THREADS)
    rate = all_threads["operations"] / all_threads["best"] * one["best"] / one["operations"]
    return bool(rate >= 0.9 * all_threads["threads"])


def tabulate(table, ours, rivals, derived, memory):
    best = best_rivals(rivals)
    for threads in THREADS:
        facts = derived[threads]
        base = ours[f"cleaning/fused/byte/{threads}"]
        table.title(f"hyper-cleaning, {cores(threads)}: one step (ratio: to the first line)")
        table.time("Duplex, fused, bytes", base)
        table.time("Duplex, fused, float16", ours[f"cleaning/fused/float16/{threads}"], base)
        table.time("Duplex, fused, float32", ours[f"cleaning/fused/float32/{threads}"], base)
        table.time("Duplex, fused, bytes, adaptive η", ours[f"cleaning/adaptive/byte/{threads}"], base)
        table.time("Duplex, general, bytes", ours[f"cleaning/general/byte/{threads}"], base)
        table.time("PyTorch eager, autograd", best["autograd", threads], base)
        table.time("PyTorch eager, derivatives by hand", best["by_hand", threads], base)
        table.fact("fused multiply-add, float", f"{facts['fma']:.3g} GFLOP/s")
        table.fact("read as much as the bytes", f"{facts['read']:.3g} GB/s")
        for storage, floors in facts["floors"].items():
            table.fact(f"bytes floor, {storage}", duration(floors["bytes"]))
            if storage == "byte":
                table.fact(f"operations floor, {CLASSES - 1} columns, as computed", duration(floors["operations"]))
                table.fact(f"operations floor, {CLASSES} columns", duration(facts["floor_with_all_columns"]))
            table.part("  part of the floor that the fused step reaches", facts["part_of_floor"][storage])
    for scale, (text, sizes) in SCALES.items():
        table.title(f"hyper-cleaning, fused, bytes without meaning: one step by {text} (ratio: to the line before)")
        results = [ours[f"cleaning/scale/{scale}/{size}"] for size in sizes]
        for size, result, before in zip(sizes, results, [None, *results]):
            table.time(str(size), result, before)
    table.title("hyper-cleaning, fused: one step by threads (ratio: to one)")
    prefix = "cleaning/scale/threads/"
    for name in sorted((n for n in ours if n.startswith(prefix)), key=lambda n: int(n.removeprefix(prefix))):
        table.time(name.removeprefix(prefix), ours[name], ours[f"{prefix}1"])
    table.title(f"hyper-cleaning, memory: {MEMORY_ROWS} x {MEMORY_FEATURES} float32, and a tenth of it trusted")
    table.fact("samples as stored", f"{memory['stored_bytes'] / 1e6:.4g} MB")
    table.fact("peak of the process", f"{memory['peak_bytes'] / 1e6:.4g} MB")
    table.fact("  over the samples", f"{memory['peak_bytes'] / memory['stored_bytes']:.3g}")


def check(derived, distances):
    targets = []
    for threads in reversed(THREADS):
        facts, where = derived[threads], cores(threads)
        if threads == "all_threads":
            targets.append(
                at_least(f"PyTorch autograd / fused cleaning step, {where}", facts["autograd_over_fused"],
                         SMALLEST_AUTOGRAD_OVER_FUSED)
            )  # fmt: skip
        targets += [
            at_least(f"PyTorch autograd / general cleaning step, {where}", facts["autograd_over_general"],
                     SMALLEST_AUTOGRAD_OVER_GENERAL),
            at_least(f"fused cleaning step, part of the floor, {where}", facts["part_of_floor"]["byte"],
                     SMALLEST_PART_OF_FLOOR),
        ]  # fmt: skip
    for name, distance in distances.items():
        targets.append(
            at_most(f"same iterates as autograd, {STEPS_TO_COMPARE} steps: {name}", distance, ANSWER_TOLERANCE)
        )
    return targets
