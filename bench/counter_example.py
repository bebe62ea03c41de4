"""One BAGDC step on the counter-example against PyTorch, Eigen and the hardware's limit."""
from common import Failure, at_least, at_most, duration

RIVAL = "pytorch_counter_example.py"
ANSWER_TOLERANCE = 1e-10
LARGEST_FUSED_OVER_EIGEN = 1.5
SMALLEST_PYTORCH_OVER_DUPLEX = 100.0
LARGE = 4096


def largest_difference(ours, theirs):
    keys = [f"{vector}_{part}" for vector in "xyv" for part in ("mean", "norm")]
    if ours["steps"] != theirs["steps"]:
        raise Failure(f"answers after {ours['steps']:g} and {theirs['steps']:g} steps cannot be compared")
    return max(abs(ours[key] - theirs[key]) / max(1.0, abs(theirs[key])) for key in keys)


def tabulate(table, ours, native, rivals, derived):
    table.title("The machine, all threads")
    table.fact("read beyond every cache", f"{derived['read_beyond_cache']:.3g} GB/s")
    table.fact(f"read as much as half of A, n = {LARGE}", f"{derived['read_half_of_a']:.3g} GB/s")
    table.fact("fused multiply-add, double", f"{derived['fma']:.3g} GFLOP/s")

    small = ours["identity/100/constant"]
    table.title("A = I, n = 100: one step (ratio: to the first line)")
    table.time("Duplex, constant η", small)
    table.time("Duplex, adaptive η", ours["identity/100/adaptive"], small)
    table.time("Duplex, constant η, AnyProblem", ours["identity/100/constant/any_problem"], small)
    table.time("Duplex, adaptive η, AnyProblem", ours["identity/100/adaptive/any_problem"], small)
    table.time("PyTorch eager, autograd", rivals["identity/100/autograd"], small)
    table.time("PyTorch eager, derivatives by hand", rivals["identity/100/by_hand"], small)

    table.title("A = I, n = 1000000: one step")
    table.time("Duplex, constant η", ours["identity/1000000/constant"])
    table.time("Duplex, adaptive η", ours["identity/1000000/adaptive"])

    table.title("dense A, n = 100: one step (ratio: to the first line)")
    base = ours["dense/100/fused/constant"]
    table.time("Duplex, fused", base)
    table.time("Duplex, fused, AnyProblem", ours["dense/100/fused/constant/any_problem"], base)
    table.time("Duplex, general", ours["dense/100/general/constant"], base)

    for n in (1024, 2048, LARGE):
        base = ours[f"dense/{n}/fused/constant"]
        table.title(f"dense A, n = {n}: one step, or one product alone (ratio: to the first line)")
        table.time("Duplex, fused, constant η", base)
        table.time("Duplex, fused, adaptive η", ours[f"dense/{n}/fused/adaptive"], base)
        table.time("Duplex, general, constant η", ours[f"dense/{n}/general/constant"], base)
        for where, results in (("", ours), (", -march=native", native)):
            table.time(f"Eigen A*[u,w]{where}", results[f"eigen/together/{n}"], base)
            table.time(f"Eigen A*u, A*w{where}", results[f"eigen/apart/{n}"], base)
            table.time(f"Eigen A*u, A*w from half of A{where}", results[f"eigen/apart_from_half/{n}"], base)
        if n == LARGE:
            table.time("PyTorch eager, autograd", rivals[f"dense/{n}/autograd"], base)
            table.time("PyTorch eager, derivatives by hand", rivals[f"dense/{n}/by_hand"], base)
            table.fact("bytes floor: half of A over bandwidth beyond cache", duration(derived["bytes_floor"]))
            table.fact("  part of it that the fused step reaches", f"{derived['bytes_floor_reached']:.0%}")
            table.fact("bytes floor: half of A over bandwidth at its size", duration(derived["cached_bytes_floor"]))
            table.fact("  part of it that the fused step reaches", f"{derived['cached_bytes_floor_reached']:.0%}")
            table.fact("operations floor: 4n² over FMA rate", duration(derived["operations_floor"]))
            table.fact("  part of it that the fused step reaches", f"{derived['operations_floor_reached']:.0%}")


def derive(ours, rivals):
    beyond, half, fma = (ours[f"hardware/{name}"] for name in ("read/beyond_cache", "read/half_of_4096", "fma"))
    fused = ours[f"dense/{LARGE}/fused/constant"]["best"]
    half_of_a = 8 * LARGE * LARGE / 2
    floors = {
        "bytes_floor": half_of_a * beyond["best"] / beyond["bytes"],
        "cached_bytes_floor": half_of_a * half["best"] / half["bytes"],
        "operations_floor": 4 * LARGE * LARGE * fma["best"] / fma["operations"],
    }
    return {
        "read_beyond_cache": beyond["bytes"] / beyond["best"] / 1e9,
        "read_half_of_a": half["bytes"] / half["best"] / 1e9,
        "fma": fma["operations"] / fma["best"] / 1e9,
        **floors,
        **{f"{name}_reached": floor / fused for name, floor in floors.items()},
        "fused_over_eigen": fused / ours[f"eigen/together/{LARGE}"]["best"],
        "pytorch_over_duplex": rivals["identity/100/autograd"]["best"] / ours["identity/100/constant"]["best"],
    }


def check(ours, rivals, derived):
    targets = [
        at_most(
            f"fused step n = {LARGE} / Eigen pass A*[u,w]", derived["fused_over_eigen"], LARGEST_FUSED_OVER_EIGEN
        ),
        at_least(
            "PyTorch eager / Duplex step at n = 100", derived["pytorch_over_duplex"], SMALLEST_PYTORCH_OVER_DUPLEX
        ),
    ]
    pairs = [("identity/100/constant", "identity/100"), ("identity/100/constant/any_problem", "identity/100")]
    pairs += [(f"dense/{LARGE}/{kind}/constant", f"dense/{LARGE}") for kind in ("fused", "general")]
    for mine, theirs in pairs:
        difference = max(largest_difference(ours[mine], rivals[f"{theirs}/{way}"]) for way in ("autograd", "by_hand"))
        targets.append(at_most(f"same answer as PyTorch: {mine}", difference, ANSWER_TOLERANCE))
    return targets
