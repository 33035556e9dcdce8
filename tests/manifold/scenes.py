"""The systems of demos.manifolds built once more as scenes of bodies on joints, as a person would hang them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from twins import (
    GRAVITY,
    UP,
    Hanging,
    Load,
    Marks,
    Twin,
    about,
    arrow,
    direction,
    random_frame,
    random_inertia,
    translation,
)

import recursive_dyn as rd
from demos.manifolds import chain, pendulums, quadrotor, reaction_mass, walker
from scene import Body, Scene, joints

LEVEL = np.array([-0.48, 0.64, 0.6])  # at right angles to UP


def _numbers(rng: np.random.Generator, names: str, low: float = 0.5, high: float = 1.5) -> dict[str, Any]:
    return {name: rng.uniform(low, high) for name in names.split()} | {"g": GRAVITY, "e3": UP}


def spherical(rng: np.random.Generator, relative: bool = False) -> Twin:
    """One mass on a joint of its own making, or on a universal joint."""
    p = _numbers(rng, "m l")
    hanging, tau = Hanging(rng, relative), rng.normal(size=3)
    hanging.link(hanging.scene.world, "bob", p["l"], p["m"])
    return Twin(
        "spherical pendulum", pendulums.spherical(), p, hanging.scene, {"q": arrow("bob", None, p["l"])},
        forces={"tau": tau}, loads=(Load("bob", tau / p["l"]),),
    )  # fmt: skip


def spherical_on_surface(rng: np.random.Generator) -> Twin:
    """One mass that glides on a sphere of the library."""
    p = _numbers(rng, "m l")
    scene, tau, at = Scene(gravity=-GRAVITY * UP), rng.normal(size=3), np.eye(4)
    at[:3, :3] = random_frame(rng)
    scene.world.attach(Body("bob", mass=p["m"]), joints.surface(joints.surfaces.sphere(p["l"])), at=at)
    return Twin(
        "spherical pendulum, a bead on a sphere", pendulums.spherical(), p, scene, {"q": arrow("bob", None, p["l"])},
        forces={"tau": tau}, loads=(Load("bob", tau / p["l"]),),
    )  # fmt: skip


def three_dimensional(rng: np.random.Generator) -> Twin:
    """A body on a ball joint; the coordinate's force is the moment in body axes."""
    p = _numbers(rng, "m")
    inertia, rho, moment = random_inertia(rng), rng.uniform(-0.5, 0.5, 3), rng.normal(size=3)
    p |= {"rho": rho, "J": about(p["m"], rho, inertia)}
    scene = Scene(gravity=-GRAVITY * UP)
    scene.world.attach(Body("body", mass=p["m"], center_of_mass=rho, inertia=inertia), joints.ball())
    return Twin(
        "3D pendulum", pendulums.three_dimensional(), p, scene, rotations={"R": "body"},
        forces={"M": moment}, efforts=_along("body", "wx wy wz", moment),
    )  # fmt: skip


def _along(body: str, coordinates: str, values: Any) -> dict[str, float]:
    return {f"{body}.{name}": float(x) for name, x in zip(coordinates.split(), values, strict=True)}


def double_spherical(rng: np.random.Generator, relative: bool = False) -> Twin:
    """Two masses in a row."""
    p = _numbers(rng, "m1 m2 l1 l2")
    hanging, (tau1, tau2) = Hanging(rng, relative), rng.normal(size=(2, 3))
    first = hanging.link(hanging.scene.world, "first", p["l1"], p["m1"])
    hanging.link(first, "second", p["l2"], p["m2"])
    directions = {"q1": arrow("first", None, p["l1"]), "q2": arrow("second", "first", p["l2"])}
    loads = (Load("first", tau1 / p["l1"] - tau2 / p["l2"]), Load("second", tau2 / p["l2"]))
    return Twin(
        "double spherical pendulum", pendulums.double_spherical(), p, hanging.scene, directions,
        forces={"tau1": tau1, "tau2": tau2}, loads=loads,
    )  # fmt: skip


def double_three_dimensional(rng: np.random.Generator) -> Twin:
    """A body on a ball joint in a body on a ball joint."""
    p = _numbers(rng, "m1 m2")
    inertia, J2 = random_inertia(rng), random_inertia(rng)
    rho1, rho2, lam, M1, M2 = rng.uniform(-0.6, 0.6, (5, 3))
    p |= {"rho1": rho1, "rho2": rho2, "lam": lam, "J1": about(p["m1"], rho1, inertia), "J2": J2}
    scene = Scene(gravity=-GRAVITY * UP)
    first = scene.world.attach(Body("first", mass=p["m1"], center_of_mass=rho1, inertia=inertia), joints.ball())
    second = Body("second", mass=p["m2"], center_of_mass=rho2, inertia=J2)
    first.attach(second, joints.ball(), at=rd.pose(lam))
    return Twin(
        "double 3D pendulum", pendulums.double_three_dimensional(), p, scene,
        rotations={"R1": "first", "R2": "second"}, forces={"M1": M1, "M2": M2},
        loads=(Load("first", moment=M1, turning=True), Load("second", moment=M2, turning=True)),
    )  # fmt: skip


def _walk(hanging: Hanging, foot: Any, tail: str | None, p: dict[str, Any]) -> tuple[dict[str, Marks], dict[str, Any]]:
    """Legs, hip and torso from the stance foot on; the directions, and the forces with their loads."""
    half = p["l"] / 2  # the swing leg ends at its mass for the scene
    hip = hanging.link(foot, "hip", p["l"], p["mH"], middle=p["m"])
    hanging.link(hip, "shin", half, p["m"])
    hanging.link(hip, "head", p["L"], p["mT"])
    directions = {
        "q1": arrow("hip", tail, p["l"]),
        "q2": arrow("shin", "hip", half),
        "q3": arrow("head", "hip", p["L"]),
    }
    u2, u3 = hanging.rng.normal(size=(2, 3))
    loads = (Load("hip", -u2 / half - u3 / p["L"]), Load("shin", u2 / half), Load("head", u3 / p["L"]))
    return directions, {"forces": {"u2": u2, "u3": u3}, "loads": loads}


def stance(rng: np.random.Generator, relative: bool = False) -> Twin:
    """The walker on a foot that stands."""
    p, hanging = _numbers(rng, "m mH mT l L"), Hanging(rng, relative)
    directions, applied = _walk(hanging, hanging.scene.world, None, p)
    return Twin("walker in stance", walker.stance(), p, hanging.scene, directions, **applied)


def flight(rng: np.random.Generator) -> Twin:
    """The walker on a foot that moves anywhere."""
    p, hanging = _numbers(rng, "m mH mT l L"), Hanging(rng)
    stance_foot = hanging.scene.world.attach(Body("stance_foot"), translation())
    directions, applied = _walk(hanging, stance_foot, "stance_foot", p)
    vectors = directions | {"x": arrow("stance_foot")}
    return Twin("walker in flight", walker.flight(), p, hanging.scene, vectors, **applied)


def on_cart(rng: np.random.Generator, n: int, relative: bool = False) -> Twin:
    """A chain of n links on a cart that slides along a level axis."""
    p = _numbers(rng, " ".join(f"m{i} l{i}" for i in range(1, n + 1)) + " m0") | {"e1": LEVEL}
    hanging, u = Hanging(rng, relative), rng.normal()
    cart = hanging.scene.world.attach(Body("cart", mass=p["m0"]), joints.prismatic(LEVEL))
    directions, end = {}, cart
    for i in range(1, n + 1):
        mass = hanging.link(end, f"mass{i}", p[f"l{i}"], p[f"m{i}"])
        directions[f"q{i}"] = arrow(mass.name, end.name, p[f"l{i}"])
        end = mass
    return Twin(
        f"chain of {n} on a cart", chain.on_cart(n), p, hanging.scene, directions,
        scalars={"x": "cart.distance"}, forces={"u": u}, efforts={"cart.distance": u},
    )  # fmt: skip


def quadrotor_with_load(rng: np.random.Generator) -> Twin:
    """A free quadrotor, and in its axes the load in some direction; thrust and moment are the free joint's forces."""
    p = _numbers(rng, "mQ mL l") | {"J": random_inertia(rng)}
    moment, thrust = rng.normal(size=3), rng.uniform(10.0, 20.0)
    scene = Scene(gravity=-GRAVITY * UP)
    body = scene.world.attach(Body("quadrotor", mass=p["mQ"], inertia=p["J"]), joints.free())
    body.attach(Body("load", mass=p["mL"]), direction(p["l"], random_frame(rng)))
    efforts = _along("quadrotor", "wx wy wz", moment) | _along("quadrotor", "vx vy vz", thrust * UP)
    return Twin(
        "quadrotor with a load", quadrotor.with_load(), p, scene,
        {"xL": arrow("load"), "q": arrow("load", "quadrotor", p["l"])}, {"R": "quadrotor"},
        forces={"f": thrust, "M": moment}, efforts=efforts,
    )  # fmt: skip


def quadrotor_below_load(rng: np.random.Generator) -> Twin:
    """A load that moves anywhere, and the quadrotor on a joint of a direction and a rotation."""
    p = _numbers(rng, "mQ mL l") | {"J": random_inertia(rng)}
    moment, thrust = rng.normal(size=3), rng.uniform(10.0, 20.0)
    scene = Scene(gravity=-GRAVITY * UP)
    load = scene.world.attach(Body("load", mass=p["mL"]), translation())
    joint = direction(p["l"], random_frame(rng)) @ joints.ball()
    load.attach(Body("quadrotor", mass=p["mQ"], inertia=p["J"]), joint)
    return Twin(
        "quadrotor on its load", quadrotor.with_load(), p, scene,
        {"xL": arrow("load"), "q": arrow("load", "quadrotor", p["l"])}, {"R": "quadrotor"},
        forces={"f": thrust, "M": moment},
        loads=(Load("quadrotor", force=thrust * UP, moment=moment, turning=True),),
    )  # fmt: skip


def reaction_mass_pendulum(rng: np.random.Generator) -> Twin:
    """A leg on a ball joint, its length a prismatic joint, the body on a ball joint; a coordinate moves both of a pair.

    A mass in the foot does not move: the leg has the inertia JL about it and no weight.
    """
    p = _numbers(rng, "m1 m2 m3")
    sliding = 2.0 * (p["m1"] + p["m2"] + p["m3"])
    JL, JP = random_inertia(rng), random_inertia(rng)
    own = rng.uniform(1.0, 2.0)
    axes = {f"a{i}": random_frame(rng)[0] for i in (1, 2, 3)}
    p |= {"m": own + sliding, "JL": JL, "JP": JP} | axes
    f, u1, u2, u3, *tau = rng.normal(size=7)
    scene = Scene(gravity=-GRAVITY * UP)
    leg = scene.world.attach(Body("leg", mass=1.0, inertia=JL), joints.ball())
    hip = leg.attach(Body("hip"), joints.prismatic(UP))
    body = hip.attach(Body("body", mass=own, inertia=JP), joints.ball())
    for i in (1, 2, 3):
        s = scene.coordinate(f"s{i}")
        for side, place in (("left", s), ("right", -s)):
            body.attach(Body(f"{side}{i}", mass=p[f"m{i}"]), joints.prismatic(axes[f"a{i}"]).driven(place))
    efforts = _along("body", "wx wy wz", tau) | {"hip.distance": f, "s1": u1, "s2": u2, "s3": u3}
    return Twin(
        "reaction mass pendulum", reaction_mass.pendulum(), p, scene, rotations={"RL": "leg", "RP": "body"},
        scalars={"rho": "hip.distance", "s1": "s1", "s2": "s2", "s3": "s3"},
        forces={"tau": np.array(tau), "f": f, "u1": u1, "u2": u2, "u3": u3}, efforts=efforts,
        positive=("hip.distance", "s1", "s2", "s3"),
    )  # fmt: skip


Builder = Callable[[np.random.Generator], Twin]
ABSOLUTE: dict[str, Builder] = {
    "spherical": spherical,
    "three_dimensional": three_dimensional,
    "double_spherical": double_spherical,
    "double_three_dimensional": double_three_dimensional,
    "stance": stance,
    "flight": flight,
    "quadrotor_with_load": quadrotor_with_load,
    "reaction_mass_pendulum": reaction_mass_pendulum,
} | {f"chain_of_{n}": lambda rng, n=n: on_cart(rng, n) for n in range(1, 7)}
OTHERWISE: dict[str, Builder] = {  # the same systems on other joints
    "spherical_on_surface": spherical_on_surface,
    "spherical_on_universal": lambda rng: spherical(rng, relative=True),
    "double_spherical_on_universals": lambda rng: double_spherical(rng, relative=True),
    "stance_on_universals": lambda rng: stance(rng, relative=True),
    "quadrotor_below_load": quadrotor_below_load,
    "chain_of_2_on_universals": lambda rng: on_cart(rng, 2, relative=True),
}
