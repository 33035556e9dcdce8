"""URDF files that say a thing twice, or write what is no number: refused by the name of the link or joint."""

import pytest
from urdf_elements import MASS, joint, link

import recursive_dyn as rd

INERTIA = '<inertia ixx="1" iyy="1" izz="1"/>'
HINGE = '<parent link="a"/><child link="b"/>'


def hinge(inside: str) -> str:
    return f'{link("a", MASS)}{link("b", MASS)}<joint name="elbow" type="revolute">{HINGE}{inside}</joint>'


def massive(inside: str) -> str:
    return link("a", f"<inertial>{inside}</inertial>")


@pytest.mark.parametrize("number", ["1_0", "0x10", "１", "1e", ".", "1.0f", "--1"])
def test_only_decimal_numbers_are_numbers(load, number):
    with pytest.raises(rd.SceneFileError, match=r"link 'a': <mass value='.*'> must hold 1 finite number"):
        load(massive(f'<mass value="{number}"/>{INERTIA}'))


@pytest.mark.parametrize("number", ["10", "1e1", "+10.", "1.E+01", " 10 "])
def test_every_decimal_number_is_one(load, number):
    assert load(massive(f'<mass value="{number}"/>{INERTIA}'))["a"].mass == 10.0


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (massive(f'<mass value="1"/><mass value="2"/>{INERTIA}'), "link 'a': its <inertial> has 2 <mass>"),
        (massive(f'<mass value="1"/>{INERTIA}{INERTIA}'), "link 'a': its <inertial> has 2 <inertia>"),
        (massive(f'<origin/><origin/><mass value="1"/>{INERTIA}'), "link 'a': its <inertial> has 2 <origin>"),
        (link("a", MASS + MASS), "link 'a': its <link> has 2 <inertial>"),
        (link("a", "<visual><geometry/><geometry/></visual>"), "link 'a': its <visual> has 2 <geometry>"),
        (hinge('<axis xyz="1 0 0"/><axis xyz="0 1 0"/>'), "joint 'elbow': its <joint> has 2 <axis>"),
        (hinge("<origin/><origin/>"), "joint 'elbow': its <joint> has 2 <origin>"),
        (hinge('<limit lower="0" upper="1"/><limit/>'), "joint 'elbow': its <joint> has 2 <limit>"),
        (hinge('<child link="c"/>'), "joint 'elbow': its <joint> has 2 <child>"),
    ],
)
def test_what_is_said_twice_is_refused(load, file, message):
    with pytest.raises(rd.SceneFileError, match=message):
        load(file)


def test_a_long_chain_written_from_its_end_is_read_in_one_go(load):
    """Every joint stands before the one it hangs on; followers stand before their leader."""
    count = 400
    links = "".join(link(f"l{i}", MASS) for i in range(count + 1))
    chain = "".join(joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in reversed(range(count)))
    scene = load(links + chain)
    assert [b.name for b in scene.bodies] == [f"l{i}" for i in range(count + 1)]
