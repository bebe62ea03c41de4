"""The package itself: what it holds, loads and says of itself."""
import ast
import importlib.metadata
import inspect
import pathlib
import subprocess
import sys

import duplex

FOLDER = pathlib.Path(duplex.__file__).parent


def loaded_by(statement):
    """The packages that are loaded in a fresh interpreter."""
    script = f"import sys\n{statement}\nprint(' '.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    return set(done.stdout.split())


def test_the_import_loads_numpy_and_nothing_else_that_is_large():
    loaded = loaded_by("import duplex")
    assert "numpy" in loaded
    assert not loaded & {"torch", "sklearn", "scipy", "pandas", "matplotlib", "tqdm", "IPython"}


def test_the_metadata_names_the_version_what_is_required_and_the_licence():
    metadata = importlib.metadata.metadata("duplex")
    assert metadata["Version"] == duplex.__version__
    assert metadata["Requires-Dist"].startswith("numpy") and metadata["License"] == "Apache-2.0"
    assert metadata["Description-Content-Type"] == "text/markdown" and "# Duplex for Python" in metadata.get_payload()
    required = [line for line in metadata.get_all("Requires-Dist") if "extra" not in line]
    assert len(required) == 1, "NumPy alone is required"


def test_the_wheel_holds_its_libraries_types_and_no_sources():
    names = {file.name for file in FOLDER.iterdir()}
    assert {"py.typed", "__init__.pyi", "torch.pyi"} <= names
    libraries = {file.name for file in (FOLDER / "_libs").iterdir()}
    assert any(name.startswith("libfmt.so") for name in libraries)
    assert not any(file.is_symlink() for file in (FOLDER / "_libs").iterdir())
    assert not list(FOLDER.rglob("*.cpp"))


def names_and_parameters(file):
    """What a stub declares: functions with their parameters, and classes with their methods'."""
    declared = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            declared[node.name] = parameters_of(node)
        elif isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            declared[node.name] = {method.name: parameters_of(method) for method in methods}
    return declared


def parameters_of(node):
    arguments = node.args
    named = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    return [*named, *([arguments.kwarg.arg] if arguments.kwarg else [])]


def own_parameters(function):
    kinds = inspect.Parameter
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind != kinds.VAR_POSITIONAL
    ]


def test_the_stubs_declare_what_there_is_with_its_parameters():
    declared = names_and_parameters(FOLDER / "__init__.pyi")
    assert set(duplex.__all__) - {"METRICS"} == set(declared)
    for module, stub in ((duplex, declared), (duplex.torch if has_torch() else None, None)):
        if module is None:
            continue
        for name, members in (stub or names_and_parameters(FOLDER / "torch.pyi")).items():
            found = getattr(module, name)
            if isinstance(members, list):
                assert own_parameters(found) == members, name
                continue
            for method, parameters in members.items():
                member = inspect.getattr_static(found, method)
                if not isinstance(member, property):
                    assert own_parameters(getattr(found, method)) == parameters, f"{name}.{method}"


def has_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def test_everything_public_is_documented():
    for name in duplex.__all__:
        found = getattr(duplex, name)
        if callable(found):
            assert inspect.getdoc(found), name
            if inspect.isclass(found) and found.__module__.startswith("duplex"):
                for member, value in vars(found).items():
                    if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                        assert inspect.getdoc(value), f"{name}.{member}"
