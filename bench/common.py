"""What the benchmarks share: running programs, tables and targets."""
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIVALS = ROOT / "bench" / "rivals"


class Failure(Exception):
    pass


def capture(command, what, **environment):
    # OpenMP threads that spin while they wait measure the other processes of the machine.
    environment = {"OMP_WAIT_POLICY": "passive", **os.environ, **environment}
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    except OSError as error:
        raise Failure(f"{what}: cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise Failure(f"{what}: exit {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def google_benchmark(program, options, **environment):
    """name -> {median, best (seconds), counters of one repetition}. A benchmark's own best counts where it has one."""
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
            **environment,
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
        bests = [entry.get("best_seconds", time) for entry, time in zip(entries, times)]
        numbers = {key: value for key, value in entries[-1].items() if isinstance(value, float)}
        results[name] = {**numbers, "median": statistics.median(times), "best": min(bests)}
    return results


def pytorch(options, rival, *arguments):
    """What the rival prints, with its times in seconds."""
    report = json.loads(capture([options.python, str(RIVALS / rival), *map(str, arguments)], rival))
    for result in report["results"].values():
        result["median"] = result.pop("microseconds") * 1e-6
        result["best"] = result.pop("best_microseconds") * 1e-6
    return report


def faster_of(before, after):
    """Rivals run before and after, so that a load which comes or goes favours nobody."""
    return {name: min(before[name], after[name], key=lambda result: result["best"]) for name in before}


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

    def part(self, text, fraction):
        self.fact(text, f"{fraction:.0%}")

    def print(self):
        width = max(len(row[0]) for row in self.rows if len(row) > 1)
        print(f"  {'':{width}}  {'best':>12}  {'median':>9}  {'ratio':>8}")
        for row in self.rows:
            if len(row) == 1:
                print(f"\n{row[0]}")
            else:
                text, best, median, ratio = row
                print(f"  {text:{width}}  {best:>12}  {median:>9}  {ratio:>8}".rstrip())


def at_most(target, found, limit):
    return {"target": target, "found": f"{found:.3g}", "expected": f"<= {limit:g}", "met": bool(found <= limit)}


def at_least(target, found, limit):
    return {"target": target, "found": f"{found:.3g}", "expected": f">= {limit:g}", "met": bool(found >= limit)}


def write_atomically(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
