"""PyBullet's <contact> elements: what the surface of a URDF file's link is like."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from recursive_dyn.contact.material import Material

FIELDS = {  # element: field of a Material; what the file leaves out is as in Bullet, whose lateral_friction is 0.5 too
    "lateral_friction": "friction",
    "rolling_friction": "rolling_friction",
    "spinning_friction": "spinning_friction",
    "restitution": "restitution",
}


def taken(link: ET.Element) -> dict[str, Material]:
    """The material of a checked <link> by its name, if it has one; <contact> is removed. Raises ModelError."""
    given: dict[str, float] = {}
    for i, contact in enumerate(link.findall("contact")):
        if i == 0:  # Bullet looks no further
            for element in reversed(contact):  # of several, the first counts
                if element.tag in FIELDS:
                    given[FIELDS[element.tag]] = float(element.get("value", ""))
        link.remove(contact)
    return {link.get("name", ""): Material(**given)} if given else {}
