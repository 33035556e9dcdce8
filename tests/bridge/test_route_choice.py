"""Which way leads to Bullet: the probe, the functions that there are, connections that come and go."""

import ctypes
import math
from pathlib import Path

import pybullet
import pytest
from routes_to_bullet import H, ball_over_ground, direct

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.collision import bullet_functions
from bridge.collision.routes import DirectRoute, OrdinaryRoute
from bridge.collision.symbol_table import symbols

# What the functions are told apart by


def untried(monkeypatch) -> None:
    """Let what is known of this process be found anew, and forgotten after the test."""
    monkeypatch.setattr(bullet_functions, "functions", bullet_functions.functions.__wrapped__)


@direct
def test_a_probe_that_differs_in_one_bit_leads_through_pybullet(tumbling, monkeypatch):
    untried(monkeypatch)
    tell = pybullet.getContactPoints

    def nearly(*args, **named):
        points = [list(point) for point in tell(*args, **named)]
        points[3][8] = math.nextafter(points[3][8], 1.0)
        return tuple(map(tuple, points))

    with monkeypatch.context() as lie:
        lie.setattr(pybullet, "getContactPoints", nearly)
        assert bullet_functions.functions() is None
        with PyBulletMirror(tumbling[0], rd.Simulation(tumbling[1]), gui=False) as shown:
            assert isinstance(shown._surroundings._route, OrdinaryRoute)
    assert bullet_functions.functions() is not None


@direct
@pytest.mark.parametrize("missing", ["sPhysicsClients1", "b3GetUserData"])
def test_what_a_library_does_not_tell_is_done_through_pybullet(tumbling, monkeypatch, missing):
    untried(monkeypatch)
    monkeypatch.setattr(
        bullet_functions, "symbols", lambda path, names: symbols(path, [name for name in names if name != missing])
    )
    assert bullet_functions.functions() is None
    with PyBulletMirror(tumbling[0], rd.Simulation(tumbling[1], H), gui=False) as shown:
        shown.step(60)
        assert len(shown.contacts) > 0


@direct
def test_symbols_lie_where_the_loader_has_them():
    names = ["b3SubmitClientCommand", "b3GetStatusType", "sPhysicsClients1", "no such name"]
    known = symbols(pybullet.__file__, names)
    assert sorted(known) == sorted(names[:3])
    library = ctypes.PyDLL(pybullet.__file__)
    starts = {ctypes.cast(getattr(library, name), ctypes.c_void_p).value - known[name].offset for name in names[:2]}
    assert len(starts) == 1


def test_other_files_have_no_symbols(tmp_path):
    whole = Path(pybullet.__file__)
    with open(whole, "rb") as file:
        start = file.read(4096)
    for k, data in enumerate((b"", b"\x7fELF", start, b"MZ" + start, start[:18])):
        path = tmp_path / str(k)
        path.write_bytes(data)
        assert symbols(path, ["b3GetStatusType"]) == {}
    assert symbols(tmp_path / "nothing", ["b3GetStatusType"]) == {}


@direct
def test_a_connection_that_is_gone_is_not_called():
    scene = ball_over_ground()
    dynamics = scene.compile()
    for _ in range(3):
        client = pybullet.connect(pybullet.DIRECT)
        shown = PyBulletMirror(scene, rd.Simulation(dynamics, H), client=client, ground=False)
        shown.step(5)
        assert isinstance(shown._surroundings._route, DirectRoute)
        pybullet.disconnect(client)
        for call in (shown.step, shown.sim.step, shown.sync):
            with pytest.raises(rd.StateError, match="create a new PyBulletMirror"):
                call()
        again = pybullet.connect(pybullet.DIRECT)
        assert again == client, "Bullet gives the number to the next one"
        pybullet.createMultiBody(1.0, -1, -1, (0, 0, 1), physicsClientId=again)
        for call in (shown.step, shown.sim.step):
            with pytest.raises(rd.StateError, match="create a new PyBulletMirror"):
                call()
        shown.close()
        assert pybullet.getNumBodies(again) == 1
        pybullet.disconnect(again)


@direct
def test_many_connections_at_once():
    """Each mirror speaks to its own."""
    scene = ball_over_ground()
    dynamics = scene.compile()
    mirrors = []
    for k in range(4):
        sim = rd.Simulation(dynamics, H)
        sim.q[2] += 0.1 * k
        mirrors.append(PyBulletMirror(scene, sim, gui=False, ground=False))
    for _ in range(10):
        for shown in mirrors:
            shown.step()
    for k, shown in enumerate(mirrors):
        height = pybullet.getBasePositionAndOrientation(shown.bullet_bodies["ball"][0], shown.client)[0][2]
        assert height == shown.sim.present.poses[0, 2, 3]
        assert bool(shown.contacts) == (k == 0)
        shown.close()
