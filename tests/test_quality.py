"""The house rules that tools can check: lint, format, types, direction of imports, size of files."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
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


def test_one_idea_one_file() -> None:
    packages = ("recursive_dyn", "scene", "bridge", "demos")
    lengths = {p: len(p.read_text().splitlines()) for d in packages for p in (ROOT / d).rglob("*.py")}
    assert not {str(p): n for p, n in lengths.items() if n > 350}


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
    import os

    environment = os.environ | {"RECURSIVE_DYN_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == "[]", done.stdout + done.stderr
