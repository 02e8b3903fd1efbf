"""What workers do: claim users who are due, one at a time, do everything for each, and say when each is due again.

The lease saves work only. Two who work for one user at once meet the ledger, primary keys and compare-and-set, as any
two processes do; so a worker may be killed at any time, and as many may run as one likes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from langchain_tiered_memory.core.agenda import SERVED, Agenda, Claim
from langchain_tiered_memory.core.consolidation import Consolidation
from langchain_tiered_memory.core.errors import BackendUnavailable, EmbeddingError, TieredMemoryError
from langchain_tiered_memory.core.forgetting import Forgetting
from langchain_tiered_memory.core.lives import is_value, last_put, life_of
from langchain_tiered_memory.core.maintenance import Maintenance
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.reports import ConsolidationReport, MaintenanceReport, WorkReport
from langchain_tiered_memory.core.snapshots import Snapshots

logger = logging.getLogger("langchain_tiered_memory.work")

ENROLLED = "agenda_enrolled"
"""Set once everybody that stores know of has been noted: those whose items lie elsewhere than the agenda, too."""
_PAUSE = timedelta(minutes=1)
"""After the first failure; each one more doubles it."""
_LONGEST_PAUSE = timedelta(hours=1)
_POLICY_EVERY = timedelta(days=1)
"""How often the forgetting policy looks at a user of whom nothing else is due."""
_TRANSCRIPTS_EVERY = timedelta(hours=1)


class Unfinished(TieredMemoryError):
    """A step of maintenance failed; its sentence is the message."""


class Unread(TieredMemoryError):
    """Facts could not be looked for. A model that fails for one user may fail for all: it makes nobody stuck."""


class Work:
    """Works through an agenda."""

    def __init__(
        self,
        parts: Parts,
        snapshots: Snapshots,
        *,
        consolidation: Consolidation,
        maintenance: Maintenance,
        forgetting: Forgetting,
    ) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._consolidation = consolidation
        self._maintenance = maintenance
        self._forgetting = forgetting
        self._cleared: datetime | None = None

    def round(self, agenda: Agenda, *, users_at_once: int, most: int | None, stopping: threading.Event) -> WorkReport:
        """Do what is due until nothing is, or so many users were served, or `stopping` is set.

        Raises:
            BackendUnavailable: The agenda or the records did not answer.
        """
        self._prepare(agenda)
        done, lock, left = WorkReport(), threading.Lock(), most

        def turn() -> bool:
            """Take one of the turns that are left."""
            nonlocal left
            with lock:
                if stopping.is_set() or left == 0 or done.unavailable:
                    return False
                left = None if left is None else left - 1
                return True

        def work(_: int) -> None:
            nonlocal done
            while turn():
                one = self._next(agenda)
                if one is None:
                    return
                with lock:
                    done = _sum(done, one)

        if users_at_once == 1:
            work(0)
            return done
        with ThreadPoolExecutor(users_at_once, "tiered-memory-worker") as pool:
            list(pool.map(work, range(users_at_once)))
        return done

    def everybody(self) -> tuple[str, ...]:
        """Return everybody that any store knows of."""
        return self._maintenance.users()

    def _prepare(self, agenda: Agenda) -> None:
        """Note who has to be served whatever was noted when it was written, and clear what belongs to no user."""
        now, ttl = self._parts.clock(), self._parts.settings.working.transcript_ttl
        if self._parts.records.read_meta(ENROLLED) is None:
            agenda.enrol(self.everybody(), now)
            self._parts.records.write_meta(ENROLLED, now.isoformat())
        agenda.note(self._parts.records.intents(), now)
        if ttl is not None and (self._cleared is None or now - self._cleared >= _TRANSCRIPTS_EVERY):
            self._parts.transcripts.expire(now - ttl)
            self._cleared = now

    def _next(self, agenda: Agenda) -> WorkReport | None:
        """Serve the next user who is due; None when nobody is."""
        now = self._parts.clock()
        claim = agenda.claim(now, now + self._parts.settings.maintenance.lease)
        if claim is None:
            return None
        serving = SERVED.set(claim.user_id)
        try:
            report, due = self._serve(claim.user_id)
        except Exception as error:  # noqa: BLE001 - whatever one user's memories hold, the others are served
            return self._after(agenda, claim, error)
        except BaseException:
            with suppress(BackendUnavailable):
                agenda.give_back(claim, now)
            raise
        finally:
            SERVED.reset(serving)
        agenda.done(claim, due)
        return report

    def _serve(self, user_id: str) -> tuple[WorkReport, datetime | None]:
        """Do everything for a user; return what was done, and when the user is due again.

        Facts are looked for first: at the end of their lives items that were read often are promoted by that alone.
        """
        held = self._snapshots.holds(user_id)
        erased, places = self._forgetting.finish(user_id)
        for place in places:
            raise BackendUnavailable(place, "be cleared", "what was forgotten is still there")
        found = self._consolidation.run(user_id, everything=False)
        kept = self._maintenance.run(user_id, dry_run=False)
        if kept.failed:
            raise Unfinished(kept.failed[0])
        if found.failed:
            raise Unread(f"{found.failed} memories were not read for facts: the extractor failed")
        again = found.waiting or kept.placed or kept.waiting
        due = self._due(user_id, again=bool(again))
        if not held:
            self._snapshots.discard(user_id)  # the next users need the room, and this one is not about to be asked for
        return replace(_done(found, kept), erased=erased + kept.erased), due

    def _due(self, user_id: str, *, again: bool) -> datetime | None:
        """Return when a user is due if nothing more is written; None: never."""
        settings, now = self._parts.settings, self._parts.clock()
        soon = now + settings.maintenance.every
        snapshot = self._snapshots.strict(user_id)
        with snapshot.lock:
            entries = list(snapshot.entries())
        ends = [entry.expires_at for entry in entries if entry.expires_at is not None]
        ends += [end for entry in entries for end in _end_of(entry.memory)]
        ends += [now + _POLICY_EVERY] if settings.forgetting.active and entries else []
        ends += [soon] if again else []
        return max(min(ends), soon) if ends else None

    def _after(self, agenda: Agenda, claim: Claim, error: Exception) -> WorkReport:
        """Count a failure, unless it is that of a server or a model, which is no user's fault."""
        now, settings = self._parts.clock(), self._parts.settings.maintenance
        silent = tuple(self._silent(claim.user_id))
        if silent:
            logger.warning("work waits: %s did not answer", ", ".join(silent))
            with suppress(BackendUnavailable):
                agenda.give_back(claim, now)
            return WorkReport(unavailable=silent)
        said = str(error) if isinstance(error, TieredMemoryError) else type(error).__name__
        stuck = claim.attempts + 1 >= settings.attempts and not isinstance(error, Unread)
        pause = min(_PAUSE * 2 ** min(claim.attempts, 10), _LONGEST_PAUSE)
        agenda.failed(claim, said, None if stuck else now + pause)
        logger.warning("work for one user failed (%s), attempt %d", type(error).__name__, claim.attempts + 1)
        return WorkReport(failed=1, stuck=int(stuck))

    def _silent(self, user_id: str) -> Iterator[str]:
        """Ask every place something small, and name those that do not answer."""
        parts = self._parts
        asked: dict[str, Callable[[], object]] = {
            "long_term": lambda: parts.records.read_meta(ENROLLED),
            "short_term": lambda: parts.items.version(user_id),
            "transcripts": lambda: parts.transcripts.sessions(user_id),
            "embedder": lambda: parts.embedder.embed_query("one"),
        }
        if parts.index is not None:
            index = parts.index
            asked["vector_index"] = lambda: index.query(user_id, parts.embedder.embed_query("one"), 1)
        for place, ask in asked.items():
            try:
                ask()
            except (BackendUnavailable, EmbeddingError):
                yield place


def _end_of(memory: Memory) -> Iterator[datetime]:
    """Give the end of the life of a value that has one."""
    life = life_of(memory) if is_value(memory) else None
    if life is not None:
        yield max(memory.last_accessed, last_put(memory)) + life


def _done(found: ConsolidationReport, kept: MaintenanceReport) -> WorkReport:
    return WorkReport(
        users=1,
        promoted=found.promoted + kept.promoted,
        facts=found.facts,
        expired=found.expired + kept.expired,
        embedded=kept.embedded,
        indexed=kept.indexed,
    )


def _sum(one: WorkReport, other: WorkReport) -> WorkReport:
    names = ("users", "failed", "stuck", "promoted", "facts", "expired", "embedded", "indexed", "erased")
    added = {name: getattr(one, name) + getattr(other, name) for name in names}
    return replace(one, **added, unavailable=tuple(dict.fromkeys((*one.unavailable, *other.unavailable))))
