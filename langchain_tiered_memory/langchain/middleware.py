"""The memory of an agent made by `create_agent`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_tiered_memory.core import inputs as door
from langchain_tiered_memory.core.errors import InvalidInput, NotInstalled, TieredMemoryError, extra
from langchain_tiered_memory.core.model import Memory, Message, new_id
from langchain_tiered_memory.core.prompt import format_memories
from langchain_tiered_memory.faces import Session
from langchain_tiered_memory.langchain.arguments import a_memory, a_policy, a_question
from langchain_tiered_memory.langchain.failing import OnError, forgive
from langchain_tiered_memory.langchain.messages import from_langchain
from langchain_tiered_memory.langchain.running import running_thread, running_user
from langchain_tiered_memory.system import MemorySystem

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langgraph.runtime import Runtime
except ImportError as error:
    raise NotInstalled("TieredMemoryMiddleware", "LangChain's agents", extra("agents")) from error

__all__ = ["TieredMemoryMiddleware"]


class TieredMemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Tells the model what is remembered of the user, and remembers each finished turn, once.

    The user's standing preferences, whatever is asked, and what was recalled for the last message stand at the end of
    the system message of every call of the model, as quoted data; the messages of the agent's state never grow by it.
    What the user says goes into the session of its thread once the model was called for it, and the rest of the turn
    when it is finished, so another thread of the same user knows what was said in this one.
    """

    def __init__(
        self,
        memory: MemorySystem,
        user_id: str | Callable[[Runtime[Any]], str] | None = None,
        *,
        session_id: str | Callable[[Runtime[Any]], str | None] | None = None,
        agent_id: str | None = None,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,
        min_score: float | str = 0.0,
        max_tokens: int | None = 1000,
        on_error: OnError = "warn",
    ) -> None:
        """Say whose memory it is; nothing is read or written yet.

        Args:
            memory: The memory.
            user_id: Whose; or a function of the runtime that says so. None takes `user_id` of the runtime's context,
                or else of the run's `configurable`; without one the run fails with `ConfigError`.
            session_id: The conversation, or a function of the runtime that says which; None takes the thread. Each
                run without a thread is a session of its own.
            agent_id: The agent: what is said to it is remembered for it alone, and it sees that and what is shared.
            k: How many memories to recall at most.
            filter: Which memories may be recalled, as in `MemorySystem.recall`.
            min_score: The least score of what is recalled; "auto" recalls only what is relevant enough to be an answer.
            max_tokens: Most tokens of the recalled texts together; None is no limit. The standing preferences have a
                share of their own, `WorkingSettings.standing_share` of a window.
            on_error: When a store fails, "warn" logs it and lets the agent answer; a turn that was not stored is
                stored with the next one of its thread. "raise" raises.

        Raises:
            InvalidInput: An argument cannot be used.
        """
        super().__init__()
        self.tools = ()
        self._memory = a_memory(memory)
        self._user_id = door.user(user_id) if isinstance(user_id, str) else user_id or running_user
        self._session_id = running_thread if session_id is None else session_id
        if isinstance(session_id, str):
            door.label("session_id", session_id)
        self._agent_id = agent_id
        self._asked = a_question(k, agent_id=agent_id, filter=filter, min_score=min_score, max_tokens=max_tokens)
        self._standing: dict[str, Any] = {"recalled": (), "filter": filter}
        self._on_error = a_policy(on_error)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with what is remembered at the end of its system message."""
        session, question = self._session(request.runtime), self._question(request)
        notes: tuple[Memory, ...] = ()
        with self._forgiven("be read"):
            notes = tuple(self._memory.sync.recall(session.user_id, **question)) if question else ()
            notes = _first(session.sync.context(**self._standing).standing, notes)
        answer = handler(_informed(request, session, notes))
        if self._begins(request):
            self._keep(session, request.state["messages"])
        return answer

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Call the model, as `wrap_model_call` does."""
        session, question = self._session(request.runtime), self._question(request)
        notes: tuple[Memory, ...] = ()
        with self._forgiven("be read"):
            notes = tuple(await self._memory.recall(session.user_id, **question)) if question else ()
            notes = _first((await session.context(**self._standing)).standing, notes)
        answer = await handler(_informed(request, session, notes))
        if self._begins(request):
            await self._akeep(session, request.state["messages"])
        return answer

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Remember the turn that is finished now."""
        self._keep(self._session(runtime), state["messages"])

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Remember the turn, as `after_agent` does."""
        await self._akeep(self._session(runtime), state["messages"])

    def _keep(self, session: Session, messages: Sequence[AnyMessage]) -> None:
        """Add what the session does not know yet; what never can be stored keeps nothing else back."""
        with self._forgiven("store a turn"):
            fresh = _unknown(messages, session.sync.window())
            try:
                session.sync.add(*fresh)
            except InvalidInput:
                for one in fresh:
                    with self._forgiven("store a message"):
                        session.sync.add(one)

    async def _akeep(self, session: Session, messages: Sequence[AnyMessage]) -> None:
        """Add what the session does not know yet, as `_keep` does."""
        with self._forgiven("store a turn"):
            fresh = _unknown(messages, await session.window())
            try:
                await session.add(*fresh)
            except InvalidInput:
                for one in fresh:
                    with self._forgiven("store a message"):
                        await session.add(one)

    @contextmanager
    def _forgiven(self, doing: str) -> Iterator[None]:
        try:
            yield
        except TieredMemoryError as error:
            forgive(error, doing, self._on_error)

    def _begins(self, request: ModelRequest[Any]) -> bool:
        """Say whether a turn of a thread begins with this call.

        What the user said is kept then: before the turn is finished a summary may take its place, or the turn breaks
        off. A run without a thread has no session that both could go into.
        """
        messages = request.state.get("messages")
        return bool(messages) and _is_said(messages[-1]) and self._thread(request.runtime) is not None

    def _user(self, runtime: Runtime[Any]) -> str:
        return door.user(self._user_id if isinstance(self._user_id, str) else self._user_id(runtime))

    def _thread(self, runtime: Runtime[Any]) -> str | None:
        return self._session_id if isinstance(self._session_id, str) else self._session_id(runtime)

    def _session(self, runtime: Runtime[Any]) -> Session:
        thread = self._thread(runtime) or new_id()
        return self._memory.session(self._user(runtime), thread, agent_id=self._agent_id)

    def _question(self, request: ModelRequest[Any]) -> dict[str, Any] | None:
        """Return what to recall, or None when nothing was said in words. Only a turn's first call counts as a read."""
        asked = [place for place, message in enumerate(request.messages) if _is_said(message)]
        text = request.messages[asked[-1]].text if asked else ""
        if not text.strip():
            return None
        first = not any(isinstance(message, AIMessage) for message in request.messages[asked[-1] :])
        return {"query": text, "session_id": self._thread(request.runtime), "touch": first, **self._asked}


def _first(standing: Iterable[Memory], hits: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return the standing preferences, then what was recalled beside them."""
    found = {one.id: one for one in (*standing, *hits)}
    return tuple(found.values())


def _informed(request: ModelRequest[Any], session: Session, notes: Iterable[Memory]) -> ModelRequest[Any]:
    """Return the request with the memories, but for those that are messages it shows anyway."""
    shown = {message.id: message for message in request.messages}
    block = format_memories([one for one in notes if not _is(one, shown.get(one.id), session)])
    if not block:
        return request
    system = request.system_message or SystemMessage("")
    if isinstance(system.content, str):
        content: str | list[Any] = f"{system.content}\n\n{block}" if system.content else block
    else:
        content = [*system.content, {"type": "text", "text": block}]
    return request.override(system_message=system.model_copy(update={"content": content}))


def _is(memory: Memory, message: AnyMessage | None, session: Session) -> bool:
    """Say whether a memory is this message of the same id; another session may use the same ids."""
    if message is None:
        return False
    return memory.session_id == session.session_id or memory.content == from_langchain(message)[0].text


def _unknown(messages: Sequence[AnyMessage], known: Iterable[Message]) -> tuple[Message, ...]:
    """Return what the session does not know yet: what follows the last message it knows.

    If it knows none of them (its first turn, or a caller that keeps the conversation and gives it without ids), that
    is the last turn: what was said since the model spoke before, and what follows.
    """
    ids = {message.id for message in known}
    start = max((place for place, message in enumerate(messages, 1) if message.id in ids), default=None)
    if start is None:
        said = max((place for place, message in enumerate(messages) if _is_said(message)), default=0)
        answers = [place for place, message in enumerate(messages[:said], 1) if not _is_input(message)]
        start = max(answers, default=0)
    fresh = [message for message in messages[start:] if not _is_summary(message)]
    return from_langchain(*cast("list[BaseMessage]", fresh))


def _is_input(message: BaseMessage) -> bool:
    return isinstance(message, (HumanMessage, SystemMessage))


def _is_said(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not _is_summary(message)


def _is_summary(message: BaseMessage) -> bool:
    """Say whether a message was not said but made: LangChain's summaries of what it removed."""
    return message.additional_kwargs.get("lc_source") == "summarization"
