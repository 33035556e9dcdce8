"""Pages that play a motion: whole in themselves, and in a browser they look like our own pictures."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from gltf_reading import Gltf
from PIL import Image

import bridge
import recursive_dyn as rd
from bridge import Camera, Pictures, Player
from bridge.drawing.gl_context import usable
from scene import Body, Scene, joints, shapes

PARTS = Path(bridge.__file__).parent / "export" / "player_page"
NAME = "</script><b>&\"'"
CAMERA = Camera(4.0, 20.0, -15.0, (0, 0, 0.8))
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--virtual-time-budget=6000", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def made():
    """A swinging bar under a standing post, and a ball of glass."""
    scene = Scene()
    bar = Body(NAME, [shapes.Box((0.1, 0.1, 0.8), at=rd.pose((0, 0, -0.4)), color=(0.85, 0.2, 0.15, 1))])
    glass = Body("glass", [shapes.Sphere(0.25, color=(0.2, 0.5, 0.9, 0.5))])
    scene.world.attach(bar, joints.revolute("y"), at=rd.pose((0, 0, 1.3)))
    scene.world.attach(glass, joints.prismatic("x"), at=rd.pose((0, -0.9, 0.5)))
    scene.world.shapes.append(shapes.Cylinder(0.1, 1.5, at=rd.pose((0, 0.4, 0.75)), color=(0.5, 0.5, 0.55, 1)))
    simulation = rd.Simulation(scene.compile(), 1 / 240)
    simulation.q = [1.0, 0.0]
    simulation.v = [0.0, 0.4]
    with rd.Recorder(simulation, every=4) as recorder:
        simulation.step(240)
    return scene, recorder.recording


class Elements(HTMLParser):
    """What a page consists of, as a browser takes it apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str | None, str] = {}
        self._in: str | None = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self._in = dict(attributes).get("id") if tag == "script" else tag

    def handle_endtag(self, tag):
        self._in = None

    def handle_data(self, data):
        self.texts[self._in] = self.texts.get(self._in, "") + data


def test_a_page_is_whole_in_itself_and_holds_the_motion(made, tmp_path):
    scene, recording = made
    page = Player(scene, recording, camera=CAMERA, follow=NAME, title=NAME).html()
    elements = Elements(page)
    assert elements.tags.count("script") == 3 and not {"link", "img", "iframe", "b"} & set(elements.tags)
    assert not {name for name, _ in elements.attributes} & {"src", "href"}
    assert elements.texts["title"] == NAME
    (tmp_path / "motion.glb").write_bytes(base64.b64decode(elements.texts["motion"]))
    gltf = Gltf(tmp_path / "motion.glb")
    times, _ = gltf.channels(gltf.named(NAME))["rotation"]
    assert len(times) == 31 and times[-1] == pytest.approx(1.0)
    facts = json.loads(elements.texts["meta"])
    x, y, z = CAMERA.eye()
    assert facts["eye"] == pytest.approx([x, z, -y]) and facts["bodies"] == [NAME, "glass"] and facts["follow"] == NAME
    x, y, z = rd.Replay(recording, scene.compile()).track().poses[0, 0, :3, 3]
    assert facts["followed"] == pytest.approx([x, z, -y])


def test_every_element_that_the_program_asks_for_is_in_the_page():
    asked = set(re.findall(r'element\("(\w+)"\)', (PARTS / "player.js").read_text()))
    assert len(asked) > 8 and asked <= set(re.findall(r'id="(\w+)"', (PARTS / "page.html").read_text()))


def test_what_is_shipped_was_made_of_the_source_with_its_licence(made):
    digest = hashlib.sha256((PARTS / "player.js").read_bytes()).hexdigest()
    assert (PARTS / "player.min.js").read_text().startswith(f"/* player.js {digest} */"), "run npm run build there"
    page = bridge.html(*made)
    assert "three.js authors" in page and "Permission is hereby granted" in page
    assert (PARTS / "player.min.js").stat().st_size < 650_000


def test_a_notebook_shows_the_page(made, tmp_path):
    player = Player(*made)
    shown = Elements(player._repr_html_())
    assert shown.tags == ["iframe"] and dict(shown.attributes)["srcdoc"] == player.html()
    assert bridge.html(*made, path=tmp_path / "page.html") == (tmp_path / "page.html").read_text()
    with pytest.raises(rd.ModelError, match="no body is named 'leg'"):
        Player(*made, follow="leg")
    for wrong in ({"title": 5}, {"camera": (1, 2, 3)}):
        with pytest.raises(rd.ModelError, match="a page needs"):
            Player(*made, **wrong)
    with pytest.raises(rd.StateError, match="keeps what a mirror shows, not Scene"):
        bridge.Capture(made[0])
    with pytest.raises(rd.SceneFileError, match="cannot be written"):
        player.save(tmp_path / "nowhere" / "page.html")


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no browser here: apt-get install chromium")
@pytest.mark.skipif(not usable(), reason="OpenGL 3.3 does not work here (no display and no EGL)")
def test_a_browser_shows_what_our_own_picture_shows(made, tmp_path):
    scene, recording = made
    page = Player(scene, recording, camera=CAMERA, fps=60).save(tmp_path / "page.html")
    colors = []
    replay = rd.Replay(recording, scene.compile())
    pictures = Pictures(scene, replay)
    pictures.image(960, 540, CAMERA)
    for time in (0.0, 0.7):
        shot = tmp_path / f"{time}.png"
        subprocess.run(
            [BROWSER, *FLAGS, "--window-size=960,540", f"--screenshot={shot}", f"file://{page}#t={time}"],
            capture_output=True, timeout=120, check=True,
        )  # fmt: skip
        replay.seek(time)
        seen = np.asarray(Image.open(shot).convert("RGB"), dtype=float)[:470]
        ours = pictures.image(960, 540, CAMERA)[:470].astype(float)
        # edges fall on other samples, shadows are filtered otherwise, seven roundings of light at most elsewhere
        assert np.median(np.abs(seen - ours)) <= 2 and (np.abs(seen - ours).max(axis=2) > 24).mean() < 0.01
        colors.append(seen)
    assert (np.abs(colors[0] - colors[1]).max(axis=2) > 24).mean() > 0.01  # and it moves
