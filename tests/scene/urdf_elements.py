"""Elements of URDF files, as text."""

MASS = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name, inside=MASS):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, kind="revolute", inside='<axis xyz="0 0 1"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


ARM = (link("base"), link("arm"), joint("hinge", "base", "arm"))


def arm(inside, kind="revolute"):
    """A base and an arm whose joint holds `inside`."""
    return link("base"), link("arm"), joint("hinge", "base", "arm", kind, inside)


def geometry(shape, tag="visual", more=""):
    return f"<{tag}><geometry>{shape}</geometry>{more}</{tag}>"


def finger(leader, multiplier, offset, damping=0.0):
    dynamics = f'<dynamics damping="{damping}"/>'
    return f'<axis xyz="0 0 1"/>{dynamics}<mimic joint="{leader}" multiplier="{multiplier}" offset="{offset}"/>'
