"""The rooms of one open system, built upon each other in the order in which they may be used."""

from __future__ import annotations

from langchain_tiered_memory.core.admission import Admission
from langchain_tiered_memory.core.background import Background
from langchain_tiered_memory.core.consolidation import Consolidation
from langchain_tiered_memory.core.context import Contexts
from langchain_tiered_memory.core.fading import Fading
from langchain_tiered_memory.core.forgetting import Forgetting
from langchain_tiered_memory.core.indexing import Indexing
from langchain_tiered_memory.core.maintenance import Maintenance
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.reading import Reading
from langchain_tiered_memory.core.recall import Recall
from langchain_tiered_memory.core.search import Search
from langchain_tiered_memory.core.sessions import Sessions
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.standing import Standing
from langchain_tiered_memory.core.summaries import Summaries
from langchain_tiered_memory.core.transfer import Transfer
from langchain_tiered_memory.core.updating import Updating
from langchain_tiered_memory.core.work import Work
from langchain_tiered_memory.core.writing import Writing


class Rooms:
    """Everything that works on one set of open parts."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.snapshots = Snapshots(parts)
        self.indexing = Indexing(parts, self.snapshots)
        self.admission = Admission(parts, self.snapshots)
        self.writing = Writing(parts)
        self.sessions = Sessions(parts, self.snapshots, self.admission, self.writing)
        self.recall = Recall(parts, self.snapshots, Search(parts, self.snapshots, self.indexing), self.sessions.seen)
        self.summaries = Summaries(parts, self.sessions)
        standing = Standing(parts, self.snapshots)
        self.contexts = Contexts(parts, self.sessions, self.recall, standing, self.summaries)
        self.consolidation = Consolidation(parts, self.snapshots, self.admission)
        self.forgetting = Forgetting(parts, self.snapshots, self.indexing, self.summaries)
        self.maintenance = Maintenance(
            parts,
            self.snapshots,
            sessions=self.sessions,
            consolidation=self.consolidation,
            indexing=self.indexing,
            forgetting=self.forgetting,
            fading=Fading(parts, self.snapshots, self.forgetting),
            summaries=self.summaries,
        )
        self.reading = Reading(parts, self.snapshots)
        self.updating = Updating(parts, self.snapshots, self.admission, self.reading)
        self.transfer = Transfer(parts, self.snapshots, self.admission)
        self.work = Work(
            parts,
            self.snapshots,
            consolidation=self.consolidation,
            maintenance=self.maintenance,
            forgetting=self.forgetting,
        )
        self.background = Background(parts, self.maintenance, self.indexing)
