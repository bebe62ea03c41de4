#!/usr/bin/env python3
"""python_reference.py: docs/python-reference.md, from the docstrings of the installed package, on standard output."""
import inspect

import duplex

FIRST = ["HyperCleaner", "find_label_issues", "minimize", "Problem", "Level", "Point", "check", "race"]
HEAD = """# The Python reference

Made from the docstrings of the package. [Python](python.md) is where to begin.
"""


def signature_of(name, function):
    """With a line for each parameter where it is long."""
    parameters = [str(parameter) for parameter in inspect.signature(function).parameters.values()]
    parameters = [parameter for parameter in parameters if parameter != "self"]
    line = f"{name}({', '.join(keyword_only(function, parameters))})"
    if len(line) <= 100:
        return line
    return "\n    ".join([f"{name}(", *[f"{parameter}," for parameter in keyword_only(function, parameters)]]) + "\n)"


def keyword_only(function, parameters):
    """With a star before the first that must be named."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY not in kinds:
        return parameters
    place = kinds.index(inspect.Parameter.KEYWORD_ONLY) - (len(kinds) - len(parameters))
    return [*parameters[:place], "*", *parameters[place:]]


def text_of(documented):
    """The docstring, with lists in the place of NumPy's sections."""
    lines = []
    rest = iter(inspect.getdoc(documented).split("\n"))
    in_section = False
    for line in rest:
        if line.startswith("---"):
            lines[-1] = f"**{lines[-1]}**\n"
            in_section = True
        elif in_section and line.startswith("    "):
            lines[-1] += f" {line.strip()}" if lines[-1].endswith(".") else f": {line.strip()}"
        elif in_section and " : " in line:
            name, kind = line.split(" : ", 1)
            lines.append(f"- `{name}` ({kind})")
        else:
            lines.append(line)
    return "\n".join(lines)


def entry(name, function, level):
    return f"{level} {name.split('.')[-1]}\n```python\n{signature_of(name, function)}\n```\n{text_of(function)}\n"


def members_of(kind, prefix):
    parts = []
    for name, member in vars(kind).items():
        if name.startswith("_") or (prefix.endswith("HyperCleaner") and name == "suspects_"):
            continue
        if inspect.isfunction(member):
            parts.append(entry(f"{prefix}.{name}", member, "###"))
    return parts


def class_entry(name, kind):
    if issubclass(kind, Exception):
        return [f"## {name.split('.')[-1]}\n`{name}({kind.__base__.__name__})`\n\n{text_of(kind)}\n"]
    if kind.__init__ in (object.__init__, dict.__init__):
        head = f"## {name.split('.')[-1]}\n{text_of(kind)}\n"
    else:
        head = entry(name, kind, "##")
    return [head, *members_of(kind, name)]


def entries(module, names, prefix):
    parts = []
    for name in names:
        found = getattr(module, name)
        shown = f"{prefix}.{name}"
        if inspect.isclass(found):
            parts.extend(class_entry(shown, found))
        elif callable(found):
            parts.append(entry(shown, found, "##"))
        else:
            parts.append(f"## {name}\n{', '.join(f'`{value}`' for value in found)}\n")
    return parts


def page():
    """The whole page."""
    rest = [name for name in duplex.__all__ if name not in FIRST]
    of_torch = ["minimize", "check", "Problem", "ModuleAt"]
    return "\n".join(
        [
            HEAD,
            *entries(duplex, [*FIRST, *rest], "duplex"),
            "# duplex.torch\n",
            f"{inspect.getdoc(duplex.torch)}\n",
            *entries(duplex.torch, of_torch, "duplex.torch"),
        ]
    )


if __name__ == "__main__":
    print(page(), end="")
