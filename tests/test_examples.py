"""The files of examples/: short, run as they stand, and what they show is so."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "examples"
HOLDS = {  # of what a file leaves behind; mirrors, pictures and robots are left to .ci/run
    "balance": lambda it: it["error"] < 1e-3 and max(abs(it["A"][2:, :2].ravel())) > 1.0,
    "falling_blocks": lambda it: it["lifted"] == pytest.approx(it["weight"], rel=1e-3),
    "four_bar": lambda it: it["gap"] < 1e-12 and it["simulation"].q[0] > 1.0,
    "game_loop": lambda it: len(it["hits"]) == 1 and 0.19 < it["lowest"] < 0.21,
    "gravity_slider": lambda it: it["period"] == pytest.approx(4.937, rel=2e-3) and it["slopes"].shape == (1, 2),
    "helix": lambda it: abs(it["drift"]) < 1e-4,
    "many_at_once": lambda it: it["error"] < 1e-10 and it["M"].shape == (1000, 12, 12),
    "picture": lambda it: it["picture"].shape == (360, 480, 3) and it["picture"].std() > 5,
    "robot_arm": lambda it: it["error"] < 1e-5 and it["found"].converged,
    "spherical_pendulum": lambda it: abs(it["motion"].drift) < 1e-9 and abs(it["motion"].time - 2.0) < 1e-9,
}
SLOW = {"balance", "falling_blocks", "picture", "robot_arm", "game_loop"}


def test_every_example_is_run_and_short():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(HOLDS)
    lengths = {path.name: len(path.read_text().splitlines()) for path in FOLDER.glob("*.py")}
    assert all(10 <= lines <= 40 for lines in lengths.values()), lengths


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in HOLDS])
def test_an_example_shows_what_it_says(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    left = runpy.run_path(str(FOLDER / f"{name}.py"))
    assert HOLDS[name](left), capsys.readouterr().out
    assert capsys.readouterr().out
