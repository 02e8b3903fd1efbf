"""Runs the situations on the libraries that are installed, and prints the table: `python -m tests.comparison`."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import sys
import tempfile
import warnings
from pathlib import Path

from tests.comparison import apart, report
from tests.comparison.findings import SITUATIONS, Column

SCRIPTS = {"langchain_classes": "langchain_classic", "langmem_tools": "langmem", "mem0_memory": "mem0"}
"""Each script, and the package that has to be installed for it."""


def run(script: str) -> tuple[str, Column]:
    """Run one script, each situation in a folder of its own; return its title and what was found."""
    module = importlib.import_module(f"tests.comparison.{script}")
    warnings.simplefilter("ignore")  # LangChain turns its own on when it is imported
    findings = {}
    for name in SITUATIONS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            findings[name] = module.RUN[name](Path(folder))
    return module.TITLE, Column({one: importlib.metadata.version(one) for one in module.PACKAGES}, findings)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.comparison", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found, with the evidence, to a file")
    parser.add_argument("--only", choices=SCRIPTS, help="run one script alone")
    options = parser.parse_args()
    apart.settle()
    installed = [script for script, package in SCRIPTS.items() if importlib.util.find_spec(package)]
    columns = dict(run(script) for script in installed if options.only in {None, script})
    if options.json:
        report.write(columns, options.json)
    sys.stdout.write(report.rendered(columns) + "\n")


if __name__ == "__main__":
    main()
