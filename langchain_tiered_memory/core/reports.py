"""What the larger operations report back. Numbers are counts unless a field says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_tiered_memory.core.agenda import StuckUser
from langchain_tiered_memory.core.model import Signal
from langchain_tiered_memory.core.shown import Shown


@dataclass(frozen=True, slots=True)
class Explanation(Shown):
    """Why a memory is, or is not, recalled for a query.

    Attributes:
        memory_id: The memory asked about.
        recalled: Whether the recall returns it among its k.
        rank: Its place among all that may be returned, 1 is best; None when it may not be returned at all.
        score: Its score; None when it may not be returned.
        signals: The parts of the score.
        reason: The same in a sentence.
    """

    memory_id: str
    recalled: bool
    rank: int | None
    score: float | None
    signals: Mapping[str, Signal]
    reason: str


@dataclass(frozen=True, slots=True)
class ConsolidationReport(Shown):
    """What one `consolidate` did.

    Attributes:
        promoted: Short-term items that moved to long-term memory.
        merged: Statements that reinforced a memory already there instead of adding one.
        superseded: Memories that a newer value of the same slot retired.
        expired: Short-term items past their life that were let go.
        kept: Short-term items that stay where they are.
        failed: Sources whose facts could not be extracted; they are left as they were and tried again next time.
        facts: Facts that were added.
        waiting: Sources that a language model was not asked about, because this run had spent what it may, or the
            model kept failing; they are left as they were and have their turn next time.
        model_calls: Questions put to a language model, those repeated for an unusable answer included; 0 with rules.
        model_tokens: Tokens of these questions and their answers: as the model tells, else as counted here.
    """

    promoted: int = 0
    merged: int = 0
    superseded: int = 0
    expired: int = 0
    kept: int = 0
    failed: int = 0
    facts: int = 0
    waiting: int = 0
    model_calls: int = 0
    model_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A memory that the forgetting policy let go, or with `dry_run` would.

    Attributes:
        user_id: Whose it is.
        id: Its id.
        rule: The rule's name, or its conditions in words; "most_per_user" for the cap.
        reason: What holds of it, in words.
    """

    user_id: str
    id: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class MaintenanceReport(Shown):
    """What one `maintain` did, or with `dry_run` would do.

    Attributes:
        promoted: Expired items important enough, or pinned, that moved to long-term memory.
        expired: Expired items that were let go.
        placed: Messages of a transcript that had not yet been placed as episodes.
        embedded: Passages that got the vector they were waiting for.
        indexed: Vectors that reached the vector index.
        unindexed: Vectors that left it.
        erased: Interrupted erasures of whole users that were finished.
        forgotten: Long-term memories that the forgetting policy let go.
        waiting: Those that it would let go too, and leaves to the next run.
        chosen: Which were forgotten, and why; of each user those of least worth first.
        summaries: Times that a session's summary was brought forward; always 0 with `dry_run`.
        model_calls: Questions put to a language model for them.
        failed: What could not be done now and stays due, as sentences.
        dry_run: Whether nothing was changed.
    """

    promoted: int = 0
    expired: int = 0
    placed: int = 0
    embedded: int = 0
    indexed: int = 0
    unindexed: int = 0
    erased: int = 0
    forgotten: int = 0
    waiting: int = 0
    chosen: tuple[PolicyChoice, ...] = ()
    summaries: int = 0
    model_calls: int = 0
    failed: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class WorkReport(Shown):
    """What one round of work did.

    Attributes:
        users: Users for whom everything that was due is done.
        failed: Users with whom something failed; they are tried again later, each time after a longer pause.
        stuck: Those of them that failed so often that nobody tries again before being told to.
        promoted: Items that moved to long-term memory.
        facts: Facts that were found.
        expired: Items past their life that were let go.
        embedded: Passages that got the vector they were waiting for.
        indexed: Vectors that reached the vector index.
        erased: Interrupted erasures of whole users that were finished.
        unavailable: Places that did not answer, which ended the round early; nobody's failures are counted for that.
    """

    users: int = 0
    failed: int = 0
    stuck: int = 0
    promoted: int = 0
    facts: int = 0
    expired: int = 0
    embedded: int = 0
    indexed: int = 0
    erased: int = 0
    unavailable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReindexReport(Shown):
    """What one `reindex` did.

    Attributes:
        embedded: Passages embedded anew because their vector came from another model or was missing.
        indexed: Vectors written to the vector index.
        failed: What could not be done, as sentences; calling again goes on from there.
    """

    embedded: int = 0
    indexed: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status(Shown):
    """What is stored, and how it is served.

    Attributes:
        users: Users with anything stored.
        short_term: Items in short-term memory, expired ones not yet counted included.
        long_term: Records in long-term memory, superseded ones included.
        superseded: Those of them that are no longer current.
        messages: Messages in transcripts.
        pending: Passages that wait for a vector.
        unindexed: Vectors that wait for the vector index.
        erasures: Interrupted erasures of whole users.
        search: Which path answers a recall: "exact" or the vector index's name.
        model: The embedding model of the store; None while nothing is embedded.
        backends: Room to what serves it, passwords left out.
        due_users: Users there is something to do for now. `ltm worker` does it all; without one, each process does the
            part of `maintain` for those it serves.
        oldest_due_user_s: Since how many seconds the first of them waits; None when there is none.
        stuck_users: Users that failed so often that no worker tries again before `ltm worker --retry`.
        stuck: The first of them, with what happened last.
        oldest_due_s: Age in seconds of the oldest item past its life and not yet counted; None when there is none.
        incidents: What went wrong on servers since this system was opened, as this process noticed it, by name:
            `redis_unavailable` (questions without an answer), `redis_not_asked` (those that were not put for a while
            after that), `redis_items_lost` (evicted, or let go before they were counted), `redis_users_lost` (whose
            whole short-term memory was evicted), `redis_emptied` (flushed, or restarted without its data), and
            the first two of `chroma` and `postgres`.
    """

    users: int = 0
    short_term: int = 0
    long_term: int = 0
    superseded: int = 0
    messages: int = 0
    pending: int = 0
    unindexed: int = 0
    erasures: int = 0
    search: str = "exact"
    model: str | None = None
    backends: Mapping[str, str] = field(default_factory=dict)
    due_users: int = 0
    oldest_due_user_s: float | None = None
    stuck_users: int = 0
    stuck: tuple[StuckUser, ...] = ()
    oldest_due_s: float | None = None
    incidents: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForgetReceipt(Shown):
    """What a `forget` removed, counted per place.

    Attributes:
        short_term: Items removed from short-term memory.
        long_term: Records removed from long-term memory.
        derived: Records among them that rested on nothing else.
        messages: Messages removed from transcripts.
        vectors: Vectors removed from SQL; the index follows.
        pending: Places that could not be reached and will be cleared by `maintain`.
    """

    short_term: int = 0
    long_term: int = 0
    derived: int = 0
    messages: int = 0
    vectors: int = 0
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TransferReport(Shown):
    """What an export or an import moved.

    Attributes:
        memories: Memories written or added.
        messages: Messages written or added.
        merged: Those that were there already.
        skipped: Those the user had forgotten; an import never revives them.
    """

    memories: int = 0
    messages: int = 0
    merged: int = 0
    skipped: int = 0
