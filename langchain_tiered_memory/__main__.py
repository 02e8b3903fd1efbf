"""`python -m langchain_tiered_memory` is `ltm`."""

from __future__ import annotations

from langchain_tiered_memory.cli import main

if __name__ == "__main__":
    main()
