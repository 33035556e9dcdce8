"""The house rules that tools can check: lint, format, types, imports, sizes, names, documentation."""

import ast
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
import slow_cases

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("recursive_dyn", "scene", "bridge", "demos")
CORE = ("recursive_dyn", "scene", "bridge")
FILE, FUNCTION, ROOMS = 300, 60, 14  # lines, lines, folders of recursive_dyn
ALIASES = {"scene", "bridge"}  # of recursive_dyn: the packages of these names, for who has a scene.py of their own
CHECKS = {
    "lint": [sys.executable, "-m", "ruff", "check", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "."],
    "types": [sys.executable, "-m", "mypy"],
    "imports": [str(Path(sys.executable).with_name("lint-imports"))],
}


@pytest.mark.parametrize("name", CHECKS)
def test_tool_is_content(name: str) -> None:
    done = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def files(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax of every module, by name."""
    return {module_name(path): ast.parse(path.read_text()) for path in files(*PACKAGES)}


def imported(tree: ast.Module) -> Iterator[str]:
    """The project's modules that a module imports, also those for annotations or within a function only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in trees())
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, "imports name the whole way"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from [whole] if whole in trees() else [node.module] if node.module in trees() else []


def repeated(places: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: modules for name, modules in places.items() if len(modules) > 1}


def test_no_file_is_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files(*PACKAGES)}
    assert not {path: lines for path, lines in lengths.items() if lines > FILE}


def test_no_function_is_long() -> None:
    functions = [
        (module, node.name, node.end_lineno - node.lineno + 1)
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 1000
    assert not [function for function in functions if function[2] > FUNCTION]


def test_every_concept_of_the_core_has_a_room() -> None:
    loose = {path.stem for path in (ROOT / "recursive_dyn").glob("*.py")} - {"__init__"}
    assert loose == {"errors", "own_packages", *ALIASES}
    assert len([path for path in (ROOT / "recursive_dyn").iterdir() if (path / "__init__.py").is_file()]) <= ROOMS


def test_no_imports_in_circles() -> None:
    """Annotations included: whoever reads a module needs to read only what lies below it."""
    try:
        TopologicalSorter({module: set(imported(tree)) - {module} for module, tree in trees().items()}).prepare()
    except CycleError as circle:
        pytest.fail(" -> ".join(circle.args[1]))


def test_one_name_is_one_module() -> None:
    """But for a package and the module in it that the package is about."""
    places = defaultdict(list)
    for module in trees():
        parent, _, name = module.rpartition(".")
        alias = parent == "recursive_dyn" and name in ALIASES
        if module.split(".")[0] in CORE and parent.rpartition(".")[2] != name and not alias:
            places[name].append(module)
    assert not repeated(places)


def test_one_name_is_one_module_of_the_tests() -> None:
    """pytest imports them without their folders' names: of two one would go unrun."""
    places = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.name != "conftest.py":
            places[path.name].append(path)
    assert not repeated(places)


def test_one_name_is_one_class() -> None:
    places = defaultdict(list)
    for module, tree in trees().items():
        for node in tree.body if module.split(".")[0] in CORE else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert len(places) > 100
    assert not repeated(places)


def test_every_folder_is_a_package_and_every_module_says_what_it_is() -> None:
    folders = {path.parent for path in files(*PACKAGES)}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]
    assert not [module for module, tree in trees().items() if not ast.get_docstring(tree)]


def test_the_checker_of_imports_sees_every_module() -> None:
    """A folder without __init__ would be unseen, and whatever it imported with it."""
    assert grimp.build_graph(*PACKAGES, cache_dir=None).modules == set(trees())


def test_a_run_from_the_cache_needs_no_sympy_and_no_trimesh(tmp_path: Path) -> None:
    """The first process compiles; the second finds the machine code in the cache."""
    program = """
import sys
import numpy as np
import recursive_dyn as rd
from scene import Body, Scene, joints, shapes
scene = Scene()
arm = scene.world.attach(Body("arm", shapes=[shapes.Capsule(0.1, 1.0)]), joints.revolute("y"))
arm.attach(Body("hand", shapes=[shapes.Box((1, 1, 1))]), joints.ball(), at=rd.pose((0, 0, -1)))
dynamics = scene.compile()
simulation = rd.Simulation(dynamics)
simulation.step(10)
assert np.isfinite(dynamics.forward_dynamics(simulation.q, simulation.v)).all()
print(sorted({"sympy", "trimesh", "pybullet"} & set(sys.modules)))
"""
    environment = os.environ | {"RECURSIVE_DYN_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_what_waits_for_ci_is_there():
    for entry in slow_cases.CASES:
        place, test = entry.split("::")
        assert f"\ndef {test}(" in (ROOT / "tests" / place).read_text(), entry
