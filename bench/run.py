#!/usr/bin/env python3
"""Runs the benchmarks and their rivals, checks that they give the same answer, and prints
times, ratios and the targets. Exit 1 if a target or the check of answers fails."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIVAL = ROOT / "bench" / "rivals" / "pytorch_counter_example.py"

ANSWER_TOLERANCE = 1e-10
LARGEST_FUSED_OVER_EIGEN = 1.5
SMALLEST_PYTORCH_OVER_DUPLEX = 100.0
LARGE = 4096


class Failure(Exception):
    pass


def capture(command, what):
    # OpenMP threads that spin while they wait measure the other processes of the machine.
    environment = {"OMP_WAIT_POLICY": "passive", **os.environ}
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    except OSError as error:
        raise Failure(f"{what}: cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise Failure(f"{what}: exit {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def google_benchmark(program, options):
    """name -> {median, best (seconds), counters of one repetition}"""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "benchmarks.json"
        capture(
            [
                str(program),
                f"--benchmark_out={out}",
                "--benchmark_out_format=json",
                f"--benchmark_repetitions={options.repetitions}",
                "--benchmark_enable_random_interleaving=true",
                f"--benchmark_min_time={options.min_time}",
            ],
            program.name,
        )
        report = json.loads(out.read_text())
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    repetitions = {}
    for entry in report["benchmarks"]:
        if entry["run_type"] != "iteration":
            continue
        name = entry["run_name"].removesuffix("/manual_time").removesuffix("/real_time")
        if entry.get("error_occurred"):
            raise Failure(f"{program.name}: {name}: {entry['error_message']}")
        repetitions.setdefault(name, []).append(entry)
    results = {}
    for name, entries in repetitions.items():
        times = [entry["real_time"] * unit[entry["time_unit"]] for entry in entries]
        numbers = {key: value for key, value in entries[-1].items() if isinstance(value, float)}
        results[name] = {**numbers, "median": statistics.median(times), "best": min(times)}
    return results


def pytorch(options):
    report = json.loads(capture([options.python, str(RIVAL), f"--dense={LARGE}"], "PyTorch"))
    for result in report["results"].values():
        result["median"] = result.pop("microseconds") * 1e-6
        result["best"] = result.pop("best_microseconds") * 1e-6
    return report


def faster_of(before, after):
    """Rivals run before and after, so that a load which comes or goes favours nobody."""
    return {name: min(before[name], after[name], key=lambda result: result["best"]) for name in before}


def largest_difference(ours, theirs):
    keys = [f"{vector}_{part}" for vector in "xyv" for part in ("mean", "norm")]
    if ours["steps"] != theirs["steps"]:
        raise Failure(f"answers after {ours['steps']:g} and {theirs['steps']:g} steps cannot be compared")
    return max(abs(ours[key] - theirs[key]) / max(1.0, abs(theirs[key])) for key in keys)


def duration(seconds):
    for scale, unit in ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms")):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


class Table:
    def __init__(self):
        self.rows = []

    def title(self, text):
        self.rows.append((text,))

    def time(self, text, result, base=None):
        ratio = f"{result['best'] / base['best']:.3g}x" if base else ""
        self.rows.append((text, duration(result["best"]), duration(result["median"]), ratio))

    def fact(self, text, value):
        self.rows.append((text, value, "", ""))

    def print(self):
        width = max(len(row[0]) for row in self.rows if len(row) > 1)
        print(f"  {'':{width}}  {'best':>12}  {'median':>9}  {'ratio':>8}")
        for row in self.rows:
            if len(row) == 1:
                print(f"\n{row[0]}")
            else:
                text, best, median, ratio = row
                print(f"  {text:{width}}  {best:>12}  {median:>9}  {ratio:>8}".rstrip())


def tabulate(ours, native, rivals, derived):
    table = Table()
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
    table.print()


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
        (
            f"fused step n = {LARGE} / Eigen pass A*[u,w]",
            f"{derived['fused_over_eigen']:.3g}",
            f"<= {LARGEST_FUSED_OVER_EIGEN:g}",
            derived["fused_over_eigen"] <= LARGEST_FUSED_OVER_EIGEN,
        ),
        (
            "PyTorch eager / Duplex step at n = 100",
            f"{derived['pytorch_over_duplex']:.3g}",
            f">= {SMALLEST_PYTORCH_OVER_DUPLEX:g}",
            derived["pytorch_over_duplex"] >= SMALLEST_PYTORCH_OVER_DUPLEX,
        ),
    ]
    pairs = [("identity/100/constant", "identity/100"), ("identity/100/constant/any_problem", "identity/100")]
    pairs += [(f"dense/{LARGE}/{kind}/constant", f"dense/{LARGE}") for kind in ("fused", "general")]
    for mine, theirs in pairs:
        difference = max(largest_difference(ours[mine], rivals[f"{theirs}/{way}"]) for way in ("autograd", "by_hand"))
        targets.append(
            (
                f"same answer as PyTorch: {mine}",
                f"{difference:.1e}",
                f"<= {ANSWER_TOLERANCE:g}",
                difference <= ANSWER_TOLERANCE,
            )
        )
    return [dict(zip(("target", "found", "expected", "met"), target)) for target in targets]


def write_atomically(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def run(options):
    load_before = os.getloadavg()[0]
    if not options.bench.is_file():
        raise Failure(f"{options.bench} is missing: build with -DDUPLEX_BUILD_BENCH=ON")
    native_program = options.bench.with_name(options.bench.name + "_native")
    torch = pytorch(options)
    ours = google_benchmark(options.bench, options)
    native = google_benchmark(native_program, options)
    torch["results"] = rivals = faster_of(torch["results"], pytorch(options)["results"])
    load_after = os.getloadavg()[0]
    derived = derive(ours, rivals)
    targets = check(ours, rivals, derived)

    tabulate(ours, native, rivals, derived)
    print(f"\nPyTorch {torch['torch']}, BLAS {torch['blas']} {torch['openblas_coretype']}".rstrip())
    if "openblas" not in torch["blas"] and "mkl" not in torch["blas"]:
        print("PyTorch runs on a slow BLAS here, which flatters Duplex where A is dense: install libopenblas0-pthread")
    print(f"{os.cpu_count()} cores, load average {load_before:.2f} before and {load_after:.2f} after")
    print("\nTargets")
    width = max(len(target["target"]) for target in targets)
    for target in targets:
        verdict = "ok" if target["met"] else "FAILED"
        print(f"  {target['target']:{width}}  {target['found']:>8}  {target['expected']:>8}  {verdict}")

    report = {
        "load_average": [load_before, load_after],
        "duplex": ours,
        "native": native,
        "pytorch": torch,
        "derived": derived,
        "targets": targets,
    }
    write_atomically(options.out, json.dumps(report, indent=1) + "\n")
    print(f"\nwritten: {options.out}")
    return all(target["met"] for target in targets)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=pathlib.Path, default=ROOT / "build" / "duplex_bench", help="the benchmarks")
    parser.add_argument("--python", default="/usr/bin/python3", help="a Python that has PyTorch")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out" / "bench.json", help="results as JSON")
    parser.add_argument("--repetitions", type=int, default=7, help="of every benchmark, in random order")
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds of every repetition")
    options = parser.parse_args()
    try:
        sys.exit(0 if run(options) else 1)
    except Failure as failure:
        sys.exit(f"bench: {failure}")


if __name__ == "__main__":
    main()
