"""Ctrl-C while a mirror steps: a KeyboardInterrupt, and everything, Bullet's bodies too, as after a finished step."""

import signal
import subprocess
import sys

import pybullet
import pytest

import recursive_dyn as rd
from bridge.collision.bullet_surroundings import BulletSurroundings
from recursive_dyn.simulation.interrupts import Held

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
INTERRUPTS = 30

# Our boxes and arm among Bullet's balls, which lie on them and roll off; what moves is told in bits.
SCENE = """
import numpy as np, pybullet
import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

def described():
    scene = Scene()
    for k in range(3):
        place = rd.pose(xyz=(0.5 * k, 0, 0.1))
        scene.world.attach(Body(f"box{k}", [shapes.Box((0.4, 0.4, 0.2))], mass=1.0), joints.free(), at=place)
    arm = Body("arm", [shapes.Capsule(0.05, 0.4)], mass=0.5)
    scene["box0"].attach(arm, joints.revolute("y"), at=rd.pose(xyz=(0, 0, 0.4)))
    return scene, scene.compile()

def world(client, scene, dynamics):
    pybullet.resetSimulation(physicsClientId=client)
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    balls = []
    for k in range(3):
        place = [0.5 * k + 0.03, 0.02, 0.3 + 0.1 * k]
        ball = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=0.1, physicsClientId=client)
        balls.append(pybullet.createMultiBody(1.0, ball, -1, place, physicsClientId=client))
    return PyBulletMirror(scene, rd.Simulation(dynamics, 1 / 240), client=client, renderer="tiny"), balls

def bits(mirror, balls):
    mirrored = [body for bodies in mirror.bullet_bodies.values() for body in bodies]
    told = [mirror.sim.q, mirror.sim.v]
    for body in (*mirrored, *balls):
        told += pybullet.getBasePositionAndOrientation(body, physicsClientId=mirror.client)
        told += pybullet.getBaseVelocity(body, physicsClientId=mirror.client)
    return b"".join(np.asarray(x, dtype=float).tobytes() for x in told)
"""

# Interrupts itself by a timer at seeded times; each round starts from the same state and is compared with a run that
# nobody interrupted.
PROGRAM = (
    SCENE
    + """
import random, signal, sys, time
COUNT = 60
client, (scene, dynamics) = pybullet.connect(pybullet.DIRECT), described()
mirror, balls = world(client, scene, dynamics)
mirror.step(20)  # all that is needed is compiled then
mirror.close()
mirror, balls = world(client, scene, dynamics)
whole = [bits(mirror, balls)]
start = time.perf_counter()
for _ in range(COUNT):
    mirror.step()
    whole.append(bits(mirror, balls))
duration = time.perf_counter() - start
generator = random.Random(int(sys.argv[1]))
stopped, kinds, late = set(), set(), []
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
for _ in range(int(sys.argv[2])):
    mirror.close()
    mirror, balls = world(client, scene, dynamics)
    wait = generator.uniform(1e-4, 0.9 * duration)
    calls = generator.choice(((1, COUNT), (COUNT, 1), (5, COUNT // 5)))
    begun = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, wait)
        for _ in range(calls[0]):
            mirror.step(calls[1])
        while True:
            time.sleep(1e-3)
    except BaseException as told:
        kinds.add(type(told).__name__)
        late.append(time.perf_counter() - begun - wait)
    steps = round(mirror.sim.time * 240)
    assert bits(mirror, balls) == whole[steps], f"after {steps} steps something is torn"
    stopped.add(steps)
assert kinds == {"KeyboardInterrupt"}, kinds
assert len(stopped) > 5, stopped  # of 30, by chance: 10 have been seen where the machine slept meanwhile
print("late", sorted(late)[len(late) // 2], max(late))
"""
)


def test_an_interrupt_leaves_simulation_and_bullet_after_a_finished_step():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "1", str(INTERRUPTS)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    _, middle, longest = done.stdout.split()[-3:]
    assert float(middle) < 0.05 and float(longest) < 0.5  # s; the longest is that of a machine with other work to do


@pytest.fixture
def world():
    """A mirror among Bullet's balls, and what tells all that moves in bits."""
    known: dict = {}
    exec(SCENE, known)
    client = pybullet.connect(pybullet.DIRECT)
    mirror, balls = known["world"](client, *known["described"]())
    yield mirror, lambda: known["bits"](mirror, balls), balls
    mirror.close()
    pybullet.disconnect(client)


def failing(monkeypatch, at: int) -> None:
    """Let the detection that comes as number ``at`` fail, after Bullet's bodies were moved for it."""
    calls, find = [], BulletSurroundings._find

    def counted(self, *arguments):
        calls.append(None)
        if len(calls) == at:
            raise rd.StateError("no contacts today")
        find(self, *arguments)

    monkeypatch.setattr(BulletSurroundings, "_find", counted)


def test_a_failed_detection_leaves_everything_after_the_last_step(world, monkeypatch):
    mirror, bits, _ = world
    mirror.step(10)
    before = bits()
    with monkeypatch.context() as patch:
        failing(patch, 1)
        with pytest.raises(rd.StateError, match="no contacts today"):
            mirror.step()
    assert bits() == before
    mirror.step(3)
    after = bits()
    assert after != before


def test_a_step_in_parts_that_fails_in_its_third_goes_back_whole(world, monkeypatch):
    """Bullet moved its own bodies in the parts before."""
    mirror, bits, balls = world
    mirror.step(5)
    pybullet.resetBaseVelocity(balls[0], (0, 0, -60.0), (5, 0, 0), mirror.client)
    before, time = bits(), mirror.sim.time
    with monkeypatch.context() as patch:
        failing(patch, 3)
        with pytest.raises(rd.StateError, match="no contacts today"):
            mirror.step()
    assert bits() == before and mirror.sim.time == time
    mirror.step()
    assert mirror.sim.solution.substeps >= 3, "the step is cut into parts"


def test_what_cleans_up_is_not_interrupted_again():
    cleaned = []

    def run() -> None:
        with Held() as held:
            try:
                with held.opened():
                    with Held():
                        signal.raise_signal(signal.SIGINT)
                        cleaned.append("inner waits")
                    cleaned.append("never")
            finally:
                signal.raise_signal(signal.SIGINT)
                cleaned.append("outer waits")
        cleaned.append("never")

    with pytest.raises(KeyboardInterrupt):
        run()
    assert cleaned == ["inner waits", "outer waits"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
