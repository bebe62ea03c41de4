"""What was written is not lost: runs of the tool are killed, starved of disk, started twice, resumed after their inputs
changed and asked to end at any moment; each must come to the results of a run that was left alone, byte by byte, or be
refused with a reason.

usage: torture.py TOOL [--kills N] [--seed N] [--jobs NAME,...] [--parts NAME,...]
"""

import argparse
import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

JOBS = {
    "clean": "clean --demo mnist --data-dir data/mnist --samples 4000 --trusted-samples 300 --save-every 0.05 --threads 2",
    "solve": "solve --problem quadratic --solver bagdc --n 150 --m 200 --condition 900 --alpha 0.002 --beta 0.3 --dual relaxed"
    " --iterations 20000 --every 500 --save-every 0.05",
    "solve_automatic": "solve --problem counter-example --n 300 --matrix diagonal --condition 10000 --smallest 0.0001"
    " --every 20 --save-every 0.02",
    "solve_recovering": "solve --problem quadratic --solver bagdc --n 150 --m 200 --condition 900 --alpha 0.002 --beta 50 --dual relaxed"
    " --iterations 15000 --every 500 --save-every 0.05",
    "solve_fused": "solve --problem hyper-cleaning --solver bagdc --samples 4000 --trusted 1000 --features 40 --classes 5 --alpha 0.1"
    " --beta 0.5 --upper adam --mixing 4 --iterations 600 --every 100 --save-every 0.05",
    "solve_nested": "solve --problem ridge --solver rhg --inner 300 --alpha 0.05 --iterations 3000 --every 100 --save-every 0.05",
    "few-shot": "few-shot --device cpu --threads 2 --ways 3 --queries 3 --meta-batch 3 --head-steps 4 --images-per-class 20"
    " --steps 25 --look-every 10 --look-tasks 6 --test-tasks 12 --save-every 0.05",
}
# Small enough to be killed at every single operation on its files.
SMALL_JOBS = {
    "solve": "solve --problem quadratic --solver bagdc --n 20 --m 30 --condition 50 --alpha 0.002 --beta 0.3 --dual relaxed --iterations 300"
    " --every 50 --save-every 1e-9",
    "solve_automatic": "solve --problem ridge --every 5 --save-every 1e-9",
    "clean": "clean --demo mnist --data-dir data/mnist --samples 300 --trusted-samples 60 --save-every 0 --threads 1",
}
RESULTS = {
    "clean": ["suspects.csv", "weights.csv", "model.npy", "model.json"],
    "solve": ["solution.csv"],
    "few-shot": ["backbone.pt"],
}


def heeds_every_signal():
    """Also where this script itself runs under nohup, which its children inherit."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)


def command_name(job):
    return job.split("_")[0]


class Torture:
    def __init__(self, tool, seed, work):
        self.tool = os.path.realpath(tool)
        self.random = random.Random(seed)
        self.work = Path(work)
        self.failures = 0
        self.failing = threading.Lock()

    def fail(self, text):
        with self.failing:
            print(f"FAILED: {text}", flush=True)
            self.failures += 1

    def require(self, condition, text):
        if not condition:
            self.fail(text)

    def run(self, arguments, **more):
        """The exit code and what was said."""
        words = arguments.split() if isinstance(arguments, str) else arguments
        done = subprocess.run([self.tool, *words], capture_output=True, text=True, **more)
        return done.returncode, (done.stdout + done.stderr).strip()

    def last_line(self, said):
        return said.splitlines()[-1] if said else ""

    def start(self, arguments, **more):
        return subprocess.Popen(
            [self.tool, *arguments.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **more
        )

    def same_results(self, job, one, other):
        return all(
            (one / name).exists() and (other / name).exists() and filecmp.cmp(one / name, other / name, shallow=False)
            for name in RESULTS[command_name(job)]
        )

    def folder(self, name):
        path = self.work / name
        shutil.rmtree(path, ignore_errors=True)
        return path

    def whole(self, job, command, suffix=""):
        """The results of a run that is left alone."""
        path = self.work / f"whole-{job}{suffix}"
        if not path.exists():
            begin = time.monotonic()
            code, said = self.run(f"{command} --out {path}")
            self.require(code == 0, f"{job} does not run: {self.last_line(said)}")
            path.with_suffix(".seconds").write_text(str(time.monotonic() - begin))
        return path, float(path.with_suffix(".seconds").read_text())

    def go_on(self, job, command, folder, what):
        """Resumes; where that is refused because nothing was saved, starts again. True where it was resumed."""
        code, said = self.run([command_name(job), "--resume", str(folder)])
        if code == 2:
            refused = "before its first save" in said or "nothing to go on" in said or "no manifest" in said or "no such" in said
            self.require(refused, f"{what}: refused without a reason to begin anew: {self.last_line(said)}")
            code, said = self.run(f"{command} --out {folder}")
            self.require(code == 0, f"{what}: does not begin anew: {self.last_line(said)}")
            return False
        self.require(code == 0, f"{what}: does not go on: {self.last_line(said)}")
        return True

    # --- parts

    def kills(self, jobs, count):
        resumed = 0
        for job in jobs:
            _, seconds = self.whole(job, JOBS[job])
            print(f"{job}: {seconds:.2f} s without a kill", flush=True)
        for number in range(count):
            job = jobs[number % len(jobs)]
            whole, seconds = self.whole(job, JOBS[job])
            folder = self.folder("killed")
            victim = self.start(f"{JOBS[job]} --out {folder}")
            time.sleep(seconds * self.random.random())
            os.killpg(victim.pid, signal.SIGKILL)
            victim.wait()
            what = f"kill {number + 1} of {job}"
            resumed += self.go_on(job, JOBS[job], folder, what)
            self.require(self.same_results(job, whole, folder), f"{what}: ends with other results")
        print(f"{count} kills at random moments, {resumed} with a checkpoint to go on from", flush=True)

    def shimmed(self, command, folder, **limits):
        environment = dict(os.environ, LD_PRELOAD=str(self.shim()), **{k: str(v) for k, v in limits.items()})
        return self.run(f"{command} --out {folder}", env=environment)

    def shim(self):
        library = self.work / "shim.so"
        if not library.exists():
            source = Path(__file__).with_name("shim.c")
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        return library

    def operations(self, command, name):
        counted = self.work / "operations"
        code, said = self.shimmed(command, self.folder(f"counted-{name}"), TORTURE_COUNT=counted)
        self.require(code == 0, f"{name} does not run with the shim: {self.last_line(said)}")
        return int(counted.read_text())

    class Moments(list):
        said = ""

    def moments_of(self, command, name, most=400):
        """Numbers of all operations of a run; of a longer one the first and the last, and how many that leaves out."""
        count = self.operations(command, name)
        moments = self.Moments(range(1, count + 1))
        if count > most:
            moments = self.Moments([*range(1, most // 2 + 1), *range(count - most // 2 + 1, count + 1)])
        moments.said = f"each of {count}" if count <= most else f"the first and the last {most // 2} of {count}"
        return moments

    def at_each(self, moments, run):
        """run(moment) for all of them, as many side by side as there are cores; what they return, in their order."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(run, moments))

    def every_operation(self):
        for job, command in SMALL_JOBS.items():
            whole, _ = self.whole(job, command, "-small")
            moments = self.moments_of(command, job)

            def killed_before(operation):
                folder = self.folder(f"killed-{operation}")
                what = f"{job} killed before operation {operation}"
                code, _ = self.shimmed(command, folder, TORTURE_KILL=operation)
                self.require(code == -signal.SIGKILL, f"{what}: was not: exit {code}")
                resumed = self.go_on(job, command, folder, what)
                self.require(self.same_results(job, whole, folder), f"{what}: ends with other results")
                left = [f.name for f in folder.glob("*.tmp")] + [f.name for f in folder.glob(".*.tmp")]
                self.require(not left, f"{what}: leaves {left}")
                shutil.rmtree(folder, ignore_errors=True)
                return resumed

            resumed = sum(self.at_each(moments, killed_before))
            print(f"{job}: killed before {moments.said} operations on its files, {resumed} resumed", flush=True)

    def full_disk(self):
        for job, command in SMALL_JOBS.items():
            whole, _ = self.whole(job, command, "-small")
            moments = self.moments_of(command, job)

            def full_from(operation):
                folder = self.folder(f"full-{operation}")
                failed = self.work / f"a-write-failed-{operation}"
                code, said = self.shimmed(command, folder, TORTURE_FULL=operation, TORTURE_FAILED=failed)
                what = f"{job} with a full disk from operation {operation}"
                if failed.exists():
                    self.require(code in (1, 2) and said, f"{what}: exit {code}, {self.last_line(said)}")
                else:  # what came last was no write
                    self.require(code == 0, f"{what}: exit {code}, {self.last_line(said)}")
                if failed.exists() and folder.exists():
                    self.go_on(job, command, folder, what)
                    self.require(self.same_results(job, whole, folder), f"{what}: other results once there is space")
                failed.unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)

            self.at_each(moments, full_from)
            print(f"{job}: a full disk from {moments.said} operations on", flush=True)

    def killed_before_first_save(self):
        job, command = "solve", SMALL_JOBS["solve"]
        folder = self.folder("second")
        self.require(self.run(f"{command} --out {folder}")[0] == 0, "solve does not run")
        other = JOBS["solve"].replace("--save-every 0.05", "--save-every 1000").replace("--iterations 20000", "--iterations 100000000")
        victim = self.start(f"{other} --out {folder}")
        time.sleep(1.0)
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
        code, said = self.run(["solve", "--resume", str(folder)])
        self.require(code == 2 and "before its first save" in said, f"an older run is resumed instead: exit {code}, {said}")
        print(f"a second run that is killed before its first save: {self.last_line(said).replace(str(self.work), '…')}", flush=True)

    def two_runs(self, pairs=20):
        command = JOBS["solve"]
        whole, seconds = self.whole("solve", command)
        refused = 0
        for number in range(pairs):
            folder = self.folder("shared")
            first = self.start(f"{command} --out {folder}")
            time.sleep(0.3 * seconds * self.random.random())
            code, said = self.run(f"{command} --out {folder}")
            first_code = first.wait()
            codes = sorted([code, first_code])
            self.require(codes in ([0, 2], [0, 0]), f"pair {number}: exits {codes}, {self.last_line(said)}")
            refused += codes == [0, 2]
            self.require(self.same_results("solve", whole, folder), f"pair {number}: files of both")
        self.require(refused > 0, "no pair met")
        print(f"two runs on one folder: {refused} of {pairs} pairs met, and one of each was refused", flush=True)

    def changed_inputs(self):
        matrix = self.work / "matrix.csv"
        matrix.write_text("2,1\n1,3\n")
        folder = self.folder("changed")
        command = f"solve --problem counter-example --solver bagdc --n 2 --matrix-file {matrix} --alpha 0.01 --beta 0.1 --iterations 100"
        self.require(self.run(f"{command} --out {folder}")[0] == 0, "solve with a matrix does not run")
        matrix.write_text("2,1\n1,4\n")
        code, said = self.run(["solve", "--resume", str(folder), "--iterations", "200"])
        self.require(code == 2 and "matrix.csv" in said, f"a changed matrix is not noticed: exit {code}, {said}")
        print(f"a changed matrix: {self.last_line(said).replace(str(self.work), '…')}", flush=True)
        rows = self.work / "rows.csv"
        lines = ["a,b,label"] + [f"{self.random.gauss(i % 2, 1)},{self.random.gauss(0, 1)},{i % 2}" for i in range(400)]
        rows.write_text("\n".join(lines) + "\n")
        trusted = self.work / "trusted.csv"
        trusted.write_text("\n".join(lines[:40]) + "\n")
        folder = self.folder("changed-rows")
        command = f"clean --train {rows} --trusted {trusted} --label label --save-every 0"
        counted = self.operations(command, "rows")
        self.shimmed(command, folder, TORTURE_KILL=counted // 2)
        rows.write_text(rows.read_text().replace("a,b,label", "a,c,label"))
        trusted.write_text(trusted.read_text().replace("a,b,label", "a,c,label"))
        code, said = self.run(["clean", "--resume", str(folder)])
        self.require(code == 2 and "rows.csv" in said, f"a renamed column is not noticed: exit {code}, {said}")
        print(f"a renamed column: {self.last_line(said).replace(str(self.work), '…')}", flush=True)

    def threads(self):
        """Another number of threads, also for a run that goes on: the same bits."""
        runs = {
            "solve": "solve --problem hyper-cleaning --solver bagdc --samples 4000 --trusted 1000 --features 300 --classes 5 --alpha 0.1"
            " --beta 0.5 --upper adam --mixing 4 --iterations 100 --every 20 --save-every 1e-9",
            "solve_automatic": "solve --problem counter-example --n 800 --matrix dense --condition 1000 --every 20 --save-every 1e-9",
        }
        for job, command in runs.items():
            whole = None
            for threads in (1, 2, 3, 7):
                folder = self.folder(f"threads-{job}-{threads}")
                code, said = self.run(f"{command} --out {folder}", env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
                self.require(code == 0, f"{job} on {threads} threads: {self.last_line(said)}")
                whole = whole or folder
                self.require(self.same_results(job, whole, folder), f"{job}: other bits on {threads} threads")
            folder = self.folder("threads-resumed")
            counted = self.operations(command, job)
            self.shimmed(command, folder, TORTURE_KILL=counted // 2, OMP_NUM_THREADS=1)
            code, said = self.run(["solve", "--resume", str(folder)], env=dict(os.environ, OMP_NUM_THREADS="2"))
            self.require(code == 0, f"{job} on other threads: does not go on: {self.last_line(said)}")
            self.require(self.same_results(job, whole, folder), f"{job}: other bits where it goes on on other threads")
        folders = []
        for threads in (1, 2, 3):
            folder = self.folder(f"clean-threads-{threads}")
            command = SMALL_JOBS["clean"].replace("--threads 1", f"--threads {threads}").replace("--samples 300", "--samples 3000")
            code, said = self.run(f"{command} --out {folder}")
            self.require(code == 0, f"clean with {threads} threads: {self.last_line(said)}")
            folders.append(folder)
            same = all(filecmp.cmp(folders[0] / name, folder / name, shallow=False) for name in RESULTS["clean"][:3])
            self.require(same, f"clean: other bits on {threads} threads")
        print("other numbers of threads: the same bits", flush=True)

    def damaged_checkpoint(self):
        command = JOBS["solve"]
        whole, _ = self.whole("solve", command)
        folder = self.folder("cut")
        victim = self.start(f"{command} --out {folder}")
        while not (folder / "checkpoint.previous.dpx").exists() and victim.poll() is None:
            time.sleep(0.01)
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
        newest = folder / "checkpoint.dpx"
        newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 2])
        code, said = self.run(["solve", "--resume", str(folder)])
        self.require(code == 0 and "going on from the one before" in said, f"a checkpoint that is cut short: {said}")
        self.require(self.same_results("solve", whole, folder), "a checkpoint that is cut short leads to other results")
        print("a checkpoint that is cut short: the one before it is used", flush=True)

    def unwritable_folder(self):
        folder = self.folder("read-only")
        folder.mkdir()
        folder.chmod(0o555)
        os.chmod(self.work, 0o755)
        words = [self.tool, *SMALL_JOBS["solve"].split(), "--out", str(folder)]
        if os.getuid() == 0:
            words = ["setpriv", "--reuid=65534", "--clear-groups", *words]
        done = subprocess.run(words, capture_output=True, text=True)
        self.require(done.returncode == 2, f"a folder that cannot be written is not refused: {done.stderr}")
        print(f"a folder that cannot be written: {self.last_line(done.stderr).replace(str(self.work), '…')}", flush=True)

    def long_run(self, seconds):
        """Every stopping rule on and none met: memory and checkpoint do not grow."""
        command = (
            "solve --problem ridge --solver bagdc --alpha 1e-9 --beta 1e-9 --iterations 1000000000000000 --every 1 --save-every 5"
            " --direction-tolerance 1e-300 --kkt-tolerance 1e-300 --kkt-relative-tolerance 1e-300 --target kkt=1e-300"
            f" --patience 1000000000000 --held-out-patience 1000000000000 --seconds {seconds}"
        )
        folder = self.folder("long")
        begin = time.monotonic()
        running = self.start(f"{command} --out {folder}")
        seen = []
        while True:
            try:
                running.wait(seconds / 30)
                break
            except subprocess.TimeoutExpired:
                status = Path(f"/proc/{running.pid}/status").read_text()
                resident = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), None)
                if resident is None:  # it has just ended
                    continue
                checkpoint = folder / "checkpoint.dpx"
                size = checkpoint.stat().st_size if checkpoint.exists() else 0
                seen.append((time.monotonic() - begin, resident, size))
        took = time.monotonic() - begin
        for at, resident, size in seen[:: max(1, len(seen) // 10)]:
            print(f"  after {at:5.0f} s: {resident / 1024:6.1f} MB resident, checkpoint {size / 1024:7.1f} KB", flush=True)
        third = seen[len(seen) // 3]
        self.require(max(r for _, r, _ in seen) < third[1] + 8 * 1024, "resident memory grows")
        self.require(max(c for _, _, c in seen) < 1.5 * third[2] + 64 * 1024, "the checkpoint grows")
        self.require(took < seconds + 10, f"--seconds {seconds} took {took:.0f} s")
        print(f"{took:.0f} s with every stopping rule: memory and checkpoint flat", flush=True)

    def signals(self, moments):
        """Ctrl-C, SIGTERM, SIGHUP and --seconds end every command within two seconds at any moment."""
        fifo = self.work / "fifo.csv"
        os.mkfifo(fifo)
        commands = {
            "solve": (JOBS["solve"].replace("20000", "100000000"), True),
            "solve, inner loop": ("solve --problem ridge --solver cg --inner 1000000000000", True),
            "solve, automatic": (JOBS["solve_automatic"].replace("--n 300", "--n 20000").replace("10000 ", "100000000 "), True),
            "solve, being built": ("solve --problem quadratic --n 3000 --m 3000", False),
            "race": ("race --problem quadratic --n 200 --m 200 --condition 10000 --time-limit 100 --direction-tolerance 1e-300 --solvers rhg,cg,automatic", False),
            "clean": (JOBS["clean"].replace("--samples 4000", "--samples 40000"), False),
            "clean, from a FIFO": (f"clean --train {fifo} --trusted {fifo} --label label", False),
            "reproduce": ("reproduce all", False),
            "few-shot": (JOBS["few-shot"].replace("--steps 25", "--steps 100000"), False),
        }
        for command, program in (("few-shot", "duplex-torch"), ("reproduce", "duplex-reproduce")):
            if not os.path.exists(os.path.join(os.path.dirname(self.tool), program)):
                del commands[command]
        slowest = 0.0
        for number in range(moments):
            name = list(commands)[number % len(commands)]
            command, promises = commands[name]
            how = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP][self.random.randrange(3)]
            folder = self.folder("signalled")
            running = self.start(f"{command} --out {folder}", preexec_fn=heeds_every_signal)
            time.sleep(4.0 * self.random.random())
            os.kill(running.pid, how)
            asked = time.monotonic()
            code = running.wait()
            seconds = time.monotonic() - asked
            slowest = max(slowest, seconds)
            what = f"{name} after {signal.Signals(how).name}"
            self.require(seconds < 2.0, f"{what}: took {seconds:.2f} s to end")
            self.require(code != 0, f"{what}: exit 0 although it was not done")
            if promises and (folder / "manifest.json").exists():
                resumable, said = self.run(["solve", "--resume", str(folder), "--seconds", "0.01"])
                allowed = resumable in (0, 1) or "before its first save" in said
                self.require(allowed, f"{what}: cannot be gone on with: exit {resumable}, {self.last_line(said)}")
        print(f"asked to end at {moments} random moments: at most {slowest:.2f} s", flush=True)
        # A second signal ends the program at once; one that was ignored from the start stays ignored.
        folder = self.folder("signalled")
        running = self.start(f"{commands['solve, inner loop'][0]} --out {folder}", preexec_fn=heeds_every_signal)
        time.sleep(1.0)
        os.kill(running.pid, signal.SIGINT)
        time.sleep(0.4)
        os.kill(running.pid, signal.SIGINT)
        asked = time.monotonic()
        code = running.wait()
        self.require(code == -signal.SIGINT, f"two signals: exit {code}")
        self.require(time.monotonic() - asked < 0.5, "a second signal does not end the program at once")
        running = self.start(f"{commands['solve'][0]} --out {self.folder('nohup')}", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(1.0)
        os.kill(running.pid, signal.SIGHUP)
        time.sleep(2.5)
        self.require(running.poll() is None, "SIGHUP ends a run under nohup")
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        print("a second signal ends at once; SIGHUP under nohup does not", flush=True)
        for name in ("solve", "solve, inner loop", "solve, automatic"):
            begin = time.monotonic()
            code, said = self.run(f"{commands[name][0]} --seconds 1 --kkt-tolerance 1e-300 --target kkt=-1 --out {self.folder('timed')}")
            seconds = time.monotonic() - begin
            self.require(seconds < 3.0, f"{name} --seconds 1 took {seconds:.2f} s")
            print(f"{name} --seconds 1: {seconds:.2f} s in all", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--moments", type=int, default=40)
    parser.add_argument("--long-seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--parts", default="", help="some of the parts alone")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        torture = Torture(arguments.tool, arguments.seed, work)
        parts = {
            "kills": lambda: torture.kills(arguments.jobs.split(","), arguments.kills),
            "every-operation": torture.every_operation,
            "full-disk": torture.full_disk,
            "first-save": torture.killed_before_first_save,
            "two-runs": torture.two_runs,
            "changed-inputs": torture.changed_inputs,
            "threads": torture.threads,
            "damaged-checkpoint": torture.damaged_checkpoint,
            "unwritable-folder": torture.unwritable_folder,
            "signals": lambda: torture.signals(arguments.moments),
            "long-run": lambda: torture.long_run(arguments.long_seconds),
        }
        for name in arguments.parts.split(",") if arguments.parts else parts:
            parts[name]()
        print("all is well" if torture.failures == 0 else f"{torture.failures} failures")
        return 0 if torture.failures == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
