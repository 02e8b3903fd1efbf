"""ChatGPT's `conversations.json`: a list of conversations, each a tree of messages.

A message that was edited, or answered anew, has several children; `current_node` is the end of the branch that was
read last, and `parent` leads from there to the beginning. Some exports leave out `children`, so they are not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.model import NewMemory
from langchain_tiered_memory.importers.found import Found, Options, Skipped, Tell
from langchain_tiered_memory.importers.making import EMPTY, ODD, Maker, mapping, role_of, text_of

ELSEWHERE = "it is on a branch that was left, by an edit or another answer"
HIDDEN = "it was never shown"
CALL = "it is a call of a tool"
NO_TEXT = "it is no text: a picture, a file, a thought"
_SAID = frozenset({"text", "multimodal_text", "code"})
_THOUGHT = frozenset(
    "thoughts reasoning_recap execution_output tether_browsing_display tether_browsing_code tether_quote sonic_webpage "
    "user_editable_context model_editable_context system_error app_pairing_content".split()
)


def fits(value: object) -> bool:
    """Say whether a value is a conversation of this format."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def read(elements: Iterable[tuple[str, Any]], options: Options, maker: Maker, tell: Tell) -> Found:
    """Yield what each conversation holds, oldest first; what cannot be read is skipped, and the rest is not."""
    lost = 0
    for where, value in elements:
        inside = mapping(value).get("conversations")
        for at, one in enumerate(inside if isinstance(inside, list) else [value], 1):
            place = f"{where}.{at}" if isinstance(inside, list) else where
            if not fits(one):
                yield Skipped(place, ODD, "a conversation with a mapping is needed")
                continue
            talk = _Talk.of(one, maker)
            lost += talk.end_lost
            yield from talk.found(place, options, maker)
    if lost:
        tell(f"{lost} conversations do not say which branch is the current one: of each the latest was taken")


@dataclass(frozen=True, slots=True)
class _Talk:
    """One conversation.

    Attributes:
        id: Its session.
        about: What is attached to each of its messages.
        began: When it began.
        nodes: All its nodes, by id.
        path: The ids of the current branch, from its beginning.
        end_lost: Whether it does not say where that ends.
    """

    id: str
    about: Mapping[str, Any]
    began: datetime | None
    nodes: Mapping[str, Any]
    path: list[str]
    end_lost: bool

    @classmethod
    def of(cls, value: Mapping[str, Any], maker: Maker) -> _Talk:
        nodes = {key: node for key, node in value["mapping"].items() if isinstance(node, Mapping)}
        ids = [one for one in (value.get("conversation_id"), value.get("id")) if isinstance(one, str) and one]
        title = value.get("title")
        about = {"title": title} if isinstance(title, str) and title else {}
        end = value.get("current_node")
        known = isinstance(end, str) and end in nodes
        return cls(
            ids[0] if ids else digest("chatgpt", title, value.get("create_time"), sorted(nodes)[:1]),
            about,
            maker.instant(value.get("create_time")),
            nodes,
            _path(nodes, end if known and isinstance(end, str) else _latest(nodes)),
            bool(nodes) and not known,
        )

    def found(self, where: str, options: Options, maker: Maker) -> Iterator[NewMemory | Skipped]:
        current = set(self.path)
        others = [key for key in self.nodes if key not in current]
        at = self.began
        for key in [*self.path, *others]:
            message = self.nodes[key].get("message")
            if message is None:
                continue
            place = f"{where}, node {key[:40]}"
            if not isinstance(message, Mapping):
                yield Skipped(place, ODD, "a message is needed")
                continue
            if key not in current and not options.all_branches:
                yield Skipped(place, ELSEWHERE)
                continue
            at = maker.instant(message.get("create_time")) or at
            yield self._message(place, key, message, at, maker)

    def _message(
        self, where: str, key: str, message: Mapping[str, Any], at: datetime | None, maker: Maker
    ) -> NewMemory | Skipped:
        author, content, more = (mapping(message.get(name)) for name in ("author", "content", "metadata"))
        role = role_of(author.get("role"))
        if role is None:
            return Skipped(where, ODD, "a message with author and role is needed")
        if more.get("is_visually_hidden_from_conversation") is True:
            return Skipped(where, HIDDEN)
        if role == "assistant" and message.get("recipient") not in (None, "all"):
            return Skipped(where, CALL)
        kind = content.get("content_type", "text")
        kind = kind if isinstance(kind, str) else "text"
        text = text_of(content.get("parts")) or (text_of(content.get("text")) if kind in _SAID else "")
        if role in ("user", "assistant") and (kind in _THOUGHT or (not text.strip() and content.get("parts"))):
            return Skipped(where, EMPTY if kind == "text" else NO_TEXT)
        model = more.get("model_slug")
        about = {**self.about, "model": model} if isinstance(model, str) and model else self.about
        name = author.get("name")
        return maker.message(
            where,
            role,
            text,
            session=self.id,
            at=at,
            key=["node", key],
            name=name if isinstance(name, str) else None,
            metadata=about,
        )


def _path(nodes: Mapping[str, Any], end: str | None) -> list[str]:
    """Return the ids from the beginning to this end; a circle is left where it closes."""
    path: dict[str, None] = {}
    at: object = end
    while isinstance(at, str) and at in nodes and at not in path:
        path[at] = None
        at = nodes[at].get("parent")
    return list(path)[::-1]


def _latest(nodes: Mapping[str, Any]) -> str | None:
    """Return the end of a branch whose message is the latest, of equal ones the one that stands last."""
    parents = {node.get("parent") for node in nodes.values() if isinstance(node.get("parent"), str)}
    ends = [key for key in nodes if key not in parents] or list(nodes)

    def when(key: str) -> float:
        made = mapping(nodes[key].get("message")).get("create_time")
        return float(made) if isinstance(made, (int, float)) and isfinite(made) else 0.0

    return max(reversed(ends), key=when, default=None)
