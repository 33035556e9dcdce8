"""The README's examples run as they stand, and its commands name what exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

from demos.manifolds import quadrotor

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text()


def test_the_examples_run_one_after_the_other(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) >= 2
    program = tmp_path / "example.py"
    program.write_text("\n".join(blocks) + "\nassert simulation.time > 2.4 and len(joint.coordinates) == 5\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_equations_are_those_that_are_derived():
    assert f"```math\n{quadrotor.with_load().derive().latex()}\n```" in TEXT


def test_pictures_and_scripts_exist():
    for picture in re.findall(r"\]\((assets/[^)]+)\)", TEXT):
        assert (ROOT / picture).stat().st_size > 10_000
    for script in re.findall(r"^sh (\S+)", TEXT, re.MULTILINE):
        assert (ROOT / script).exists()
