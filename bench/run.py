#!/usr/bin/env python3
"""Runs the benchmarks and their rivals, checks that they give the same answer, and prints
times, ratios and the targets. Exit 1 if a target or the check of answers fails."""
import argparse
import json
import os
import pathlib
import sys
import tempfile

import counter_example
import hyper_cleaning
import stochastic
from common import ROOT, Failure, Table, faster_of, google_benchmark, pytorch, write_atomically
from fashion_mnist import write_split


def measure(options, folder):
    """Everything, with PyTorch before and after Duplex."""
    example = [counter_example.RIVAL, f"--dense={counter_example.LARGE}"]
    cleaning = [hyper_cleaning.RIVAL, folder]
    torch = pytorch(options, *example)
    rivals = pytorch(options, *cleaning, f"--iterates={hyper_cleaning.STEPS_TO_COMPARE}")["results"]
    ours = google_benchmark(options.bench, options, DUPLEX_BENCH_DATA=str(folder))
    native = google_benchmark(options.bench.with_name(options.bench.name + "_native"), options)
    torch["results"] = faster_of(torch["results"], pytorch(options, *example)["results"])
    torch["cleaning"] = faster_of(rivals, pytorch(options, *cleaning)["results"])
    return {
        "duplex": ours,
        "native": native,
        "pytorch": torch,
        "memory": hyper_cleaning.peak_memory(options),
        "distances": hyper_cleaning.iterates(options, folder),
    }


def judge(report):
    ours, torch = report["duplex"], report["pytorch"]
    report["cores_were_free"] = hyper_cleaning.cores_were_free(ours)
    report["derived"] = counter_example.derive(ours, torch["results"])
    report["derived_cleaning"] = hyper_cleaning.derive(ours, torch["cleaning"])
    report["derived_stochastic"] = stochastic.derive(ours)
    report["targets"] = counter_example.check(ours, torch["results"], report["derived"])
    report["targets"] += hyper_cleaning.check(report["derived_cleaning"], report["distances"])
    report["targets"] += stochastic.check(report["derived_stochastic"])


def show(report):
    ours, torch = report["duplex"], report["pytorch"]
    table = Table()
    counter_example.tabulate(table, ours, report["native"], torch["results"], report["derived"])
    hyper_cleaning.tabulate(table, ours, torch["cleaning"], report["derived_cleaning"], report["memory"])
    stochastic.tabulate(table, ours, report["derived_stochastic"])
    table.print()
    print(f"\nPyTorch {torch['torch']}, BLAS {torch['blas']} {torch['openblas_coretype']}".rstrip())
    if "openblas" not in torch["blas"] and "mkl" not in torch["blas"]:
        print("PyTorch runs on a slow BLAS here, which flatters Duplex: install libopenblas0-pthread")
    before, after = report["load_average"]
    print(f"{os.cpu_count()} cores, load average {before:.2f} before and {after:.2f} after")
    if not report["cores_were_free"]:
        print("Other processes kept cores busy all the time: figures for several cores are of no use, run it again")
    print("\nTargets")
    width = max(len(target["target"]) for target in report["targets"])
    for target in report["targets"]:
        verdict = "ok" if target["met"] else "FAILED"
        print(f"  {target['target']:{width}}  {target['found']:>8}  {target['expected']:>8}  {verdict}")


def run(options):
    if not options.bench.is_file():
        raise Failure(f"{options.bench} is missing: build with -DDUPLEX_BUILD_BENCH=ON")
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        write_split(pathlib.Path(folder))
        report = measure(options, pathlib.Path(folder))
    report["load_average"] = [load_before, os.getloadavg()[0]]
    judge(report)
    show(report)
    write_atomically(options.out, json.dumps(report, indent=1) + "\n")
    print(f"\nwritten: {options.out}")
    return all(target["met"] for target in report["targets"])


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
