"""Write a chain of ten interlocked rings as C, for torus_chain.c: python export_model.py [FOLDER]."""

import sys
from pathlib import Path

from demos.torus_chain import DAMPING, chain

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "model")
print("written to", chain(10, DAMPING).compile().export_c(folder, name="chain"))
