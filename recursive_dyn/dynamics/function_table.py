"""The list of functions as a page: ``python -m recursive_dyn.dynamics.function_table > docs/functions.md``."""

from __future__ import annotations

from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.recursion.context import Function

_HEAD = """# Every compiled function

What `dynamics.call(name, ...)`, `dynamics.program(name)`, `dynamics.equations(name)` and, where it says so,
`dynamics.export_c(folder)` know; most are methods of `Dynamics` by the same name. `name/parameter` is the derivative
by a parameter of the scene, `along/name` the one along rates of all arguments, which follow them. SI units, radians,
angular parts first.

| function | of | what it gives | C |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Markdown, one row a function."""
    return _HEAD + "".join(_row(name, function) for name, function in FUNCTIONS.items())


def _row(name: str, function: Function) -> str:
    meaning = " ".join(function.meaning.split()).replace("|", "\\|")
    exported = ("with constraints" if function.constrained else "yes") if function.exported else ""
    return f"| `{name}` | {', '.join(function.inputs)} | {meaning} | {exported} |\n"


if __name__ == "__main__":
    print(page(), end="")
