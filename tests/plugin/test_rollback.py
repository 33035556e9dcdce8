"""Snapshots as bytes: what follows is the same to the last bit; what is none, or of another scene, is refused."""

import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
from game_scenes import yard

import bridge
import recursive_dyn as rd
from demos.games import rollback
from scene import Body, Scene, joints, shapes

HEAD, CONTACT, TURNING = 92, 64, 104  # bytes: of the head, of a contact, and more of one whose bodies turn
ACTED = 64  # the flag of two more numbers a coordinate


def arena(collisions=None):
    return bridge.Plugin(rollback.arena(), collisions=collisions)


def pushed(plugin, frames):
    for frame in range(frames):
        rollback.push(plugin, [rollback.played(frame, 0), rollback.played(frame, 1)])


@pytest.mark.parametrize("collisions", ["closed form", "bullet"])
def test_what_follows_is_the_same_here_and_elsewhere(collisions):
    with arena(collisions) as one, arena(collisions) as two:
        pushed(one, 30)
        taken = one.snapshot()
        assert len(one.simulation.contacts) > 10
        pushed(one, 15)
        first = one.snapshot()
        events = one.events
        for plugin in (one, two):
            plugin.restore(taken)
            assert plugin.snapshot() == taken
            pushed(plugin, 15)
            assert plugin.snapshot() == first and plugin.events == events


def test_bytes_say_what_a_snapshot_does():
    """Forces, tau, parameters, motors' impulses and time travel; with a snapshot of objects all goes on alike."""

    def machine():
        scene = Scene()
        length = scene.parameter("length", 0.5)
        arm = scene.world.attach(Body("arm", [shapes.Capsule(0.05, 0.4)], mass=1.0), joints.revolute("y", friction=0.1))
        arm.attach(Body("bob", [shapes.Sphere(0.1)]), joints.ball(), at=rd.pose((0, 0, -1)))
        scene.world.attach(Body("slide", mass=length, inertia=np.eye(3)), joints.prismatic("x", limits=(-1, 0.01)))
        simulation = rd.Simulation(scene.compile(), integrator="rk4")
        simulation.motors["arm.angle"] = rd.Motor(position=0.5, max_force=2.0)
        return simulation

    one, two, three = machine(), machine(), machine()
    one.parameters["length"] = 0.7
    one.tau[-1] = 3.0
    one.step(100)
    one.apply_force("bob", (1, 2, 3), (0, 0, 0.1))
    two.restore(one.snapshot_bytes())
    three.restore(one.snapshot())
    assert two.parameters["length"] == 0.7 and two.time == one.time
    assert two.coordinate_impulses == one.coordinate_impulses != {}
    for simulation in (one, two, three):
        simulation.step(1)
        simulation.step(100)
    assert one.snapshot_bytes() == two.snapshot_bytes() == three.snapshot_bytes()


def test_few_bytes():
    """A free body's q, v and momentum, 19 numbers of 6 coordinates: 27 bytes a coordinate with clocks and head, 64 a
    contact that is remembered, and 104 more of one whose bodies turn; 16 more a coordinate where impulses acted on what
    hangs on the world."""
    with arena() as plugin:
        pushed(plugin, 40)
        simulation = plugin.simulation
        touching = len({frozenset((e.body_a, e.body_b)) for e in simulation.contact_events if e.kind != "end"})
        state = 8 * (2 + simulation.dynamics.nq + simulation.dynamics.nv + 6 * 12)
        acted = 16 * simulation.dynamics.nv if plugin.snapshot()[6] & ACTED else 0
        more = len(plugin.snapshot()) - acted - (HEAD + state + CONTACT * len(simulation.contacts) + 8 * touching)
        assert more % TURNING == 0 and 0 < more // TURNING < len(simulation.contacts)
        assert (HEAD + state) / simulation.dynamics.nv < 29


def test_it_is_no_pickle():
    with arena() as plugin:
        assert b"numpy" not in plugin.snapshot()
        with pytest.raises(pickle.UnpicklingError):
            pickle.loads(plugin.snapshot())
        with pytest.raises(rd.StateError, match="no snapshot"):
            plugin.restore(pickle.dumps(plugin.simulation.snapshot()))


def test_what_is_foreign_or_damaged_is_refused_by_name():
    with arena() as plugin, bridge.Plugin(yard()) as other, bridge.Plugin(rollback.arena(), timestep=1 / 120) as slower:
        pushed(plugin, 20)
        good = plugin.snapshot()
        another = struct.unpack_from("<H", good, 4)[0] + 1
        version = good[:4] + struct.pack("<H", another) + good[6:]
        with pytest.raises(rd.StateError, match=f"version {another}"):
            plugin.restore(version)
        for stranger, said in ((other, "another scene"), (slower, "taken otherwise: the timestep differs")):
            with pytest.raises(rd.StateError, match=said):
                plugin.restore(stranger.snapshot())
        for bad in (b"", b"RD", good[:40], good[4:]):
            with pytest.raises(rd.StateError, match="no snapshot"):
                plugin.restore(bad)
        unknown = [
            good[:6] + struct.pack("<H", 1 << bit | int.from_bytes(good[6:8], "little")) + good[8:]
            for bit in range(3, 16)
        ]
        for bad in (*unknown, good[:-1], good + b"\0", good[:100] + bytes([good[100] ^ 1]) + good[101:]):
            with pytest.raises(rd.StateError, match="damaged"):
                plugin.restore(bad)
        with pytest.raises(rd.StateError, match="snapshot"):
            plugin.restore(3)
        for bad in (memoryview(good)[::2], memoryview(np.zeros((0, 4)))):
            with pytest.raises(rd.StateError, match="snapshot"):
                plugin.restore(bad)
        assert plugin.snapshot() == good
        plugin.restore(memoryview(good[::-1])[::-1])
        assert plugin.snapshot() == good


def test_bytes_that_somebody_made_up_write_nowhere_else():
    """Whatever the head says, with a checksum that is right: refused, or taken whole; never a crash."""
    import zlib

    rng = np.random.default_rng(5)
    with arena() as plugin:
        pushed(plugin, 20)
        good, refused = plugin.snapshot(), 0
        for _ in range(300):
            data = bytearray(good)
            at = int(rng.integers(24, HEAD)) if rng.random() < 0.5 else int(rng.integers(HEAD, len(good)))
            data[at] = int(rng.integers(256))
            data[12:16] = bytes(4)
            data[12:16] = struct.pack("<I", zlib.crc32(bytes(data)))
            try:
                plugin.restore(data)
            except rd.StateError:
                refused += 1
        assert refused > 50
        plugin.restore(good)
        assert plugin.snapshot() == good


def test_a_limit_that_was_reached_is_not_reached_again():
    with bridge.Plugin(yard()) as plugin:
        plugin.step(240)
        taken = plugin.snapshot()
        plugin.restore(taken)
        plugin.step(4)
        assert "limit" not in {event.kind for event in plugin.events}


def test_touches_of_bodies_that_went_end_after_a_restore():
    with bridge.Plugin(yard(1, gap=0.0)) as plugin:
        plugin.step(4)
        plugin.scene["ball 0"].detach()
        plugin.update()
        taken = plugin.snapshot()
        for _ in range(2):
            plugin.step()
            assert [(event.kind, event.body_a) for event in plugin.events] == [("end", "ball 0")]
            plugin.restore(taken)


def test_two_players_never_differ():
    told = []
    peers = rollback.play(60, told.append)
    assert all(peer.deepest == 8 and peer.rolled_back > 1 for peer in peers) and len(told) == 2


@pytest.mark.slow
def test_another_process_goes_on_alike(tmp_path):
    program = """
import sys
from demos.games import rollback
from bridge import Plugin
plugin = Plugin(rollback.arena())
plugin.restore(open(sys.argv[1], "rb").read())
for frame in range(5):
    rollback.push(plugin, [(1, 0), (0, 1)])
sys.stdout.buffer.write(plugin.snapshot())
"""
    with arena() as plugin:
        pushed(plugin, 25)
        (tmp_path / "state").write_bytes(plugin.snapshot())
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "state")], capture_output=True, check=True)
        for _ in range(5):
            rollback.push(plugin, [(1, 0), (0, 1)])
        assert done.stdout == plugin.snapshot()
