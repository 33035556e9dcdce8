"""What is refused about constraints, and how it is said: every message names the row, and what to do."""

import numpy as np
import pytest
import sympy as sp
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints

UNKNOWN = sp.Symbol("zz", real=True)


def two_links() -> tuple[Scene, Body, Body]:
    """Two links of 1 m that turn about y."""
    scene = Scene()
    link = {"mass": 1.0, "center_of_mass": (0.5, 0, 0), "inertia": np.eye(3) * 0.1}
    a = scene.world.attach(Body("a", **link), joints.revolute("y"))
    b = a.attach(Body("b", **link), joints.revolute("y"), at=rd.pose((1, 0, 0)))
    return scene, a, b


INPUT = {
    "squared velocity": (lambda s, a, b: s.constrain(a.v[0] ** 2 - b.v[0]), "'constraint 1' is not linear.*P.q. v = 0"),
    "product of velocities": (lambda s, a, b: s.constrain(a.v[0] * b.v[0]), "not linear in the velocities"),
    "size of a velocity": (lambda s, a, b: s.constrain(sp.Abs(a.v[0]) - b.v[0]), "not linear in the velocities"),
    "unknown symbol": (lambda s, a, b: s.constrain(a.q[0] - UNKNOWN), "'constraint 1' uses 'zz', which is no.*body.q"),
    "rate of a stranger": (lambda s, a, b: s.constrain(s.rate(UNKNOWN) - a.v[0]), r"uses 'rate\(zz\)'"),
    "body elsewhere": (lambda s, a, b: s.constrain(Body("ghost").position[0]), "uses 'ghost.position.x'"),
    "loose body": (lambda s, a, b: s.constrain(Body("ghost").q[0]), "'ghost' has no coordinates before it is attached"),
    "equation": (lambda s, a, b: s.constrain(sp.Eq(a.q[0], b.q[0])), "write left - right.*not an equation"),
    "equation of vectors": (lambda s, a, b: s.constrain(sp.Eq(a.position, b.position)), "not an equation"),
    "truth": (lambda s, a, b: s.constrain(a.q[0] == a.q[0]), "not an equation"),
    "inequality": (lambda s, a, b: s.constrain(a.q[0] > 0), "not an equation or inequality; limits"),
    "flat point": (lambda s, a, b: s.constrain(a.point((1, 0))), r"'a': a point .* three components, not \[1, 0\]"),
    "rate of a text": (lambda s, a, b: s.constrain(s.rate("q")), "rate takes the symbol of a coordinate.*'q'"),
    "rate of a sum": (lambda s, a, b: s.constrain(s.rate(a.q[0] + 1)), "rate takes the symbol of a coordinate"),
    "square": (lambda s, a, b: s.constrain(a.q[0] ** 2, name="n"), "constraint 'n' has no gradient where it holds"),
    "squared length": (lambda s, a, b: s.constrain((lambda r: r.dot(r))(b.point((1, 0, 0)) - a.position), name="n"),
                       "constraint 'n' has no gradient where it holds"),
    "number rolls": (lambda s, a, b: s.roll(3), "unknown body '3'"),
    "stranger rolls": (lambda s, a, b: s.roll("c"), "unknown body 'c'"),
    "hinge rolls": (lambda s, a, b: s.roll("a"), "'rolling of a': body 'a' rolls on its parent only if it hangs on"),
    "nothing": (lambda s, a, b: s.constrain(name="n"), "constraint 'n' has no expressions"),
    "empty list": (lambda s, a, b: s.constrain([], name="n"), "constraint 'n' has no expressions"),
    "text": (lambda s, a, b: s.constrain("a.angle"), "'a.angle' is neither a number nor a SymPy expression"),
    "None": (lambda s, a, b: s.constrain(None), "None is neither"),
    "number": (lambda s, a, b: s.constrain(0), "'constraint 1' holds nothing that moves"),
    "nan": (lambda s, a, b: s.constrain(a.q[0] + float("nan")), "'constraint 1'.*not a finite real number"),
    "complex": (lambda s, a, b: s.constrain(a.q[0] + sp.I), "'constraint 1'.*not a finite real number"),
    "same name": (lambda s, a, b: [s.constrain(x.q[0], name="n") for x in (a, b)], "two constraints are named 'n'"),
    "no name": (lambda s, a, b: s.constrain(a.q[0], name=""), "a text that is not empty, not ''"),
    "choice": (lambda s, a, b: s.constrain(a.q[0], redundant="x", name="n"), "'n': redundant is 'refuse' or.*not 'x'"),
    "a point of no way": (
        lambda s, a, b: s.constrain(sp.sqrt(a.position.dot(a.position)), name="n"), "constraint 'n':.*singular"),
}  # fmt: skip


@pytest.mark.parametrize("what", INPUT)
def test_bad_input_is_refused(what):
    constrain, message = INPUT[what]
    scene, a, b = two_links()
    with pytest.raises(rd.ModelError, match=message):
        constrain(scene, a, b)
        scene.compile()


SYSTEMS = {
    "out of reach": ({"far": lambda a, b: b.point((1, 0, 0))[0] - 3}, "'far' holds nowhere that the joints reach"),
    "impossible": ({"n": lambda a, b: a.position[1] - 1}, "'n' holds nowhere that the joints reach"),
    "impossible speed": ({"n": lambda a, b: a.velocity[1] - 1}, "'n' asks for a velocity that the joints do not allow"),
    "held by joints": ({"n": lambda a, b: a.position[1]}, "'n' is redundant: it holds by itself.*redundant='drop'"),
    "length held by joints": (  # its gradient is rounding
        {"n": lambda a, b: sp.sqrt((b.position - a.position).dot(b.position - a.position)) - 1},
        "'n' is redundant: it holds by itself",
    ),
    "impossible length": (
        {"n": lambda a, b: sp.sqrt((b.position - a.position).dot(b.position - a.position)) - 2},
        "'n' holds nowhere that the joints reach",
    ),
    "speed held by joints": ({"n": lambda a, b: a.velocity[1]}, "'n' is redundant: it holds by itself"),
    "twice": (
        {"one": lambda a, b: a.q[0] - b.q[0], "x": lambda a, b: a.q[0], "two": lambda a, b: sp.sin(a.q[0] - b.q[0])},
        "'two' is redundant: it follows from 'one' .*remove it",
    ),
    "its rate": (
        {"one": lambda a, b: a.q[0] - b.q[0], "two": lambda a, b: a.v[0] - b.v[0]},
        "'two' is redundant: it follows from 'one'",
    ),
    "three of a loop in a plane": (
        {"tip": lambda a, b: b.point((1, 0, 0)) - sp.Matrix([1, 0, 1])}, r"'tip\[1\]' is redundant: it holds by itself"
    ),
    "two against each other": (
        {"one": lambda a, b: a.q[0] - b.q[0], "two": lambda a, b: a.q[0] - b.q[0] - 1},
        "'two' contradicts 'one': no configuration.*correct or remove",
    ),
    "three against each other": (
        {"one": lambda a, b: a.q[0] - b.q[0], "two": lambda a, b: a.q[0] - 1, "three": lambda a, b: b.q[0] - 2},
        "'three' contradicts 'one', 'two'",
    ),
    "speeds against each other": (
        {"gear": lambda a, b: a.q[0] - b.q[0], "motor": lambda a, b: a.v[0] - b.v[0] - 1},
        "'motor' contradicts 'gear': they ask for different velocities",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SYSTEMS)
def test_redundant_and_contradictory_rows_are_named(what):
    rows, message = SYSTEMS[what]
    scene, a, b = two_links()
    for name, row in rows.items():
        scene.constrain(row(a, b), name=name)
    with pytest.raises(rd.ModelError, match=message):
        scene.compile()


def test_a_rod_between_points_that_joints_hold_apart_is_left_out():
    scene, a, b = two_links()
    scene.distance(a, b, 1.0)
    assert scene.compile().model.constraints == ()


@pytest.mark.parametrize("what", [w for w in SYSTEMS if "against" in w or "impossible" in w])
def test_what_contradicts_is_not_dropped(what):
    rows, message = SYSTEMS[what]
    scene, a, b = two_links()
    for name, row in rows.items():
        scene.constrain(row(a, b), name=name, redundant="drop")
    with pytest.raises(rd.ModelError, match=message):
        scene.compile()


def test_dropped_rows_change_nothing():
    """Three rows of a loop in a plane and their own double, all droppable: the motion of the two that say something."""
    results = []
    for rows in ((0, 2), (0, 1, 2, 0, 2)):
        scene, _, b = two_links()
        loop = b.point((1, 0, 0)) - sp.Matrix([1, 0, 1])
        c = scene.world.attach(Body("c", mass=0.3, inertia=np.eye(3)), joints.prismatic("z"))
        loop[2] -= c.q[0]
        for k, i in enumerate(rows):
            scene.constrain(loop[i], name=f"row {k}", redundant="drop")
        d = scene.compile()
        assert len(d.constraints) == 2
        simulation = rd.Simulation(d, 1e-3, "rk4")
        simulation.q, simulation.v = d.project([0.3, -1.2, 0.1], [0.5, 0, 0])
        simulation.step(500)
        results.append(np.concatenate([simulation.q, simulation.v]))
    assert_close(results[0], results[1], 1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_a_parallelogram_passes_its_dead_centre(integrator, gravity):
    """Its rows depend on each other where all bars lie on a line; it goes through, and as a parallelogram."""
    scene = Scene(gravity=(0, gravity, 0))

    def bar(name, size):
        return Body(name, mass=1.0, center_of_mass=(size / 2, 0, 0), inertia=np.eye(3) * size**2 / 12)

    crank = scene.world.attach(bar("crank", 0.5), joints.revolute("z"))
    coupler = crank.attach(bar("coupler", 1.0), joints.revolute("z"), at=rd.pose((0.5, 0, 0)))
    rocker = scene.world.attach(bar("rocker", 0.5), joints.revolute("z"), at=rd.pose((1.0, 0, 0)))
    loop = coupler.point((1.0, 0, 0)) - rocker.point((0.5, 0, 0))
    scene.constrain(loop[0], loop[1], name="pin")
    d = scene.compile()
    assert_close(d.project([0, 0, 0], [3, -3, 3])[1], [3, -3, 3], 1e-12)  # on the dead centre itself
    assert np.isfinite(d.forward_dynamics([0, 0, 0], [3, -3, 3])).all()
    simulation = rd.Simulation(d, 1 / 240, integrator)
    simulation.q, simulation.v = [1.0, -1.0, 1.0], [-8.0, 8.0, -8.0]
    start = d.kinetic_energy(simulation.q, simulation.v) + d.potential_energy(simulation.q)
    for _ in range(1200):
        simulation.step()
        # on the line rows depend on each other, and what is left of them is up to 1e-6, see docs/integrator_methods.md
        assert np.abs(d.constraint_errors(simulation.q, simulation.v)).max() < 1e-6
        assert abs(simulation.q[0] - simulation.q[2]) < 1e-4
    assert simulation.q[0] < -10.0
    end = d.kinetic_energy(simulation.q, simulation.v) + d.potential_energy(simulation.q)
    assert end == pytest.approx(start, rel=0.05)  # Euler: h omega = 3 % of a turn a step


@pytest.mark.parametrize("elbow", [(-3, 0.2), (-0.2, 3)])
def test_a_scene_is_assembled_within_its_limits(elbow):
    """Two assemblies reach the point, the elbow up or down; the limits allow one, whichever is found first."""
    scene = Scene()
    link = {"mass": 1.0, "center_of_mass": (0.5, 0, 0), "inertia": np.eye(3) * 0.1}
    a = scene.world.attach(Body("a", **link), joints.revolute("y"))
    b = a.attach(Body("b", **link), joints.revolute("y", limits=elbow), at=rd.pose((1, 0, 0)))
    scene.constrain(b.point((1, 0, 0))[0] - 1.2, b.point((1, 0, 0))[2] - 0.1, name="tip")
    q = scene.compile().neutral()
    assert elbow[0] < q[1] < elbow[1]
    assert_close([np.cos(q[0]) + np.cos(q.sum()), -np.sin(q[0]) - np.sin(q.sum())], [1.2, 0.1], 1e-9)


def tip_held() -> tuple[Scene, rd.Dynamics]:
    scene, _, b = two_links()
    reach = scene.parameter("reach", 0.5)
    scene.constrain(b.point((1, 0, 0))[0] - reach, name="reach held")
    scene.constrain(b.point((1, 0, 0))[2] - sp.Rational(1, 5), name="height held")
    return scene, scene.compile()


def test_project_says_which_row_is_missed():
    _, d = tip_held()
    q, v = d.project([0.3, -0.4], [1.0, 2.0])
    assert_close((d.poses(q)[1] @ [1, 0, 0, 1])[:3], [0.5, 0, 0.2], 1e-10)
    assert np.abs(v).max() < 1e-9  # nothing is left to move
    d.parameters["reach"] = 5.0
    with pytest.raises(rd.StateError, match=r"constraint 'reach held' cannot be met near this.*off by.*start nearer"):
        d.project([0.3, -0.4])
    with pytest.raises(rd.StateError, match="'q' has"):
        d.project([0.3])


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint", "rk4"])
def test_a_contradiction_at_run_time_keeps_the_last_good_state(integrator):
    _, d = tip_held()
    simulation = rd.Simulation(d, 1e-3, integrator)
    simulation.step(5)
    q, v, time = simulation.q.copy(), simulation.v.copy(), simulation.time
    simulation.parameters["reach"] = 3.0
    with pytest.raises(rd.StateError, match=r"t = 0.005 s.*'reach held' cannot be met"):
        simulation.step(4)
    assert (simulation.q == q).all() and (simulation.v == v).all() and simulation.time == time
    simulation.parameters["reach"] = 0.6
    simulation.step(4)
    assert_close((d.poses(simulation.q)[1] @ [1, 0, 0, 1])[:3], [0.6, 0, 0.2], 1e-10)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint", "rk4"])
def test_a_row_may_ask_for_a_velocity(integrator):
    """A motor of given speed; its multiplier is the moment that holds it against gravity and the other link."""
    scene, a, _ = two_links()
    speed = scene.parameter("speed", 2.0)
    scene.constrain(a.v[0] - speed, name="motor")
    d = scene.compile()
    simulation = rd.Simulation(d, 1e-3, integrator)
    simulation.step(100)
    assert simulation.v[0] == pytest.approx(2.0, abs=1e-9)
    a = d.forward_dynamics(simulation.q, simulation.v)
    assert abs(a[0]) < 1e-9
    moment = d.inverse_dynamics(simulation.q, simulation.v, a)
    assert_close([simulation.multipliers[0], 0.0], moment, 1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.3, 500.0])
@pytest.mark.parametrize("joint", ["free", "planar"])
def test_a_scene_is_assembled_from_where_its_rows_are_singular(size, joint):
    """At the neutral place the distance has no gradient; sizes from a millimetre to half a kilometre."""
    scene = Scene()
    bead = scene.world.attach(Body("bead", mass=1.0, inertia=np.eye(3)), getattr(joints, joint)())
    scene.constrain(sp.sqrt(bead.position.dot(bead.position)) - size, name="leash")
    d = scene.compile()
    assert_close(np.linalg.norm(d.poses(d.neutral())[0, :3, 3]), size, 1e-12, max(size, 1.0))


def links_of_half_a_metre() -> tuple[Scene, Body, Body]:
    scene = Scene()
    bar = {"mass": 1.0, "inertia": np.eye(3)}
    first = scene.world.attach(Body("first", **bar), joints.revolute("y"))
    return scene, first, first.attach(Body("second", **bar), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))


def test_what_cannot_be_reached_is_told_by_how_much():
    """A loop of two links of 0.5 m to a point 5 m away along them, a rod, a weld: closed forms of what is left."""
    scene, _, second = links_of_half_a_metre()
    scene.pin(second, scene.world, point_a=(0.5, 0, 0), point_b=(0, 0, 5), name="loop")
    start = np.hypot(1.0, 5.0)
    with pytest.raises(rd.ModelError, match=rf"At the start 'loop' is off by {start:.3g}, .*found by 4 \(m"):
        scene.compile()
    scene, first, _ = links_of_half_a_metre()
    scene.distance(first, scene.world, 0.2, point_a=(0.5, 0, 0), point_b=(0, 0, 3), name="rod")
    start = np.hypot(0.5, 3.0) - 0.2
    with pytest.raises(rd.ModelError, match=rf"At the start 'rod' is off by {start:.3g}, .*found by 2.3 \(m"):
        scene.compile()
    scene, first, _ = links_of_half_a_metre()
    scene.weld(first, scene.world, pose_b=rd.pose((0, 1, 0)), name="shelf")
    with pytest.raises(rd.ModelError, match=r"At the start 'shelf' is off by 1, .*found by 1 \(m"):
        scene.compile()
