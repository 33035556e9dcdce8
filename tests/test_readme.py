"""README and docs: examples run as they stand; links, pictures, scripts, figures and paths that are named exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from demos.manifolds import quadrotor

ROOT = Path(__file__).resolve().parent.parent
PAGES = {path.name: path.read_text() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))}
OUTCOMES = {  # of a page's examples, one after the other
    "README.md": "simulation.time > 2.4",
    "forces.md": "len(scene.forces) == 8 and simulation.report.unexplained_energy == 0.0",
    "time.md": "simulation.q[-1] == simulation.time and abs(power) > 1e-3 and run.dynamics.nq == 2",
    "first_joint.md": "lost > 0 and max(abs(back).max(), abs(pose[2, 3] - climbed)) < 1e-9 and 'sheet' in refused",
    "frames.md": "dynamics.nq == 12 and dynamics.nv == 10 and abs(gained - power) < 1e-5",
    "performance.md": "count.total > 100 and a.shape == (4096, 8) and simulation.time > 9.99",
    "integrators.md": "report.halvings >= report.steps_halved > 0 and report.unexplained_energy == 0.0",
    "mechanisms.md": "len(joint.coordinates) == 5 and len(machine.bodies) >= 6",
    "motors.md": "abs(simulation.v[0] - 1.0) < 1e-6 and simulation.motor_forces['arm.angle'].force != 0.0",
    "contact.md": "motion.time > 1.9 and motion.solution.converged and motion.solution.penetration < 1e-3",
    "queries.md": "inside + (moved.body,) == ('crate', 'ball') and np.allclose([near.distance, ranges[0]], 0.8, 1e-3)"
    " and np.allclose([t for t, *_ in told], np.sqrt(2 * np.array([0.9, 1.6, 1.9, 2.6]) / 9.81), atol=1 / 60)",
    "control.md": "np.abs(error).max() < 1e-2 and np.abs(left).max() < 1e-2",
    "derivatives.md": "by_mass.shape == (7, 1) and A.shape == (14, 14) and B.shape == (14, 7)",
    "manifolds.md": "abs(motion.drift) < 1e-9",
    "plugin.md": "hits[0].body_a == 'ball' and game.bodies == ('ball', 'second') and lines.any()",
    "topology.md": "strong.broken[0].force > 1000 and strong.dynamics.nq == 27",
    "viewer.md": "picture.shape == (480, 640, 3) and set(body.ravel().tolist()) == {-2, -1, 0} and len(frames) == 25",
    "recording.md": "len(recording) == 241 and np.ptp(recording.outputs['energy']) < 2e-3 * energy(simulation)",
    "c.md": "{'chain.h', 'chain.c', 'chain_step.c', 'chain_poses.c', 'CMakeLists.txt'} <= written",
    "formulations.md": "np.abs(missed).max() < 2e-3 and np.abs(q - motions[0].q).max() < 0.1",
    "conversion.md": "max(distances) < 5e-3 and held.gap < 1e-3",
}


def place(name: str) -> Path:
    return ROOT / name if (ROOT / name).exists() else ROOT / "docs" / name


def examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL)


def test_every_page_with_examples_is_run():
    """Code stands in fences only: what is indented would be shown as code, too, and not be run."""
    assert {page for page in PAGES if examples(page)} == set(OUTCOMES)
    for page, text in PAGES.items():
        assert {*re.findall(r"^```(\w*)$", text, re.MULTILINE)} <= {"", "python", "sh", "math"}, page
        outside = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        assert not re.findall(r"^ {4,}\S.*", outside, re.MULTILINE), page


@pytest.mark.parametrize("page", OUTCOMES)
def test_the_examples_run_one_after_the_other(page, tmp_path):
    program = tmp_path / "example.py"
    program.write_text("\n".join(examples(page)) + f"\nassert {OUTCOMES[page]}\n")
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
    assert f"```math\n{quadrotor.with_load().derive().latex()}\n```" in PAGES["manifolds.md"]


@pytest.mark.parametrize("page", PAGES)
def test_links_pictures_and_scripts_exist(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", PAGES[page]):
        target = place(page).parent / link
        assert target.exists(), f"{page} links to {link}"
        if target.parent.name == "assets":
            assert target.stat().st_size > 10_000
    for script in re.findall(r"^sh (\S+)", PAGES[page], re.MULTILINE):
        assert (ROOT / script).exists()
    for command in re.findall(r"python -m (demos[\w.]*)", PAGES[page]):
        module = ROOT / command.replace(".", "/")
        assert module.with_suffix(".py").is_file() or (module / "__main__.py").is_file(), f"{page}: {command}"


def test_every_page_is_reached_and_every_picture_shown():
    text = "\n".join(PAGES.values())
    for page in (ROOT / "docs").glob("*.md"):
        others = "".join(content for name, content in PAGES.items() if name != page.name)
        assert f"](docs/{page.name})" in others or f"]({page.name})" in others, page.name
    for picture in (ROOT / "assets").iterdir():
        assert f"assets/{picture.name})" in text, picture.name


def test_figures_of_the_readme_are_those_of_the_benchmarks():
    """Rows of its table stand there as they are."""
    table = PAGES["README.md"].split("## How fast")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) > 3 and set(rows) <= set(PAGES["benchmarks.md"].splitlines())


def test_paths_that_are_named_exist():
    """In ARCHITECTURE.md: whole paths, and names of modules in the room that is spoken of."""
    text = PAGES["ARCHITECTURE.md"]
    named = re.findall(r"`([\w/]+(?:\.py|/))`", text)
    assert len(named) > 60
    assert not [path for path in named if not (ROOT / path).exists()]


def test_what_is_followed_is_cited_where_it_is_said_to_be():
    rows = re.findall(r"^\| (\w[\w'-]*).*? ((?:19|20)\d\d), .* \| (.*) \|$", PAGES["references.md"], re.MULTILINE)
    assert len(rows) > 30
    for author, year, places in rows:
        for path in re.findall(r"`([\w/]+\.py)`", places):
            text = (ROOT / path).read_text()
            assert author.split()[0] in text and year in text, f"{path} does not cite {author} {year}"


def test_what_contributing_names_exists():
    text = PAGES["CONTRIBUTING.md"]
    for path in re.findall(r"`((?:[\w.]+/)+[\w.]*|\.[\w.-]+ya?ml)`", text):
        assert (ROOT / path).exists(), path


def test_every_room_has_its_line():
    rooms = {
        f"{path.parent.relative_to(ROOT)}/"
        for package in ("recursive_dyn", "scene", "bridge")
        for path in (ROOT / package).rglob("__init__.py")
    }
    assert not [room for room in rooms if f"`{room}`" not in PAGES["ARCHITECTURE.md"]]
