"""Contact in generalized coordinates: materials, rows through M = L^T D L, the cone solver, events."""

from recursive_dyn.contact.material import Material

__all__ = ["Material"]
