"""Gravity that depends on parameters: an input like any other, in every function, in steps and in files."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

STRENGTH = 3.7


def machine(given: bool) -> Scene:
    scene = Scene()
    scene.gravity = (0.5, 0, -(scene.parameter("g", STRENGTH) if given else STRENGTH))
    box = Body("box", [shapes.Box((0.1, 0.2, 0.3))])
    scene.world.attach(box, joints.free(), at=rd.pose((0, 0, 1)))
    box.attach(Body("arm", [shapes.Sphere(0.1)]), joints.revolute("y"), at=rd.pose((0.3, 0, 0)))
    scene.world.attach(Body("lift", [shapes.Sphere(0.1)]), joints.prismatic("z"), at=rd.pose((2, 0, 2)))
    scene.world.shapes.append(shapes.Plane())
    return scene


@pytest.fixture(scope="module")
def both():
    return machine(True).compile(), machine(False).compile()


def test_functions_are_those_of_numbers_and_derivatives_theirs(both):
    with_g, plain = both
    q, v = plain.random(1), np.random.default_rng(2).normal(size=plain.nv)
    for name in ("forward_dynamics", "bias", "gravity", "potential_energy"):
        arguments = {"gravity": (q,), "potential_energy": (q,)}.get(name, (q, v))
        np.testing.assert_allclose(
            getattr(with_g, name)(*arguments), getattr(plain, name)(*arguments), rtol=1e-12, atol=1e-12, err_msg=name
        )
    down = with_g.center_of_mass(q)[2] * sum(body.mass for body in machine(False).bodies)
    assert with_g.parameter_derivative("potential_energy", "g", q) == pytest.approx(down, rel=1e-12)
    assert sp.Symbol("g", real=True) in with_g.equations("gravity").free_symbols


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_a_simulation_that_changes_it_flies_as_one_of_that_gravity(both, integrator):
    """On the floor too, where the base's momentum is owed what gravity gives."""
    ends = []
    for given in (True, False):
        scene = machine(given)
        if not given:
            scene.gravity = (0.5, 0, -9.81)
        simulation = rd.Simulation(scene.compile(), 1 / 60, integrator)
        with PyBulletMirror(scene, simulation) as mirror:
            if given:
                simulation.parameters["g"] = 9.81
            mirror.step(40)
            assert any("box" in pair for pair in simulation.touching)
        ends.append(simulation.q.copy())
    np.testing.assert_allclose(*ends, atol=1e-6)


def test_a_file_keeps_it(tmp_path, both):
    scene = machine(True)
    scene.save(tmp_path / "scene.json")
    again = Scene.load(tmp_path / "scene.json")
    assert again.gravity.tolist() == [0.5, 0, -sp.Symbol("g", real=True)]
    assert again.compile().model.key == both[0].model.key
    assert again.gravity_now().tolist() == [0.5, 0.0, -STRENGTH]


def test_a_symbol_that_nobody_declared_is_named():
    scene = machine(False)
    scene.gravity = (0, 0, sp.Symbol("strength"))
    with pytest.raises(rd.ModelError, match=r"gravity uses the symbol 'strength'; declare it with scene.parameter"):
        scene.compile()


def test_the_prompt_shows_the_symbol():
    assert "gravity (0.5, 0, -g) m/s^2; parameters g = 3.7" in repr(machine(True))
