"""Scene files hold what a joint knows beside its motion: surfaces to roll on, what is drawn, its other charts."""

import inspect
import json
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from test_file import assert_same_model, round_trip
from test_file_sharing import link

import recursive_dyn as rd
from recursive_dyn.graph.program import content_hash
from scene import Scene, joints
from scene.file import constructors
from scene.joints import surfaces
from scene.joints.surfaces import Span, Surface

U, V = sp.symbols("a b")


def rows(scene: Scene) -> list[str]:
    return [content_hash(c.name, c.rows) for c in scene.constraints]


def on(first, second, **how) -> Scene:
    """One body on a joint of two surfaces, with the parameters they may depend on."""
    scene = Scene()
    scene.parameter("r", 0.3)
    scene.parameter("a", 1.2)
    scene.world.attach(link("ball"), joints.surface_on_surface(first, second, **how))
    return scene


def pieces(surface: Surface) -> Surface:
    """Another frame in closed form, which no file knows."""
    return replace(surface, pieces=lambda *given: surface.pieces(*given))


r = sp.Symbol("r", real=True)
LIBRARY = {
    "plane": surfaces.plane(),
    "sphere": surfaces.sphere(1 / 3, poles="x"),
    "ellipsoid": surfaces.ellipsoid(1, 1 + r, 2.5),
    "ellipsoid about x": surfaces.ellipsoid(1, 1 + r, 2.5, poles="x"),
    "ellipsoid about y": surfaces.ellipsoid(1.5, 2, 1.5, poles="y"),
    "torus": surfaces.torus(sp.sqrt(2), r / 3, poles="y"),
    "cylinder": surfaces.cylinder(r, poles="x"),
    "paraboloid": surfaces.paraboloid(0.7, r),
}
OWN = {
    "of two symbols": Surface.of("surface", (U, V, U**2 / 3 - U * V + V**2), (U, V)),
    "of constants": Surface.of("surface", (sp.pi / 3 + 0 * U, U, V), (U, V)),
    "named": Surface.of(
        "egg", (sp.cos(U) * sp.cos(V), sp.sin(U) * sp.cos(V), (1 + r) * sp.sin(V)), (U, V), v=Span(-1.5, 1.5)
    ),
    "with names taken": Surface.of("surface", (V, U, sp.Symbol("a", real=True) * U * V + sp.exp(-(U**2)) / 9), (U, V)),
}


@pytest.mark.parametrize("how", [{}, {"spin": True}, {"flip": False, "turn": 0.4}], ids=str)
@pytest.mark.parametrize("name", [*LIBRARY, *OWN])
def test_surfaces_roll_as_before(name, how, tmp_path):
    scene = on((LIBRARY | OWN)[name], surfaces.ellipsoid(0.2, 0.21, 0.23), **how)
    loaded = round_trip(scene, tmp_path)
    assert round_trip(loaded, tmp_path).model().key == scene.model().key
    for each in (scene, loaded):
        each.roll(each["ball"], pivoting=False)
    assert rows(loaded) == rows(scene)
    was, now = scene["ball"].joint.contact, loaded["ball"].joint.contact
    assert (now.flip, now.turn, now.spin is None) == (was.flip, was.turn, was.spin is None)
    for a, b in ((was.first, now.first), (was.second, now.second)):
        assert (b.name, b.names, b.u, b.v) == (a.name, a.names, a.u, a.v)
        for p, q in zip(
            a.mesh(4, 4, parameters=scene.parameters), b.mesh(4, 4, parameters=scene.parameters), strict=True
        ):
            np.testing.assert_allclose(q, p, rtol=1e-14, atol=1e-15)


def test_the_child_may_have_any_surface_too(tmp_path):
    for name, surface in (LIBRARY | OWN).items():
        scene = on(surfaces.plane(), surface)
        loaded = round_trip(scene, tmp_path)
        for each in (scene, loaded):
            each.roll(each["ball"])
        assert rows(loaded) == rows(scene), name


def test_every_surface_of_the_library_has_a_field():
    functions = {n: f for n, f in vars(surfaces).items() if inspect.isfunction(f) and not n.startswith("_")}
    makers = {n for n, f in functions.items() if inspect.signature(f).return_annotation == "Surface"}
    assert makers == constructors.SIZES.keys()


def test_why_a_contact_is_not_determined_is_told_of_a_loaded_scene_too(tmp_path):
    for how in ({}, {"spin": True}):
        scene = on(surfaces.sphere(0.5), surfaces.sphere(0.5), flip=False, **how)
        for each in (scene, round_trip(scene, tmp_path)):
            with pytest.raises(rd.ModelError, match=r"same curvature.*flip one to touch from outside"):
                each.model()


def test_an_adjusted_joint_keeps_its_contact(tmp_path):
    loaded = round_trip(on(surfaces.plane(), surfaces.sphere(0.1)), tmp_path)
    adjusted = loaded["ball"].joint.adjusted(damping=0.2)
    loaded["ball"].detach()
    loaded.world.attach(link("b"), adjusted)
    again = round_trip(loaded, tmp_path)
    again.roll(again["b"])
    assert again["b"].joint.coordinates[0].damping == 0.2


def test_surfaces_that_cannot_be_written_are_refused(tmp_path):
    for surface, message in ((pieces(surfaces.sphere(0.1)), "frame of the surface 'sphere' cannot be written"),):
        scene = on(surfaces.paraboloid(1, 2), surface)
        with pytest.raises(rd.SceneFileError, match=f"joint of 'ball': .*{message}"):
            scene.save(tmp_path / "scene.json")
        scene["ball"].joint.origin = None
        assert_same_model(scene, round_trip(scene, tmp_path))


def test_a_joint_that_its_origin_does_not_make_is_refused(tmp_path):
    scene = on(surfaces.plane(), surfaces.sphere(0.1))
    scene["ball"].joint.origin = on(surfaces.plane(), surfaces.sphere(0.2))["ball"].joint.origin
    with pytest.raises(rd.SceneFileError, match=r"'ball': its transform is not what joints\.surface"):
        scene.save(tmp_path / "scene.json")
    scene["ball"].joint.origin = None
    assert_same_model(scene, round_trip(scene, tmp_path))


# What is drawn


def test_wires_and_patches_are_drawn_as_before(tmp_path):
    rng = np.random.default_rng(0)
    s = sp.Symbol("s", real=True)
    grid = np.stack([*np.meshgrid(np.arange(5.0), np.arange(5.0)), rng.normal(size=(5, 5))], axis=-1)
    scene = Scene()
    for i, joint in enumerate(
        [
            joints.bspline(rng.normal(size=(7, 3)), closed=True),
            joints.bezier(rng.normal(size=(4, 3)), arc_length=True, outside="extrapolate"),
            joints.curve([sp.cos(s), sp.sin(s), s / 5], s, domain=(0, 4)),
            joints.bspline_surface(grid).adjusted(damping=0.1),
            joints.bezier_surface(grid, frame="translation"),
        ]
    ):
        scene.world.attach(link(f"b{i}"), joint)
    loaded = round_trip(scene, tmp_path)
    assert_same_model(scene, loaded)
    for a, b in zip(scene.bodies, loaded.bodies, strict=True):
        if a.joint.path:
            p, q = a.joint.path, b.joint.path
            assert (q.domain, q.length, q.closed) == (p.domain, p.length, p.closed)
            assert np.array_equal(p.points(50), q.points(50))
        else:
            p, q = a.joint.patch, b.joint.patch
            assert (q.domain, q.closed) == (p.domain, p.closed)
            assert np.array_equal(p.grid(9, 9), q.grid(9, 9))


# Charts


def test_joints_of_several_charts_come_back(tmp_path):
    scene = Scene()
    sphere = [joints.surface(surfaces.sphere(1.0, poles=axis), frame="translation") for axis in "zx"]
    a = scene.world.attach(link("a"), joints.charts(joints.euler("xyz"), joints.euler("zxz")))
    a.attach(link("b"), joints.charts(*sphere))
    loaded = round_trip(scene, tmp_path)
    assert_same_model(scene, loaded)
    for was, now in zip(scene.bodies, loaded.bodies, strict=True):
        assert [c.program.key for c in now.joint.charts] == [c.program.key for c in was.joint.charts]
        assert [c.coordinates for c in now.joint.charts] == [c.coordinates for c in was.joint.charts]
        assert now.joint.coordinates == was.joint.coordinates


def test_rolling_in_several_charts_comes_back(tmp_path):
    """Its rows name the chart in force."""
    scene = Scene()
    stones = [surfaces.ellipsoid(0.2, 0.1, 0.07, poles=axis) for axis in "zx"]
    parts = [joints.surface_on_surface(surfaces.plane(), stone, spin=True) for stone in stones]
    scene.world.attach(link("stone"), joints.charts(*parts))
    scene.roll("stone")
    assert_same_model(scene, round_trip(scene, tmp_path))


def charts_document() -> dict:
    turn = [["cos(q0)", "-sin(q0)", 0, 0], ["sin(q0)", "cos(q0)", 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    one = {"factors": [{"kind": "plain", "coordinates": 1, "transform": turn}], "coordinates": [{"name": "q"}]}
    body = {"name": "a", "parent": "world", "mass": 1, "center_of_mass": [0, 0, 0], "inertia": np.eye(3).tolist()}
    joint = {"charts": [one, json.loads(json.dumps(one))]}
    return {"format": "recursive-dyn scene", "version": 2, "gravity": [0, 0, 0], "bodies": [{**body, "joint": joint}]}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda j: j.update(charts={}), "charts must be a list"),
        (lambda j: j.update(factors=[]), "must have one field of|unknown field"),
        (lambda j: j["charts"].pop(), "takes two or more"),
        (lambda j: j["charts"].append(3), "part 3 of charts: it must have one field of"),
        (lambda j: j["charts"][1]["coordinates"][0].update(damping=1), "chart 2: damping of coordinate 'q'"),
        (lambda j: j["charts"][1].update(lines=["t0 = eval(q0)"]), "part 2 of charts: line 1: .*'eval' is not allowed"),
        (
            lambda j: j["charts"][1]["factors"].append(j["charts"][1]["factors"][0]),
            "part 2 of charts: factor 2: it uses q0",
        ),
    ],
)
def test_what_is_wrong_with_charts_is_named(spoil, message, tmp_path):
    content = charts_document()
    (tmp_path / "scene.json").write_text(json.dumps(content))
    assert len(Scene.load(tmp_path / "scene.json")["a"].joint.charts) == 2
    spoil(content["bodies"][0]["joint"])
    (tmp_path / "scene.json").write_text(json.dumps(content))
    with pytest.raises(rd.SceneFileError, match=f"joint of 'a': .*{message}"):
        Scene.load(tmp_path / "scene.json")


def test_what_no_field_holds_is_refused(tmp_path):
    scene = Scene()
    scene.world.attach(link("a"), joints.charts(joints.euler("xyz"), joints.euler("zxz")))
    with pytest.raises(AttributeError):
        scene["a"].joint.path = joints.bspline(np.eye(4)[:, :3]).path
    scene["a"].detach()
    scene.world.attach(link("b"), joints.revolute("x")).joint.friction = 0.3
    with pytest.raises(rd.SceneFileError, match="joint of 'b': its attribute 'friction' has no field"):
        scene.save(tmp_path / "scene.json")
