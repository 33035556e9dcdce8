"""Pages of README.md, docs/ and docstrings, made by Sphinx: every link, title and docstring is well formed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_pages_are_made_without_a_warning(tmp_path):
    for package in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(package)
    command = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", str(tmp_path / "trees"))
    done = subprocess.run(
        (*command, "-c", "docs", ".", str(tmp_path / "pages")), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    api = (tmp_path / "pages/docs/api.html").read_text()
    for name in ("Dynamics.forward_dynamics", "Simulation.step", "scene.Scene.parameter", "bridge.PyBulletMirror.step"):
        assert f'{name}"' in api, name
    for page in (ROOT / "docs").glob("*.md"):
        assert (tmp_path / f"pages/docs/{page.stem}.html").is_file()
    assert "first_joint.html" in (tmp_path / "pages/docs/index.html").read_text()
