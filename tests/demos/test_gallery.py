"""Every demo of the gallery runs: a second without a window, and in a window where there can be one."""

import html
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from on_a_display import ON_A_DISPLAY, needs_display
from PIL import Image

from bridge.drawing.gl_context import usable
from bridge.viewer.picker import Picker
from demos import gallery
from demos.__main__ import main
from demos.gallery import GALLERY, cards, summary, write_gallery
from demos.stage import advance, energy_of, total_energy

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*arguments: str, wrapper: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "demos", *arguments, wrapper=wrapper, **environment)


def python(*arguments: str, wrapper: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    command, known = [*wrapper, sys.executable, *arguments], os.environ | environment
    return subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The command line in this process, which has imported and loaded already what every demo needs."""

    def call(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["demos", *arguments])
        main()

    return call


def test_the_gallery_lists_every_demo(here: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    here()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(GALLERY)


@pytest.mark.parametrize("name", GALLERY)
def test_demo_draws_a_picture(name: str, tmp_path: Path, here: Callable[..., None]) -> None:
    picture = tmp_path / f"{name}.png"
    here(name, "--headless", str(picture), "--seconds", "0.5")
    pixels = np.asarray(Image.open(picture).convert("RGB"), dtype=float)
    assert pixels.shape[0] >= 360 and pixels.std() > 10  # something is drawn, and not in one colour


@pytest.mark.parametrize(
    "name", ["kuka", *(pytest.param(n, marks=pytest.mark.slow) for n in GALLERY[::6] if n != "kuka")]
)
def test_demo_draws_a_film(name: str, tmp_path: Path, here: Callable[..., None]) -> None:
    film = tmp_path / f"{name}.gif"
    here(name, "--headless", str(film), "--seconds", "0.4")
    with Image.open(film) as frames:
        assert frames.n_frames == 10


def test_the_gallery_is_a_page_of_pictures_and_players(tmp_path: Path) -> None:
    page = write_gallery(tmp_path / "gallery", ("wire", "humanoid"), seconds=0.07)
    text = page.read_text()
    for name in ("wire", "humanoid"):
        assert html.escape(summary(name)) in text and f'href="{name}.html"' in text and f'src="{name}.png"' in text
        assert "</html>" in (page.parent / f"{name}.html").read_text()
        assert np.asarray(Image.open(page.parent / f"{name}.png")).std() > 10
    sheet = np.asarray(Image.open(page.parent / "contact_sheet.png").convert("RGB"))
    assert all(sheet[50:250, 384 * k : 384 * k + 384].std() > 10 for k in (0, 1))


@pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")
def test_the_gallerys_window_has_a_card_of_every_demo() -> None:
    shown = cards()
    assert [card.name for card in shown] == list(GALLERY) and all(card.line for card in shown)
    assert all(card.picture.shape == (192, 256, 3) and card.picture.std() > 10 for card in shown)
    picker = Picker(shown, size=(620, 700), hidden=True)
    assert picker.picture().std() > 10
    picker.close()


WINDOWS = """
import sys
from demos.__main__ import main
for name in sys.argv[1:]:
    print(name, file=sys.stderr)
    sys.argv = ["demos", name, "--seconds", "0.3"]
    main()
"""


@needs_display
@pytest.mark.parametrize("more", [(), ("--bullet",)])
def test_a_demo_runs_in_a_window(more: tuple[str, ...]) -> None:
    done = run("wire", "--seconds", "0.3", *more, wrapper=ON_A_DISPLAY)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "no display" not in done.stderr


@pytest.mark.slow
@needs_display
def test_so_does_every_sixth_demo() -> None:
    """One after the other in one process, whose last word is the one that fails: windows are one for all."""
    names = [name for name in GALLERY if name != "wire"][::6]
    done = python("-c", WINDOWS, *names, wrapper=ON_A_DISPLAY)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "no display" not in done.stderr and all(name in done.stderr for name in names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "invalid choice"),
        (("kuka", "--headless", "x.avi"), ".mp4 or .png"),
        (("kuka", "--seconds", "-1"), "positive"),
        (("gallery", "--seconds", "0"), "positive"),
        (("kuka", "--headless", "/nowhere/kuka.png"), "no folder '/nowhere'"),
    ],
)
def test_bad_command_lines_are_refused(
    arguments: tuple[str, ...], message: str, here: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        here(*arguments)
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_a_film_that_cannot_be_written_is_told_before_the_demo_is_made(
    here: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr("demos.kuka.build", lambda: pytest.fail("it was made"))
    with pytest.raises(SystemExit) as ended:
        here("kuka", "--headless", str(tmp_path / "kuka.mp4"))
    last = capsys.readouterr().err.splitlines()[-1]
    assert ended.value.code == 2 and "pip install imageio-ffmpeg" in last and "a .gif does without" in last


@pytest.mark.slow
def test_the_energy_of_three_ways_is_that_of_what_it_compares() -> None:
    """Its own simulation shows bodies without gravity."""
    stage = import_module("demos.three_ways").build()
    start = energy_of(stage)
    per_way = [sum(run.total() for run in runs) for runs in stage.energy.__self__.runs]
    assert start == pytest.approx(sum(per_way)) and np.allclose(per_way, per_way[-1], rtol=1e-3)
    advance(stage, 0.5)
    assert start != energy_of(stage) == pytest.approx(start, rel=0.05) and total_energy(stage.simulation) == 0.0


def test_without_a_display_the_gallery_says_what_there_is_instead(
    here: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("demos.__main__.has_display", lambda: False)
    with pytest.raises(SystemExit):
        here("gallery")
    assert "--headless FOLDER" in capsys.readouterr().err


@pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")
def test_what_is_picked_is_shown_and_then_the_page_again(monkeypatch: pytest.MonkeyPatch) -> None:
    picked, shown = [GALLERY.index("wire"), GALLERY.index("kuka"), None], []
    monkeypatch.setattr(gallery, "Picker", lambda *arguments: Picker(*arguments, hidden=True))
    monkeypatch.setattr(Picker, "pick", lambda self: picked.pop(0))
    monkeypatch.setattr(gallery, "build", lambda name: name)
    monkeypatch.setattr(gallery, "run_window", lambda *arguments, **options: shown.append((*arguments, options)))
    gallery.open_gallery(2.0)
    assert shown == [(name, 2.0, {"title": name}) for name in ("wire", "kuka")]


@pytest.mark.parametrize("name", ["wire", pytest.param("over_the_pole", marks=pytest.mark.slow)])
def test_a_minute_of_one_step_a_frame(name: str) -> None:
    """The other demos of the papers' mechanisms have this test beside their physics."""
    stage = import_module(f"demos.{name}").build()
    simulation = stage.simulation
    assert simulation.timestep == pytest.approx(1 / 60)
    start = total_energy(simulation)
    simulation.step(3600)
    assert np.isfinite(simulation.q).all() and total_energy(simulation) < 1.001 * start


def test_humanoid_flies_on_its_parabola_and_keeps_its_energy(monkeypatch) -> None:
    """In the air the centre of mass falls freely; without damping, friction and stops in the joints energy is kept."""
    from demos import figures, humanoid

    monkeypatch.setattr(figures, "LIMBER", {})
    _, simulation = humanoid.thrown(damping=0.0, rubbing=0.0)
    dynamics = simulation.dynamics
    energy, start = total_energy(simulation), dynamics.center_of_mass(simulation.q)
    velocity = dynamics.momentum(simulation.q, simulation.v)[3:] / _mass(simulation)
    simulation.step(240)
    expected = start + velocity * 1.0 + np.array([0.0, 0.0, -0.5 * 9.81])
    # the implicit midpoint rule is of second order: (h omega)^2 with spins of some rad/s
    np.testing.assert_allclose(dynamics.center_of_mass(simulation.q), expected, atol=2e-3)
    assert abs(total_energy(simulation) - energy) < 2e-3 * abs(energy)


def test_figures_have_no_gaps() -> None:
    """Each body's surface reaches its joint and those of its children, where the next one's does, too."""
    from demos import humanoid

    scene, simulation = humanoid.thrown()
    poses = dict(zip(simulation.dynamics.bodies, simulation.frames()[0], strict=True))
    for body in scene.bodies:
        if body.shapes and body.parent.shapes:
            for own in (body, body.parent):
                joint = np.linalg.solve(poses[own.name], poses[body.name][:, 3])[:3]
                assert min(_outside(shape, joint) for shape in own.shapes) <= 0.0, (body.name, own.name)


def _outside(shape, point: np.ndarray) -> float:
    """How far outside a sphere, a capsule or a box a point is, m; negative inside."""
    x, y, z = np.linalg.solve(shape.at, np.append(point, 1.0))[:3]
    if hasattr(shape, "size"):
        return float((np.abs((x, y, z)) - np.array(shape.size) / 2).max())
    half = getattr(shape, "length", 0.0) / 2
    return float(np.linalg.norm((x, y, z - np.clip(z, -half, half)))) - shape.radius


def _mass(simulation) -> float:
    """Total mass from the momentum of a pure translation."""
    dynamics = simulation.dynamics
    v = np.zeros(dynamics.nv)
    v[3:6] = 1.0, 0.0, 0.0
    return float(np.linalg.norm(dynamics.momentum(simulation.q, v)[3:]))


def test_beads_stay_on_the_wire_at_any_time_step() -> None:
    """Guenter & Lee figure 8: the step is taken along the curve, so that even 1/10 s leaves the bead on it."""
    import recursive_dyn as rd

    stage = import_module("demos.wire").build()
    dynamics = stage.simulation.dynamics
    simulation = rd.Simulation(dynamics, 1 / 10, "implicit_midpoint")
    simulation.q = stage.simulation.q
    from demos.wire import HEIGHT, SCALE

    for _ in range(20):
        simulation.step()
        for index, name in enumerate(dynamics.bodies):
            if name.startswith("bead"):
                s = simulation.q[dynamics.coordinates.index(f"{name}.s")]
                reach = SCALE * (2 + np.cos(3 * s))
                point = [reach * np.cos(2 * s), reach * np.sin(2 * s), SCALE * 1.4 * np.sin(3 * s) + HEIGHT]
                np.testing.assert_allclose(dynamics.poses(simulation.q)[index, :3, 3], point, atol=1e-12)
