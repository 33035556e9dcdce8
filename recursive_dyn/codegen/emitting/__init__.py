"""Programs, and loops around them, as LLVM IR text."""
