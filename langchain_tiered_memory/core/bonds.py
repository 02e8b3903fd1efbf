"""What ties memories to each other, and which can go without taking others along. Pure; stores call it too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from langchain_tiered_memory.core.entries import FROM_CONSOLIDATION
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.stated import founding


class Bond(Protocol):
    """What a memory rests on and what took its place."""

    @property
    def origin(self) -> str | None:
        """Where it came from."""

    @property
    def founding(self) -> tuple[str, ...]:
        """The memories that it cannot do without (`core.stated.founding`)."""

    @property
    def superseded_by(self) -> str | None:
        """The memory that took its place."""


@dataclass(frozen=True, slots=True)
class Bonded:
    """The bond of a memory that is at hand; see `Bond`."""

    origin: str | None
    founding: tuple[str, ...]
    superseded_by: str | None


def bond_of(memory: Memory) -> Bonded:
    """Return the bond of a memory."""
    return Bonded(memory.origin, founding(memory), memory.superseded_by)


def may_go(asked: Collection[str], bonds: Mapping[str, Bond]) -> frozenset[str]:
    """Return those of the ids that can be forgotten without a consequence for any memory that is not among them.

    A memory stays while another one that stays was superseded by it, which would hold again; and the sources of a
    consolidated memory that stays do so too, if none of them did otherwise. Sources that only confirmed it are not
    needed.

    Args:
        asked: The ids.
        bonds: Every memory of the user that rests on others or is superseded, by id; more do no harm.
    """
    left = set(asked)
    while True:
        held = set[str]()
        for memory_id, bond in bonds.items():
            if memory_id in left:
                continue
            if bond.superseded_by in left:
                _hold_chain(bond.superseded_by or "", bonds, left, held)
            if bond.origin == FROM_CONSOLIDATION and bond.founding and left.issuperset(bond.founding):
                held.update(bond.founding)
        if not held:
            return frozenset(left)
        left -= held


def _hold_chain(memory_id: str, bonds: Mapping[str, Bond], left: Collection[str], held: set[str]) -> None:
    """Hold a memory and those that superseded it, one after the other."""
    following: str | None = memory_id
    while following is not None and following in left and following not in held:
        held.add(following)
        bond = bonds.get(following)
        following = None if bond is None else bond.superseded_by
