"""The package beside the command line: the same data and seed, the same results."""
import json
import os
import pathlib
import subprocess

import numpy
import pytest

import duplex

pytestmark = pytest.mark.filterwarnings("ignore::duplex._cleaner.CleaningWarning")


def tool():
    """Runs a command of the tool that was built beside the package; skipped where there is none."""
    program = pathlib.Path(os.environ.get("DUPLEX_BUILD", "")) / "duplex"
    if not program.is_file():
        pytest.skip("the tool is not built")

    def run(*arguments, folder):
        done = subprocess.run([program, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def columns_of(file):
    lines = [line.split(",") for line in file.read_text().splitlines()]
    return {name: [line[place] for line in lines[1:]] for place, name in enumerate(lines[0])}


def test_arrays_are_cleaned_as_by_the_tool(noisy, tmp_path):
    X, given, right, _ = noisy
    arrays = {"x": X[60:].astype(numpy.float32), "y": given[60:], "tx": X[:60].astype(numpy.float32), "ty": right[:60]}
    for name, array in arrays.items():
        numpy.save(tmp_path / f"{name}.npy", array)
    command = "clean --train x.npy --train-labels y.npy --trusted tx.npy --trusted-labels ty.npy --seed 5 --out out"
    tool()(*command.split(), folder=tmp_path)
    cleaner = duplex.HyperCleaner(random_state=5).fit(*arrays.values())
    suspects = columns_of(tmp_path / "out" / "suspects.csv")
    weights = columns_of(tmp_path / "out" / "weights.csv")
    assert [int(row) - 1 for row in suspects["row"]] == list(cleaner.suspects_["row"])
    assert [int(label) for label in suspects["suggested"]] == list(cleaner.suspects_["suggested"])
    numpy.testing.assert_allclose([float(trust) for trust in weights["trust"]], cleaner.trust_, rtol=1e-5, atol=1e-9)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    for name in ("rounds", "expected_wrong", "pooling", "suspects_below_trust"):
        assert cleaner.summary_[name] == summary[name]
    cleaner.save(tmp_path / "saved")
    for name in ("model.json", "model.npy"):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_run_by_name_is_that_of_the_tool(tmp_path):
    run = tool()
    for command, options in {
        "--problem ridge --features 6 --solver bagdc --alpha 0.1 --beta 0.1 --iterations 50": {
            "method": "bagdc",
            "alpha": 0.1,
            "beta": 0.1,
            "iterations": 50,
        },
        "--problem ridge --features 6": {},
    }.items():
        told = json.loads(
            run("solve", *command.split(), "--json", "--metrics", "kkt", folder=tmp_path)
            if options
            else run("solve", *command.split(), "--json", "--metrics", "kkt", folder=tmp_path)
        )["series"][0]
        result = duplex.minimize(duplex.problem("ridge", features=6), metrics="kkt", **options)
        assert result.nit == told["iterations"] and result.termination == told["status"]
        assert result.metrics["kkt"] == told["metrics"]["kkt"]
        assert result.counters["gradients"] == told["evaluations"]["gradients"]


def test_the_lists_are_those_of_the_tool(tmp_path):
    listed = json.loads(tool()("list", "--json", folder=tmp_path))
    assert [entry["name"] for entry in listed["solvers"]] == list(duplex.methods())
    assert [entry["name"] for entry in listed["problems"]] == list(duplex.problems())
    assert listed["metrics"] == list(duplex.METRICS)
    for entry in [*listed["solvers"], *listed["problems"]]:
        ours = duplex.options(entry["name"])
        assert [option["name"].replace("_", "-") for option in ours] == [option["name"] for option in entry["options"]]
        assert [option["help"] for option in ours] == [option["help"] for option in entry["options"]]
