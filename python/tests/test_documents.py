"""What the documents show runs, and is what there is."""
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

import duplex

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def blocks_of(file):
    """The Python code of a page, one block after the other."""
    return re.findall(r"^```python\n(.*?)^```", file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore")
def test_the_page_runs_from_its_beginning_to_its_end(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(DOCS / "python.md")
    assert len(blocks) >= 8
    (tmp_path / "tutorial.py").write_text("\n".join(blocks), encoding="utf-8")
    with torch.random.fork_rng():
        runpy.run_path(str(tmp_path / "tutorial.py"))


@pytest.mark.filterwarnings("ignore")
def test_the_readme_runs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    rows = ["1.0,red,ant", "1.2,red,ant", "3.1,blue,bee", "3.3,blue,bee"] * 10
    (tmp_path / "noisy.csv").write_text("\n".join(["size,colour,label", *rows, "3.2,blue,ant"]) + "\n")
    (code,) = blocks_of(ROOT / "README.md")
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert list(names["issues"]["row"]) == [40] and names["table"]["label"][40] == "bee"


def test_the_reference_is_what_the_docstrings_say():
    pytest.importorskip("torch")
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "python_reference.py"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert (DOCS / "python-reference.md").read_text(
        encoding="utf-8"
    ) == made.stdout, "docs/python-reference.md is not current: scripts/python_reference.py prints it"


def test_the_page_names_everything_public():
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    for name in duplex.__all__:
        assert name in page, name
