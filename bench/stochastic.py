"""Steps on batches of 64 samples of hyper-cleaning, beside the time that their products take at the machine's rate."""
from common import at_least, duration

BATCH, FEATURES, CLASSES = 64, 784, 10
METHODS = ("soba", "saba", "srba")
SMALLEST_PART_OF_FLOOR = 0.5


def floor(ours):
    """Two products with the samples forward and two back on the lower level, one each on the upper, on all cores."""
    fma = ours["hardware/fma_float/all_threads"]
    return 2 * 6 * BATCH * (FEATURES + 1) * CLASSES * fma["best"] / fma["operations"]


def derive(ours):
    least = floor(ours)
    return {"floor": least, "part_of_floor": least / ours["stochastic/soba"]["best"]}


def tabulate(table, ours, derived):
    base = ours["stochastic/soba"]
    table.title(f"hyper-cleaning, one step on {BATCH} samples of each level (ratio: to SOBA)")
    for method in METHODS:
        table.time(method.upper(), ours[f"stochastic/{method}"], base)
    table.fact(f"operations floor, {CLASSES} columns, all cores", duration(derived["floor"]))
    table.part("  part of the floor that SOBA reaches", derived["part_of_floor"])


def check(derived):
    return [at_least("SOBA step on a batch, part of the floor", derived["part_of_floor"], SMALLEST_PART_OF_FLOOR)]
