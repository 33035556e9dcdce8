"""Equations of motion without coordinates: a pendulum on the sphere, derived, printed and run over its pole."""

from recursive_dyn.manifold import Motion, derive, dt, scalars, unit_vectors, vectors

m, g, l = scalars("m g l", constant=True)
e3 = vectors("e3", constant=True)
q = unit_vectors("q")
equations = derive(m * l**2 * dt(q).dot(dt(q)) / 2 - m * g * l * q.dot(e3), configuration=[q])
print(equations)

motion = Motion(equations.compile(), timestep=1e-3)
motion.parameters.update(m=1.0, g=9.81, l=0.5, e3=(0, 0, 1))
motion.place(q, (0, 0, 1), rate=(0.1, 0, 0))  # upside down
motion.step(2000)
print(motion[q], f"energy {motion.energy:.6f} J, drift {motion.drift:.1e}")
