"""The calls of a memory system: the specification that the engine fills, and that its asynchronous face repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeVar

from langchain_tiered_memory.core.chat import SyncSession
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.core.model import HistoryEvent, Memory, NewMemory, RecallResult
from langchain_tiered_memory.core.reports import (
    ConsolidationReport,
    Explanation,
    ForgetReceipt,
    MaintenanceReport,
    ReindexReport,
    Status,
    TransferReport,
)

UNCHANGED: Any = type("Unchanged", (), {"__repr__": lambda _: "UNCHANGED"})()
"""Default of `update`: leave this as it is."""

Documented = TypeVar("Documented", bound=type)


def documented_by(specification: type) -> Callable[[Documented], Documented]:
    """Give a class's methods the docstrings of the methods of the same name in its specification."""

    def document(one: Documented) -> Documented:
        for name, method in vars(one).items():
            said = getattr(getattr(specification, name, None), "__doc__", None)
            if callable(method) and not name.startswith("_") and not method.__doc__:
                method.__doc__ = said
        return one

    return document


class SyncMemory(Protocol):
    """A memory system, blocking: `memory.sync`."""

    def remember(
        self,
        user_id: str,
        content: str,
        memory_type: str = "episode",
        *,
        importance: float | None = None,
        tier: str | None = None,
        slot: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        role: str | None = None,
        name: str | None = None,
        observed_at: datetime | None = None,
        origin: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool = False,
        id: str | None = None,
    ) -> Memory:
        """Remember one thing and return it as it now stands in its tier.

        Acknowledged when its row is written. Idempotent by `id`; without one, saying the same again gives the same
        memory: facts and preferences by their normalised content (their sources grow), episodes with an
        `observed_at` by that instant, other episodes within 60 seconds. If the embedder fails the memory is stored
        all the same, found by keyword at once and embedded later.

        Args:
            user_id: Whose memory it is, used exactly as given.
            content: The text, at most 16 MB, not blank.
            memory_type: "fact", "episode" or "preference".
            importance: In [0, 1]; None asks the scorer. Above 0.8 it goes to long-term memory, else to short-term.
            tier: "short_term" or "long_term" puts it there whatever its importance.
            slot: The single-valued attribute it states ("employer"): a newer value supersedes the older. Long-term.
            session_id: The conversation it comes from.
            agent_id: The agent that alone may see it; None shares it among all of the user's agents.
            role: Who said it: "user", "assistant", ….
            name: The speaker's name.
            observed_at: When it was said or became true; default now. A naive datetime is read as local time.
            origin: Where it came from; default "remember".
            metadata: Anything JSON can hold.
            pinned: Never let go at expiry.
            id: An id of your own, at most 512 characters.

        Raises:
            InvalidInput: An argument cannot be used; nothing was written.
            Conflict: The id exists with another content, or was forgotten; nothing was written.
            BackendUnavailable: The store did not take it.
        """

    def remember_many(self, user_id: str, items: Iterable[NewMemory]) -> tuple[Memory, ...]:
        """Remember many things at once, one memory per item, in order; far cheaper than one by one.

        All arguments are checked and embedded before anything is written. The long-term ones are one transaction, the
        short-term ones another; if the second fails, repeating the call doubles nothing that has an id or an
        `observed_at`.

        Raises:
            InvalidInput: An item cannot be used; the field names its position; nothing was written.
            Conflict: As in `remember`.
            BackendUnavailable: A store did not take its part.
        """

    def update(
        self,
        user_id: str,
        id: str,
        *,
        content: str = UNCHANGED,
        importance: float = UNCHANGED,
        pinned: bool = UNCHANGED,
        metadata: Mapping[str, Any] | None = UNCHANGED,
    ) -> Memory:
        """Change a memory where it stands, and return it; what is not given stays as it is.

        Raises:
            NotFound: The user has no such memory.
            InvalidInput: A value cannot be used; nothing was changed.
        """

    def recall(
        self,
        user_id: str,
        query: str,
        k: int = 5,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        neighbors: int = 0,
        min_score: float | str = 0.0,
        max_tokens: int | None = None,
        weights: RankingWeights | None = None,
        touch: bool = True,
    ) -> RecallResult:
        """Search both stored tiers and return the best k memories, best first, with score and explanation.

        The access is counted once per call in the tier that owns each hit, and the hits show it. A tier that cannot
        be read is named in `failed`; the other one answers. Equal scores: the newer, then the later written.

        Args:
            user_id: Whose memories.
            query: What to look for, in words. A blank one asks for nothing in particular and counts no access.
            k: How many, at least 1.
            session_id: The current session: its window helps a bare query and is not returned again.
            agent_id: Leaves this agent's memories and the shared ones; None all of the user's.
            memory_types: Leaves these types.
            filter: `{field: value}` or `{field: {"$gte": value}}`, with `$and $or $not`, over fields and `metadata.*`.
            as_of: What was true then.
            known_at: What was known then.
            include_superseded: Also what a newer value has superseded.
            neighbors: So many turns before and after each hit in its session are added behind the hits.
            min_score: Least score in [0, 1]; "auto" takes only what is relevant enough to be an answer.
            max_tokens: Most tokens of the hits' texts together.
            weights: Another recipe for this call.
            touch: Whether to count the access.

        Raises:
            InvalidInput: An argument cannot be used.
            ModelMismatch: The store was embedded by another model.
        """

    def explain(
        self,
        user_id: str,
        query: str,
        memory_id: str,
        *,
        k: int = 5,
        session_id: str | None = None,
        agent_id: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        min_score: float | str = 0.0,
        weights: RankingWeights | None = None,
    ) -> Explanation:
        """Say why a memory is, or is not, recalled; the arguments are those of `recall`. Counts no access.

        Raises:
            NotFound: The user has no such memory.
            InvalidInput: An argument cannot be used.
        """

    def get(self, user_id: str, id: str) -> Memory:
        """Return one memory. No access is counted.

        Raises:
            NotFound: The user has no such memory.
        """

    def list(
        self,
        user_id: str,
        *,
        tier: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        include_superseded: bool = False,
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[Memory, ...]:
        """Return memories, the latest written first; expired items are not among them. No access is counted.

        Args:
            user_id: Whose memories.
            tier: Leaves one tier.
            memory_types: Leaves these types.
            filter: As in `recall`.
            include_superseded: Also what a newer value has superseded.
            limit: At most so many.
            after: The id of the last memory of the page before.

        Raises:
            NotFound: `after` is not a memory of this user.
        """

    def history(self, user_id: str, id: str) -> tuple[HistoryEvent, ...]:
        """Return what happened to a memory, oldest first; of a forgotten one only when and that it was.

        Raises:
            NotFound: The user never had such a memory.
        """

    def consolidate(self, user_id: str, *, everything: bool = False) -> ConsolidationReport:
        """Turn short-term items that earned it into long-term records, and add the facts that episodes state.

        Taken are items read three times or more, items past their life (of those, importance of at least 0.5 or
        pinned; the rest is let go), and long-term episodes that have not given their facts yet. With `everything`,
        every short-term item. A second call does nothing; a crash or a second worker doubles nothing.

        Facts are found by rules, or by the `extractor` or `llm` that the system was given. A model is asked as much
        as `Settings.extraction` allows, and the report says what it took; what it fails at, and what is left when the
        allowance is spent, stays as it is for the next call.
        """

    def maintain(
        self, user_id: str | None = None, *, compact: bool = False, dry_run: bool = False
    ) -> MaintenanceReport:
        """Do what is due and finish what was interrupted, for one user or for all.

        Places messages, promotes or lets go what is past its life, embeds what waits, brings the vector index up to
        date, finishes erasures, and sums up what left the windows of sessions, where the settings ask for summaries.
        What fails is named in the report and stays due.

        Long-term memories are forgotten by `Settings.forgetting` alone, which by default lets nothing go; the report
        names them with the reason. They go as by `forget`, for good, so nothing brings the same memory back: neither
        consolidation nor an import. What is recalled while it is about to go stays, until another run.

        Args:
            user_id: Whose; None for all users.
            compact: Also give freed space back where a store can.
            dry_run: Change nothing; say what would be promoted, let go and forgotten.
        """

    def reindex(self, user_id: str | None = None) -> ReindexReport:
        """Embed everything that lacks a vector of the model in use, and write the vector index anew.

        The way to another embedding model: open the store with it and call this. Interrupted, the next call goes on.
        Over all users, a complete run makes the model in use the store's own.
        """

    def status(self, user_id: str | None = None) -> Status:
        """Say what is stored and how it is served, for one user or for all."""

    def forget(self, user_id: str, *ids: str) -> ForgetReceipt:
        """Forget memories for good: also what rested on them alone. Neither consolidation nor an import revives them.

        The transcript of a session is another thing: a message stays in it until the session is cleared.

        Raises:
            NotFound: The user has no such memory; nothing was forgotten.
        """

    def forget_user(self, user_id: str) -> ForgetReceipt:
        """Erase everything of a user from every place; an unknown user gives zeros.

        A place that does not answer is named in `pending`, and `maintain` clears it later.
        """

    def export_user(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        """Write all memories and transcripts of a user as JSON Lines to a path or an open text file.

        A path appears only when it is complete.
        """

    def import_user(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        """Merge an export into a user, by id. Memories go to long-term memory; what was forgotten stays so.

        Raises:
            InvalidInput: The file is none, or a line is not one of an export; nothing was imported.
            BackendUnavailable: The store did not take it all; importing again doubles nothing.
        """

    def session(
        self, user_id: str, session_id: str, *, agent_id: str | None = None, max_tokens: int | None = None
    ) -> SyncSession:
        """Return a session of a user; nothing is read or written yet.

        Args:
            user_id: Whose.
            session_id: Which; any label of yours.
            agent_id: The agent that speaks in it; its episodes are then the agent's own.
            max_tokens: Budget of windows and contexts, by default the settings' 4000.
        """

    def open(self) -> None:
        """Open the stores now instead of at the first call."""

    def close(self) -> None:
        """Finish the background work and close what was opened for this system. Twice is fine; a call opens anew."""
