"""Fail if importing the package costs time or brings a driver along. Needs nothing but the package itself."""

from __future__ import annotations

import subprocess
import sys

SECONDS = 0.1
ROUNDS = 3
HEAVY = (
    "chromadb",
    "langchain_core",
    "llama_index.core",
    "onnxruntime",
    "redis",
    "sqlalchemy",
    "sqlmodel",
    "tiktoken",
    "tokenizers",
)
_IMPORT = f"""
import sys, time
started = time.perf_counter()
import langchain_tiered_memory
print(time.perf_counter() - started, *[name for name in {HEAVY} if name in sys.modules])
"""


def measure() -> tuple[float, list[str]]:
    """Import the package in fresh interpreters.

    Returns:
        The best of the times, in seconds, and the heavy modules found loaded.
    """
    times, loaded = [], []
    for _ in range(ROUNDS):
        output = subprocess.run([sys.executable, "-c", _IMPORT], check=True, capture_output=True, text=True).stdout
        seconds, *names = output.split()
        times.append(float(seconds))
        loaded += names
    return min(times), sorted(set(loaded))


if __name__ == "__main__":
    best, modules = measure()
    print(f"import langchain_tiered_memory: {best:.3f} s, best of {ROUNDS}; heavy modules: {modules or 'none'}")  # noqa: T201
    sys.exit(bool(modules) or best >= SECONDS)
