"""What is installed: the types come along in the wheel, and other Pythons are told which one is needed."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SNIPPET = """
import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints

scene = Scene()
scene.world.attach(Body("bar", mass=1.0), joints.revolute("y"))
simulation = rd.Simulation(scene.compile(), timestep=1 / 240)
simulation.step(2)
mirror = PyBulletMirror(scene, simulation)
mirror.step()
"""


def run(*command: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **options)


def copied(folder: Path) -> None:
    """The checkout as it was committed."""
    pytest.importorskip("setuptools", minversion="70.1")
    run("git", "clone", "-q", "--no-hardlinks", str(ROOT), str(folder / "project"), check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy, without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    copied(folder)
    pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index")
    done = run(*pip, "-w", str(folder), str(folder / "project"))
    assert done.returncode == 0, done.stderr[-3000:]
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
def test_the_wheel_holds_every_module(wheel):
    tracked = run("git", "ls-files", "recursive_dyn", "scene", "bridge", "demos", cwd=ROOT).stdout.split()
    assert set(tracked) <= set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.slow
def test_the_source_distribution_is_the_checkout(tmp_path):
    """With tests, docs, pictures and examples: whoever has it can test it."""
    copied(tmp_path)
    build = "import setuptools.build_meta as build; print(build.build_sdist('..'))"
    done = run(sys.executable, "-c", build, cwd=tmp_path / "project")
    assert done.returncode == 0, done.stderr[-3000:]
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "ls-files", cwd=tmp_path / "project").stdout.split()
    assert len(tracked) > 1000 and not set(tracked) - names


def test_the_core_is_part_of_it_all():
    """What setup.sh asks for is part of what a plain installation brings."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert set(groups["core"]) <= set(PROJECT["dependencies"]) and "pybullet" not in " ".join(groups["core"])


@pytest.mark.slow
def test_games_run_from_the_wheel(wheel, tmp_path):
    """From what is unpacked, in a folder where no sources are."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    examples = (sys.executable, "-m", "recursive_dyn.examples")
    home = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(tmp_path / "site")}}
    listed = run(*examples, "-l", **home)
    assert {line.split()[0] for line in listed.stdout.splitlines()} == {
        "marble_run", "rollback", "walker", "wrecking_ball",
    }, listed.stderr  # fmt: skip
    played = run(*examples, "rollback", "--frames", "20", **home)
    assert "none of them different" in played.stdout, played.stderr


@pytest.mark.slow
def test_a_misspelt_method_is_found_in_what_is_installed(wheel, tmp_path):
    """By mypy, which believes annotations of an installed package only where it finds py.typed."""
    run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv"), check=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    mypy = (sys.executable, "-m", "mypy", "--config-file", "", "--python-executable", str(tmp_path / "venv/bin/python"))
    for text, found in (
        (SNIPPET, ()),
        (SNIPPET.replace("simulation.step(2)", "simulation.stepp(2)"), ('"Simulation" has no attribute "stepp"',)),
        (SNIPPET.replace("mirror.step()", "mirror.setp()"), ('"PyBulletMirror" has no attribute "setp"',)),
        (SNIPPET.replace("joints.revolute", "joints.revolutte"), ('has no attribute "revolutte"',)),
    ):
        (tmp_path / "snippet.py").write_text(text)
        done = run(*mypy, "snippet.py", cwd=tmp_path, env=os.environ | {"MYPYPATH": "", "PYTHONPATH": ""})
        assert (done.returncode == 0) == (not found), done.stdout + done.stderr
        assert all(part in done.stdout for part in found), done.stdout


def test_another_python_is_told_which_one_is_needed(tmp_path):
    """setup.sh, where every Python that it finds is another one."""
    for name in ("python3", "python3.11"):
        (tmp_path / name).write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.14.0 && exit 0\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "setup.sh").write_bytes((ROOT / "setup.sh").read_bytes())
    for name in ("dirname", "sh"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    done = run("/bin/sh", str(tmp_path / "setup.sh"), cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert done.returncode == 1
    assert "needs Python 3.11" in done.stderr and "Python 3.14.0" in done.stderr
    assert not (tmp_path / ".venv").exists()
    assert PROJECT["requires-python"] == ">=3.11,<3.12"
