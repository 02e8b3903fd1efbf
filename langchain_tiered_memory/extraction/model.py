"""A language model as an extractor: asked in batches and within limits, and believed only what its sources bear out.

Whatever fails, nothing is lost: sources without a usable answer stay as they are and are asked about the next time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from langchain_tiered_memory.core.config import ExtractionSettings
from langchain_tiered_memory.core.errors import ExtractionError
from langchain_tiered_memory.core.extracting import Extraction, Known
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.core.slots import chain_key
from langchain_tiered_memory.extraction.models import Model, as_model
from langchain_tiered_memory.extraction.questions import MOST_KNOWN, Notes, Question, questions

if TYPE_CHECKING:
    from langchain_tiered_memory.extraction.answers import Fact

logger = logging.getLogger("langchain_tiered_memory.extraction")

PROMPT = "prompt_v2.md"
"""The prompt in use; a changed one is a file with a new number."""

_TRIES = 2
_MOST_IN_A_ROW = 3
"""After so many questions without a usable answer a run asks no more: the model is down, or not up to it."""
_MOST_FACTS = 20
"""Facts per memory; more are no answer but a model that cannot stop."""


@cache
def prompt(name: str) -> str:
    """Return a prompt of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def roughly(text: str) -> int:
    """Return about how many tokens a text has; for most texts a little too many."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


class ModelExtractor:
    """A `FactExtractor` that asks a language model; what `MemorySystem(llm=…)` uses.

    Facts are kept when they name memories that were asked about, share a word that matters with them, and rest on
    something that a person said. A slot is kept when one person alone speaks of it, and named as the rules name it, or
    as it is known. A value is kept when it was said, or is known. May be shared between threads if the model may.
    """

    def __init__(
        self, llm: Any, *, settings: ExtractionSettings | None = None, count: Callable[[str], int] = roughly
    ) -> None:
        """Take a model.

        Args:
            llm: A LangChain chat model, a LlamaIndex LLM, or a function from a prompt to an answer.
            settings: How much may be asked at once and in one run.
            count: Counts the tokens of a text, where the model does not say what it took.

        Raises:
            ConfigError: `llm` is none of these, or answers only to `await`.
        """
        self._model = as_model(llm)
        self._settings = settings or ExtractionSettings()
        self._count = count
        self._notes = Notes()

    def extract(self, memories: Sequence[Memory]) -> tuple[ExtractedFact, ...]:
        """See `FactExtractor.extract`; one call is one run.

        Raises:
            ExtractionError: The facts of some memories could not be found.
        """
        found = self.begin().extract(memories)
        if found.failed or found.waiting:
            raise ExtractionError(f"the facts of {len(found.failed | found.waiting)} memories could not be found")
        return found.facts

    def begin(self) -> ModelRun:
        """Begin a run: one consolidation's questions, counted and within limits."""
        return self.begin_informed(lambda _: ())

    def begin_informed(self, known: Known) -> ModelRun:
        """Begin a run that shows the model what is known already."""
        return ModelRun(self._model, self._settings, self._count, self._notes, known)


class ModelRun:
    """An `ExtractionRun` that asks a model."""

    def __init__(
        self, model: Model, settings: ExtractionSettings, count: Callable[[str], int], notes: Notes, known: Known
    ) -> None:
        self._model = model
        self._known = known
        self._settings = settings
        self._count = count
        self._notes = notes
        self._over = False
        self._in_a_row = 0
        self.calls = 0
        """Questions asked so far."""
        self.tokens = 0
        """Tokens of questions and answers so far."""

    @property
    def spent(self) -> bool:
        """Whether it asks no more."""
        return self._over or self.calls >= self._settings.max_calls or self._in_a_row >= _MOST_IN_A_ROW

    def extract(self, memories: Sequence[Memory]) -> Extraction:
        """See `ExtractionRun.extract`."""
        from langchain_tiered_memory.extraction.believing import as_known

        facts: list[ExtractedFact] = []
        failed: set[str] = set()
        waiting: set[str] = set()
        known: list[Memory] = []
        for bare in questions(memories, self._notes, self._settings, self._count):
            question = bare if self.spent else self._informed(bare, known)
            cost = 0 if self.spent else self._cost(question)
            self._over = self._over or self.tokens + cost > self._settings.max_tokens
            if self.spent:
                waiting |= question.ids
                continue
            try:
                found = self._answered(question, cost)
            except ExtractionError as error:
                logger.warning("%d sources are left for the next run: %s", len(question.memories), error)
                failed |= question.ids
                self._in_a_row += 1
                self._notes.failed(question.memories)
            else:
                facts += found
                known += filter(None, (as_known(fact, question.memories) for fact in found))
                self._in_a_row = 0
                self._notes.answered(question.memories)
        place = {memory.id: n for n, memory in enumerate(memories)}
        ordered = sorted(facts, key=lambda fact: min(place[one] for one in fact.source_ids))
        return Extraction(tuple(ordered), frozenset(failed), frozenset(waiting))

    def _informed(self, question: Question, found: Sequence[Memory]) -> Question:
        """Return a question with what is known: what was found just now, the latest first, and what is stored."""
        seen: dict[tuple[str, str, str] | None, Memory] = {}
        for one in (*reversed(found[-MOST_KNOWN // 2 :]), *self._known(question.memories)):
            seen.setdefault(chain_key(one), one)
        return question.told([*seen.values()], self._count)

    def _cost(self, question: Question) -> int:
        return self._count(prompt(PROMPT)) + self._count(question.data)

    def _answered(self, question: Question, cost: int) -> Sequence[ExtractedFact]:
        """Ask a question, once more if the answer cannot be used, and return the facts that may be believed.

        Raises:
            ExtractionError: The model failed, or gave no usable answer twice.
        """
        from langchain_tiered_memory.extraction.believing import believed

        for _ in range(_TRIES):
            if self.spent or self.tokens + cost > self._settings.max_tokens:
                break
            found = self._asked(question, cost)
            if found is not None:
                return [*believed(found, question)]
        raise ExtractionError("the model's answers could not be used")

    def _asked(self, question: Question, cost: int) -> Sequence[Fact] | None:
        """Ask a question and return the statements of the answer; None when it cannot be used.

        Raises:
            ExtractionError: The model failed.
        """
        from langchain_tiered_memory.extraction.answers import Facts, read_facts

        self.calls += 1
        spent = cost
        try:
            reply = self._model.structured(prompt(PROMPT), question.data, Facts)
            spent = cost + self._count(reply.text) if reply.tokens is None else reply.tokens
            found = read_facts(reply.value).facts
        except ExtractionError:
            raise
        except (ValueError, TypeError):  # what the frameworks and pydantic raise for an answer of another shape
            return None
        except Exception as error:  # its own words may hold the text, so only its kind is told
            raise ExtractionError(f"the model failed with {type(error).__name__}") from error
        finally:
            self.tokens += spent
        return found if len(found) <= _MOST_FACTS * len(question.memories) else None
