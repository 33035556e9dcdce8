"""Tasks under control: they get the accelerations they want in their rank, and virtual springs have energies."""

import numpy as np
import pinocchio as pin
import pytest
from constraint_cases import bound
from scipy.integrate import solve_ivp
from trees import assert_close, mechanism, random_body

import recursive_dyn as rd
from recursive_dyn import control
from recursive_dyn.control.tasks.task_stack import TaskStack
from scene import Body, Scene, joints

RATE = 2 * np.pi


def arm(bodies=7, seed=2, **settings):
    """A chain of hinges about changing axes."""
    rng, scene = np.random.default_rng(seed), Scene()
    node = scene.world
    for k in range(bodies):
        body = random_body(rng, f"b{k}")
        node = node.attach(body, joints.revolute("zyx"[k % 3], **settings), at=rd.pose((0.05, 0.02, 0.3)))
    return scene.compile()


ARM = arm(stiffness=3.0, damping=0.4)
Q, V = np.linspace(-0.6, 0.9, 7), np.linspace(0.5, -0.7, 7)


def wanted(stack):
    """e'' as designed, at 1 Hz and damping ratio 1."""
    return -2 * RATE * stack.rate - RATE**2 * stack.e


def acceleration(dynamics, q, v, tau):
    return dynamics.forward_dynamics(q, v, tau + dynamics.passive_forces(q, v))


def levels(dynamics):
    tip, gain = dynamics.bodies[-1], {"frequency": 1.0}
    return [
        control.Position(tip, (0.4, 0.3, 0.9), **gain),
        control.LookAt(tip, (2.0, 0, 0), **gain),
        control.Position("b3", (0, 0, 1), **gain),
        control.Posture(dynamics, **gain),
    ]


def test_tasks_get_their_accelerations_in_their_rank():
    law = control.OperationalSpace(ARM, levels(ARM))
    a = acceleration(ARM, Q, V, law(Q, V))
    stack = TaskStack(ARM, law.tasks).look(Q, V, 0.0)
    missed = stack.drift - stack.J @ a - wanted(stack)
    assert_close(missed[:5], np.zeros(5), 1e-9, np.abs(wanted(stack)).max())
    assert np.abs(missed[5:8]).max() > 1.0  # two rows are left to the three of the second position
    assert law.yielding == ("position of 'b3'", "posture")
    assert not {"position of 'b6'", "look of 'b6'"} & set(law.singular)


def test_lower_ranks_do_not_accelerate_higher_ones():
    """Nor do they within what is left: the null space is dynamically consistent."""
    law = control.OperationalSpace(ARM, levels(ARM))
    before = law(Q, V)
    law.tasks[3].target = ARM.neutral() + 1.0
    law.tasks[1].target = (0.0, 3.0, 0.0)
    change = ARM.forward_dynamics(Q, V, law(Q, V)) - ARM.forward_dynamics(Q, V, before)
    J = TaskStack(ARM, [law.tasks[0]]).look(Q, V, 0.0).J
    assert np.abs(change).max() > 1.0
    assert_close(J @ change, np.zeros(3), 1e-11, np.abs(change).max())


def test_two_ranks_are_khatibs_formula():
    """tau = J^T F + N^T tau_0 + bias, F = L (e'' wanted - J-dot v), L = (J M^-1 J^T)^-1, N = 1 - M^-1 J^T L J."""
    d = arm()
    law = control.OperationalSpace(
        d, [control.Position("b6", (0.4, 0.3, 0.9), frequency=1.0), control.Posture(d, frequency=1.0)]
    )
    stack = TaskStack(d, [law.tasks[0]]).look(Q, V, 0.0)
    M, J = d.mass_matrix(Q), stack.J
    L = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    N = np.eye(7) - np.linalg.solve(M, J.T) @ L @ J
    posture = M @ (-2 * RATE * V - RATE**2 * Q)
    expected = J.T @ L @ (stack.drift - wanted(stack)) + N.T @ posture + d.bias(Q, V)
    assert_close(law(Q, V), expected, 1e-10)


def test_the_error_of_a_task_decays_in_closed_form():
    """In continuous time, along a moving target."""

    def target(t):
        return np.array([0.4, 0.2, 0.8]) + 0.1 * np.sin(2 * t + np.arange(3.0))

    law = control.OperationalSpace(ARM, [control.Position(
        "b6", target, velocity=lambda t: 0.2 * np.cos(2 * t + np.arange(3.0)),
        acceleration=lambda t: -0.4 * np.sin(2 * t + np.arange(3.0)), frequency=1.0,
    )])  # fmt: skip

    def moving(t, x):
        q, v = np.split(x, 2)
        return np.concatenate([v, acceleration(ARM, q, v, law(q, v, t))])

    done = solve_ivp(moving, (0, 0.6), np.concatenate([Q, 0.3 * V]), method="DOP853", rtol=1e-10, atol=1e-11)
    stack = TaskStack(ARM, law.tasks).look(Q, 0.3 * V, 0.0)
    expected = (stack.e + (stack.rate + RATE * stack.e) * 0.6) * np.exp(-RATE * 0.6)
    assert_close(stack.look(*np.split(done.y[:, -1], 2), 0.6).e, expected, 1e-6)
    assert law.singular == ()


def test_what_tasks_leave_free_comes_to_rest():
    sim = rd.Simulation(ARM, 1e-3)
    sim.q, sim.v = Q, V
    sim.control = control.OperationalSpace(ARM, [control.Position("b6", ARM.poses(Q)[6, :3, 3])], settle=4.0)
    sim.step(2000)
    assert np.abs(sim.v).max() < 1e-2 and np.abs(sim.control.errors["position of 'b6'"]).max() < 1e-3


def test_on_a_floating_base_joints_do_it_alone():
    m = mechanism(9, 9, kinds=("revolute", "ball"), root="free")
    d, (q, v) = m.dynamics(), m.states(1, 2)
    q, v, tip = q[0], v[0], d.bodies[-1]
    law = control.OperationalSpace(d, [control.Position(tip, d.poses(q)[-1, :3, 3] + 0.1, frequency=1.0)])
    tau = law(q, v)
    stack = TaskStack(d, law.tasks).look(q, v, 0.0)
    assert not tau[:6].any()
    assert_close(stack.drift - stack.J @ acceleration(d, q, v, tau), wanted(stack), 1e-8)


def test_under_constraints_tasks_get_what_these_leave():
    case = bound(3, 5)
    d, q = case.dynamics(), case.home
    v = d.project(q, np.random.default_rng(1).normal(size=d.nv))[1]
    law = control.OperationalSpace(d, [control.CenterOfMass((0, 0, 0), frequency=1.0)], actuated=d.velocity_coordinates)
    stack = TaskStack(d, law.tasks).look(q, v, 0.0)
    a = acceleration(d, q, v, law(q, v))
    assert_close(stack.drift - stack.J @ a, wanted(stack), 1e-7)


def stretched():
    """Two links of 1 m in a plane, and their tip's task."""
    scene = Scene()
    upper = scene.world.attach(Body("upper", mass=1.0, center_of_mass=(0.5, 0, 0)), joints.revolute("z"))
    lower = upper.attach(
        Body("lower", mass=1.0, center_of_mass=(0.5, 0, 0)), joints.revolute("z"), at=rd.pose((1, 0, 0))
    )
    lower.attach(Body("tip", mass=0.1, inertia=0.01 * np.eye(3)), joints.revolute("x"), at=rd.pose((1, 0, 0)))
    return scene.compile()


def test_a_stretched_arm_is_damped_and_says_so():
    """Towards the base there is no way from where it is stretched out: finite forces, growing steadily from there."""
    d = stretched()
    law = control.OperationalSpace(d, [control.Position("tip", (1.0, 0.0, 0.0), frequency=1.0)])
    forces = np.array([law([0.0, bend, 0.0], np.zeros(3)) for bend in np.linspace(0.0, 0.4, 400)])
    assert np.isfinite(forces).all() and np.abs(np.diff(forces, axis=0)).max() < 0.1 * np.abs(forces).max()
    law([0.0, 0.01, 0.0], np.zeros(3))
    assert law.singular == ("position of 'tip'",)


def test_of_one_rank_the_heavier_task_has_its_way():
    """Two places for one point: what is left to go is shared by the squares of the weights."""
    places = np.array([[0.4, 0.3, 0.9], [0.5, 0.1, 0.7]])
    sim = rd.Simulation(ARM, 1e-3)
    sim.q = Q
    sim.control = control.OperationalSpace(
        ARM, [[control.Position("b6", p, weight=w) for p, w in zip(places, (3.0, 1.0), strict=True)]]
    )
    sim.step(1500)
    tip = ARM.poses(sim.q)[6, :3, 3]
    assert_close(tip, (9 * places[0] + places[1]) / 10, 1e-3)
    assert sim.control.singular == ("position of 'b6' (2)",)


def test_virtual_springs_have_energies():
    """What their forces do is what stiffness e'e / 2 loses, less what dampers take; forces of their own aside."""
    m = mechanism(6, 6, kinds=("ball", "free", "revolute"), root="free")
    d, (q, v) = m.dynamics(), m.states(1, 3)
    q, v, rng = q[0], v[0], np.random.default_rng(4)
    near = d.poses(q)[4] @ rd.pose((1, 2, 3), (0.4, 0.2, 0.1)), d.integrate(q, rng.uniform(-1, 1, d.nv), 1.0)
    springs = [
        control.VirtualSpring(control.Pose("b4", near[0]), *rng.uniform(1, 9, (2, 6))),
        control.VirtualSpring(control.LookAt("b3", (3, 2, 1)), 5.0, 0.7),
        control.VirtualSpring(control.CenterOfMass((1, 1, 1)), 4.0, 0.3),
        control.VirtualSpring(control.Posture(d, near[1]), rng.uniform(1, 9, d.nv)),
    ]
    law = control.JacobianTranspose(d, springs, actuated=d.velocity_coordinates)
    power = law(q, v) @ v
    gained = lost = 0.0
    for spring in springs:
        it = TaskStack(d, [spring.task]).look(q, v, 0.0)
        gained -= spring.stiffness * it.e @ it.rate
        lost += spring.damping * it.rate @ it.rate
    assert power == pytest.approx(gained - lost, rel=1e-10)
    push = control.JacobianTranspose(
        d, [control.VirtualSpring(control.Position("b4", (0, 0, 0), point=(0.1, 0.2, 0.3)), force=(1.0, 2.0, 3.0))],
        actuated=d.velocity_coordinates,
    )  # fmt: skip
    assert_close(push(q, v), d.jacobian(q, "b4", (0.1, 0.2, 0.3))[3:].T @ [1.0, 2.0, 3.0], 1e-13)


def test_rows_are_those_of_pinocchio():
    """Jacobians and classical accelerations of frames, of the centre of mass, and centroidal momentum."""
    rng = np.random.default_rng(3)
    model, scene, joint, node = pin.Model(), Scene(), 0, None
    for k in range(6):
        body, place = random_body(rng, f"b{k}"), rd.pose(rng.normal(size=3), rng.normal(size=3))
        node = (node or scene.world).attach(body, joints.revolute("xyz"[k % 3]), at=place)
        kind = (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ())[k % 3]
        joint = model.addJoint(joint, kind, pin.SE3(place), f"j{k}")
        inertia = pin.Inertia(body.mass, np.array(body.center_of_mass, dtype=float), np.array(body.inertia, float))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    point = np.array([0.1, 0.2, 0.3])
    frame = model.addFrame(pin.Frame("tip", joint, pin.SE3(np.eye(3), point), pin.FrameType.OP_FRAME))
    d, data, aligned = scene.compile(), model.createData(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    q, v = rng.normal(size=(2, 6))
    pin.forwardKinematics(model, data, q, v, np.zeros(6))
    pin.updateFramePlacements(model, data)
    stack = TaskStack(d, [
        control.Position("b5", np.zeros(3), point=point),
        control.Orientation("b5", data.oMf[frame].rotation),
        control.CenterOfMass(np.zeros(3)),
        control.AngularMomentum(),
    ]).look(q, v, 0.0)  # fmt: skip
    J = pin.computeFrameJacobian(model, data, q, frame, aligned)
    moving = pin.getFrameClassicalAcceleration(model, data, frame, aligned)
    assert_close(stack.J[:6], J, 1e-12)
    assert_close(stack.drift[:6], -np.concatenate([moving.linear, moving.angular]), 1e-12)
    assert_close(stack.J[6:9], pin.jacobianCenterOfMass(model, data, q), 1e-12)
    pin.centerOfMass(model, data, q, v, np.zeros(6))
    assert_close(stack.drift[6:9], -data.acom[0], 1e-12)
    pin.dccrba(model, data, q, v)
    assert_close(stack.J[9:], data.Ag[3:], 1e-12)
    assert_close(stack.drift[9:], -(data.dAg @ v)[3:], 1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: control.OperationalSpace(stretched(), [control.Pose("tip", np.eye(4))]), rd.ModelError,
         "pose of 'tip' has 6 rows, but only 3 coordinates are driven"),
        (lambda: control.OperationalSpace(ARM, ["b1"]), rd.StateError, "a task is a Position"),
        (lambda: control.OperationalSpace(ARM, levels(ARM), settle=-1.0), rd.StateError, "settle must be finite"),
        (lambda: control.JacobianTranspose(ARM, levels(ARM)), rd.StateError, "takes VirtualSpring"),
        (lambda: control.VirtualSpring("b1"), rd.StateError, "a virtual spring pulls a task"),
        (lambda: control.VirtualSpring(control.CenterOfMass((0, 0, 0)), -1.0), rd.StateError, "stiffness must be"),
        (lambda: control.VirtualSpring(control.CenterOfMass((0, 0, 0)), force=(1, 2)), rd.StateError, "force is a"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
