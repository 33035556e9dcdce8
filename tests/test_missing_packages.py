"""What goes without a package, what says that it needs one, and whose scene.py is whose."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {outside}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name.partition(".")[0])
sys.meta_path.insert(0, Missing())
"""
OUTSIDE = {"pybullet", "pybullet_data", "coacd", "trimesh", "collada", "pyglet", "PIL", "scipy", "daqp", "piqp"}
URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""
CORE = """
import recursive_dyn as rd
from scene import Body, Scene, joints, shapes
from bridge import Plugin
scene = Scene.from_urdf("arm.urdf")
scene.world.shapes.append(shapes.Plane())
scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((2, 0, 0.05)))
game = Plugin(scene, timestep=1 / 60)
for _ in range(10):
    game.on_frame(1 / 60)
scene.save("scene.json")
print(repr(Scene.load("scene.json").compile()), *sorted(n for n in sys.modules if n in OUTSIDE))
""".replace("OUTSIDE", repr(OUTSIDE))


def python(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(program)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = (sys.executable, *(arguments or ("main.py",)))
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_core_and_games_of_closed_forms_go_without_all_others(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    done = python(tmp_path, WITHOUT.format(outside=OUTSIDE) + CORE)
    assert done.stdout.strip() == "<Dynamics: 3 bodies, nq 8, nv 7, method 'auto'>", done.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "from bridge import PyBulletMirror",
            "needs the package 'pybullet', which is not installed: pip",
        ),
        ("from scene import shapes; shapes.Mesh('part.stl').volume", "a mesh needs the package 'trimesh'"),
    ],
)
def test_what_needs_a_package_says_which(tmp_path, line, said):
    (tmp_path / "part.stl").write_text("solid nothing\nendsolid\n")
    done = python(tmp_path, WITHOUT.format(outside=OUTSIDE) + line)
    assert done.returncode == 1 and said in done.stderr


USED = """
import recursive_dyn as rd
from recursive_dyn.scene import Body, Scene, joints
from recursive_dyn.bridge import Pictures
import scene
assert scene.Scene is Scene and issubclass(Pictures, object)
world = Scene()
world.world.attach(Body("bar", mass=1.0, inertia=((1, 0, 0), (0, 1, 0), (0, 0, 1))), joints.revolute("y"))
rd.Simulation(world.compile()).step()
print("stepped")
"""


@pytest.mark.parametrize("name", ["scene", pytest.param("bridge", marks=pytest.mark.slow)])
def test_a_script_beside_a_file_of_our_name_or_of_that_name_itself_finds_ours(tmp_path, name):
    (tmp_path / f"{name}.py").write_text("raise AssertionError('this one is not asked for')\n")
    done = python(tmp_path, USED)
    assert done.stdout == "stepped\n", done.stderr
    (tmp_path / f"{name}.py").write_text(USED)
    done = python(tmp_path, "", f"{name}.py")
    assert done.stdout == "stepped\n", done.stderr


@pytest.mark.slow
def test_a_file_that_was_imported_instead_is_named(tmp_path):
    (tmp_path / "scene.py").write_text("mine = True\n")
    for line in ("from recursive_dyn.scene import Scene", "from bridge import PyBulletMirror"):
        done = python(tmp_path, f"import scene\n{line}")
        assert f"'scene' is {tmp_path / 'scene.py'}, which was imported before" in done.stderr
        assert "'from recursive_dyn.scene import ...' ahead of it" in done.stderr


def test_the_alias_is_no_second_package(tmp_path):
    done = python(tmp_path, "import recursive_dyn.scene.joints")
    assert "'recursive_dyn.scene' is not a package" in done.stderr
