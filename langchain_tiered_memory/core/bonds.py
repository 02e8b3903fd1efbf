"""What ties memories to each other, and which can go without taking others along. Pure; stores call it too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from langchain_tiered_memory.core.entries import FROM_CONSOLIDATION
from langchain_tiered_memory.core.joins import is_joined
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.stated import founding


class Bond(Protocol):
    """What a memory rests on and what took its place."""

    @property
    def origin(self) -> str | None:
        """Where it came from."""

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The memories it rests on."""

    @property
    def founding(self) -> tuple[str, ...]:
        """Those of them that it cannot do without (`core.stated.founding`)."""

    @property
    def superseded_by(self) -> str | None:
        """The memory that took its place."""

    @property
    def joined(self) -> bool:
        """Whether it became part of that one, which says the same (`core.joins.is_joined`)."""


@dataclass(frozen=True, slots=True)
class Bonded:
    """The bond of a memory that is at hand; see `Bond`."""

    origin: str | None
    source_ids: tuple[str, ...]
    founding: tuple[str, ...]
    superseded_by: str | None
    joined: bool = False


def bond_of(memory: Memory) -> Bonded:
    """Return the bond of a memory."""
    return Bonded(memory.origin, memory.source_ids, founding(memory), memory.superseded_by, is_joined(memory))


def grounds(bonds: Mapping[str, Bond]) -> dict[str, tuple[str, ...]]:
    """Return what each memory that consolidation drew cannot do without; of one that rests on nothing there is none.

    What a part of it tells as well (`core.joins`) is not needed, and alone it is not enough: once the memory has gone,
    the part stands for itself again, in its own words.
    """
    lent = defaultdict[str, set[str]](set)
    for memory_id, bond in bonds.items():
        if bond.joined and bond.superseded_by is not None:
            own = () if bond.origin == FROM_CONSOLIDATION else (memory_id,)
            lent[bond.superseded_by].update(bond.source_ids, own)
    found = dict[str, tuple[str, ...]]()
    for memory_id, bond in bonds.items():
        if bond.origin == FROM_CONSOLIDATION and bond.source_ids:
            needed = bond.founding or bond.source_ids
            alone = tuple(one for one in needed if one not in lent[memory_id]) if memory_id in lent else needed
            found[memory_id] = alone or needed
    return found


def falling(bonds: Mapping[str, Bond], asked: Collection[str]) -> tuple[str, ...]:
    """Return the consolidated memories that cannot do without what is asked for, and those that need these, repeatedly.

    Args:
        bonds: Every memory of the user that rests on others or is superseded, by id; more do no harm.
        asked: The ids that go.
    """
    needs, gone, derived = grounds(bonds), set(asked), list[str]()
    while True:
        found = [one for one, needed in needs.items() if one not in gone and gone.issuperset(needed)]
        if not found:
            return tuple(derived)
        gone.update(found)
        derived += found


def may_go(asked: Collection[str], bonds: Mapping[str, Bond]) -> frozenset[str]:
    """Return those of the ids that can be forgotten without a consequence for any memory that is not among them.

    A memory stays while another one that stays was superseded by it, which would hold again; and the sources of a
    consolidated memory that stays do so too, if none of them did otherwise. Sources that only confirmed it are not
    needed.

    Args:
        asked: The ids.
        bonds: Every memory of the user that rests on others or is superseded, by id; more do no harm.
    """
    left, needs = set(asked), grounds(bonds)
    while True:
        held = set[str]()
        for memory_id, bond in bonds.items():
            if memory_id in left:
                continue
            if bond.superseded_by in left:
                _hold_chain(bond.superseded_by or "", bonds, left, held)
            if memory_id in needs and left.issuperset(needs[memory_id]):
                held.update(needs[memory_id])
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
