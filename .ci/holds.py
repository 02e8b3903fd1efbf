"""Fail if a wheel or a source distribution lacks a file that it should hold, or holds another one.

Call it as `holds.py FOLDER` from a checkout: the folder holds one wheel and one source distribution of it. What belongs
into them is what git does not ignore. Where there is no git, there is nothing to compare with.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

PACKAGES = ("langchain_tiered_memory", "llamaindex_adapter")
SOURCE = (*PACKAGES, "tests", "notebooks", "docs", ".deploy", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml")
MADE = {"PKG-INFO", ".gitignore"}
"""What the builder adds to a source distribution by itself."""


def wanted_of(*tops: str) -> set[str]:
    """Return what git does not ignore below these, as paths from the root."""
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run([*listing, "--", *tops], check=True, capture_output=True, text=True).stdout.split("\0")
    return {name for name in names if name and Path(name).exists()}


def in_wheel(file: Path) -> set[str]:
    """Return what a wheel installs, without the papers about it."""
    with zipfile.ZipFile(file) as wheel:
        return {name for name in wheel.namelist() if ".dist-info/" not in name}


def in_source(file: Path) -> set[str]:
    """Return what a source distribution unpacks, below its one folder, without what the builder adds."""
    with tarfile.open(file) as source:
        names = [PurePosixPath(one.name) for one in source.getmembers() if one.isfile()]
    return {str(name.relative_to(name.parts[0])) for name in names} - MADE


def compare(title: str, held: set[str], wanted: set[str]) -> bool:
    """Print how a distribution differs from what it should hold, and return whether it does not."""
    data = sum(not name.endswith(".py") for name in held)
    print(f"{title}: {len(held)} files, {data} of them not Python")
    for name in sorted(wanted - held):
        print(f"  lacks {name}")
    for name in sorted(held - wanted):
        print(f"  should not hold {name}")
    return held == wanted


def main(folder: Path) -> int:
    """Compare both distributions; 0 if they are right."""
    if not Path(".git").exists():
        print("no checkout: what the distributions hold is not compared")
        return 0
    (wheel,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    right = [
        compare("the wheel", in_wheel(wheel), wanted_of(*PACKAGES)),
        compare("the source distribution", in_source(source), wanted_of(*SOURCE)),
    ]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
