"""Programs as machine code: LLVM, compiled loops around kernels, the cache on disk; the reference interpreter; C."""
