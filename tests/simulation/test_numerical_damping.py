"""What springs too stiff for a step take is told, in joules and by name: nothing goes that the report does not have."""

import copy

import numpy as np
import pytest
from chart_cases import energy

import recursive_dyn as rd
from bridge import Plugin
from scene import Body, Scene, joints, shapes

H = 1 / 60
STIFF = {"joint": 10.0, "ball": 50.0, "spring": 50.0, "string": 60.0}  # h sqrt(k / m)
NAMES = {"joint": "mass.distance", "ball": "mass.wx", "spring": "spring 1", "string": "string 2"}


def still(mass: float = 1.0) -> Body:
    return Body("mass", mass=mass, inertia=np.eye(3))


def scene_of(kind: str, resolved: float) -> Scene:
    """1 kg, or 1 kg m^2, on a spring."""
    scene, stiffness = Scene(gravity=(0, 0, 0)), (resolved / H) ** 2
    if kind == "ball":
        scene.world.attach(still(), joints.ball(stiffness=stiffness))
        return scene
    on = joints.prismatic("x", stiffness=stiffness) if kind == "joint" else joints.prismatic("x")
    mass = scene.world.attach(still(), on)
    if kind == "spring":
        scene.spring("world", mass, stiffness=stiffness, rest=2.0, point_a=(-2, 0, 0))
    elif kind == "string":
        for side in (-2.0, 2.0):  # both taut all the time
            scene.string([("world", (side, 0, 0)), (mass, (0, 0, 0))], stiffness=stiffness / 2, length=1.99)
    return scene


def whole(sim: rd.Simulation) -> float:
    return energy(sim) + float(sim.dynamics.elastic_energy(sim.q))


@pytest.mark.parametrize("kind", STIFF)
def test_all_that_is_lost_is_told(kind):
    sim = rd.Simulation(scene_of(kind, STIFF[kind]).compile(), H)
    if kind == "ball":
        sim.v = 1.0, 0.0, 0.0
    else:
        sim.q[0], sim.v[0] = 1e-3, 0.5
    rest = 0.0 if kind == "ball" else float(sim.dynamics.elastic_energy(sim.q * 0.0))
    start = whole(sim)
    sim.step(20)
    lost, told = start - whole(sim), sim.report
    assert lost > 0.9 * (start - rest)
    assert told.numerical_damping == pytest.approx(lost, rel=1e-9)
    assert told.unexplained_energy == 0.0
    assert 1 <= told.steps_damped <= 20
    assert told.damping_spring in (NAMES[kind], "mass.wy", "mass.wz")


def test_a_gas_spring_that_is_run_to_its_end():
    """It is stiff there alone: one step or two take what is missing of 250 J."""
    scene = Scene(gravity=(0, 0, 0))
    sled = scene.world.attach(still(5.0), joints.prismatic("x"), at=rd.pose((1, 0, 0)))
    scene.gas_spring(sled, scene.world, 60.0, 3.0, extended=1.0, compressed=0.6)
    sim = rd.Simulation(scene.compile(), H)
    sim.v = [-10.0]
    sim.step(30)
    lost, told = 250.0 - whole(sim), sim.report
    assert lost > 1.0 and told.damping_spring == "gas spring 1" and told.steps_damped <= 2
    assert told.numerical_damping == pytest.approx(lost, abs=1e-4 * 250.0)  # that a step may leave unexplained
    finer = rd.Simulation(scene.compile(), H / 16)
    finer.v = [-10.0]
    finer.step(480)
    assert finer.report.numerical_damping == 0.0
    assert whole(finer) == pytest.approx(250.0, rel=1e-3)


@pytest.mark.parametrize("kind", STIFF)
def test_what_a_step_resolves_takes_nothing(kind):
    sim = rd.Simulation(scene_of(kind, 0.9).compile(), H)
    sim.v[0] = 0.5
    sim.step(60)
    assert (sim.report.steps_damped, sim.report.numerical_damping, sim.report.damping_spring) == (0, 0.0, "")


def test_what_dampers_take_is_theirs():
    """A damper beside the spring that a step does not resolve either: it would take all, too."""
    scene = Scene(gravity=(0, 0, 0))
    mass = scene.world.attach(still(), joints.prismatic("x"))
    scene.spring("world", mass, stiffness=1e7, damping=1e4, rest=2.0, point_a=(-2, 0, 0))
    sim = rd.Simulation(scene.compile(), H)
    sim.v = [1.0]
    sim.step(10)
    assert whole(sim) < 1e-3 and sim.report.numerical_damping == 0.0


@pytest.mark.parametrize("stiff", [0, 3])
def test_which_of_many_equal_trees_is_told(stiff):
    """Lanes of one program: those that move lose what they lose, and the one that has most is named."""
    scene = Scene(gravity=(0, 0, 0))
    for k in range(5):
        body = Body(f"mass {k}", mass=1.0, inertia=np.eye(3))
        scene.world.attach(body, joints.prismatic("x", stiffness=(10.0 / H) ** 2))
    sim = rd.Simulation(scene.compile(), H)
    sim.v[:] = 0.1
    sim.v[stiff] = 1.0
    sim.step(40)
    assert sim.report.damping_spring == f"mass {stiff}.distance"
    assert sim.report.numerical_damping == pytest.approx(0.5 * (1.0 + 4 * 0.01), rel=1e-6)


def test_the_name_outlives_edits_and_copies():
    scene = scene_of("spring", 50.0)
    scene["mass"].shapes.append(shapes.Sphere(0.1))
    game = Plugin(scene, timestep=H)
    game.simulation.v[0] = 1.0
    game.simulation.step(5)
    before = game.simulation.report
    scene.forces.remove(scene.forces[0])
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)], mass=1.0), joints.free(), at=rd.pose((3, 0, 5)))
    game.update()
    game.simulation.step()
    after = game.simulation.report
    assert before.damping_spring == after.damping_spring == "spring 1"
    assert after.numerical_damping == before.numerical_damping > 0.4
    assert copy.deepcopy(game.simulation).report == after
