"""A text taken apart into the clauses in which its speaker states something, each with where it stands.

Questions, hypotheses, wishes, reported speech, quotations, code and marked jokes are left out here, so that no rule
has to know of them. All offsets are those of the text. Time is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from langchain_tiered_memory.extraction.grammar.fragments import spelled

_MOST_OF_SENTENCE: Final = 1_500
_MOST_OF_CLAUSE: Final = 300


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(spelled(pattern), re.IGNORECASE)


_HIDDEN: Final = re.compile(
    r"```.{0,8000}?(?:```|\Z)|`[^`\n]{1,200}`|\"[^\"\n]{1,1000}\"|“[^”\n]{1,1000}”|"
    r"«[^»\n]{1,1000}»|^[ \t]*>[^\n]*|[\"“”«»][^\n]*",
    re.DOTALL | re.MULTILINE,
)
_TITLE: Final = re.compile(r"[\"“«](?!I\b|I'|My\b|We\b|You\b)[A-Z][\w' :-]{1,40}[\"”»]")
_SAYING: Final = re.compile(
    r"\b(?:sa(?:y|id|ys|ying)|reads?|translate|sentence|phrase|quote|word|words|titled|asked|told|"
    r"wrote|writes)\b.{0,12}$|[,:] $",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[.!?]+(?=[\s)\]\"”]|$)|\n+|…")
_SHORTENED: Final = re.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|jr|sr|vs|etc|e\.g|i\.e|approx|no|inc|ltd|a\.m|p\.m|(?<!['])[a-z])$", re.IGNORECASE
)
_PLAY: Final = _compiled(
    r"\b(?:role-?play|pretend|act as|you are now|lyrics|translate|proofread|rewrite|rephrase|"
    r"paraphrase|correct (?:this|the following)|"
    r"(?<!i )(?<!i now )write (?:me |us |up )?(?:an?|the|my) (?:[\w-]+ ){0,4}(?:story|poem|song|essay|letter|email|"
    r"e-mail|dialogue|script|scene|speech|bio|post|tweet|paragraph|review|resume|monologue)|"
    r"here(?:'s| is| are) (?:my|the|an?) (?:[\w-]+ ){0,4}(?:draft|essay|letter|story|poem|text|"
    r"paragraph|script|dialogue|lyrics|code|email|article|transcript|example)|"
    r"(?:the )?(?:following|character|narrator|protagonist)\b|once upon a time|imagine\b|let's "
    r"(?:say|assume|pretend|imagine|suppose))"
)
_JOKE: Final = _compiled(
    r"\b(?:just kidding|i'm kidding|only kidding|kidding!?$|jk|j/k|just joking|i'm joking|not "
    r"really|as if|in your dreams|haha no|psych|/s)(?!\w)"
)
_REST: Final = _compiled(
    r"^(?:(?:and|but|so|because|that) )?(?:if|unless|suppose|supposing|assuming|in case|had i|were i|provided)\b|"
    r"\b(?:imagine|pretend|suppose|assume|assuming|hypothetically|i wish|wish i|let's say|for "
    r"example|for instance|e\.g\.|what if|"
    r"in (?:a|the|this|my) (?:song|story|novel|movie|film|game|play|book|essay|dream|poem|scene|sketch)|not that i|"
    r"(?:he|she|they|who|someone|somebody|everyone|people|mom|dad|mum|boss|doctor|friend|wife|"
    r"husband|sister|brother|son|daughter|"
    r"colleague|teacher|manager|partner|neighbou?r|you|(?!(?:n?ever|after|other|however|rather|"
    r"over|under|either|another)\b)[a-z]+er|narrator|character|sign|report|"
    r"article|book)s? (?:\w+ ){0,2}"
    r"(?:said|says|say|told|tells|tell|claims?|claimed|thinks?|thought|believes?|believed|"
    r"mentioned|sings?|sang|argues?|insists?|"
    r"insisted|reckons?|swears?|suggests?|suggested|asked|asks|heard|wrote|writes|reads)|"
    r"(?-i:[A-Z][a-z]+) (?:said|says|told|thinks|claims|believes)|"
    r"according to|apparently|supposedly|allegedly|rumou?r|pretending)\b"
)
_DROPPED: Final = _compiled(
    r"\b(?:if|whether|unless|maybe|perhaps|might|may(?= (?:be|have|\w+ (?:to|in|at|a|the)\b))|"
    r"could|would|should|almost|nearly|about to|was going to|were going to|"
    r"hope|hoping|want|wants|wanted|wanna|wish|dream|dreaming|thinking (?:about|of)|think|"
    r"considering|consider|considered|feel like|feels like|look like|looks like|probably|possibly|"
    r""
    r"not sure|guess|supposed to|'d|ought|tempted|as though|in theory|typical|typically a|when i "
    r"was|ever since i was|as a (?:kid|child)|let me|"
    r"seems?|sounds like|tends?|whatever|kind of like|metaphorically|figuratively|joking|kidding|"
    r"can't wait to|would've|hypothetical|wonder|wondering)\b"
)
_WISH_TO_AI: Final = _compiled(
    r"(?:i'd|i would) (?:rather|prefer|like you)|(?:i want|i need|i'd like) you to|(?:please "
    r")?(?:can|could) you (?:always|never)"
)
_ASKING: Final = _compiled(
    r"(?:(?:and|but|so|or|then|also|well|ok|okay|please|hey|hi|now|thus|therefore) )*(?:(?:can|"
    r"could|would|will|should|do|does|did|is|are|am|was|were|have|has|isn't|aren't|"
    r"don't|doesn't|didn't|won't|shouldn't) (?:i|you|we|it|this|that|there|he|she|they|the|my|our|"
    r"any|anyone|someone|these|those)\b|(?:how|what|what's|which(?! (?:is|are|has|have|was|were|"
    r"now|recently|currently)\b)|when|"
    r"where|why|who|whose|how's|any (?:idea|tips|advice|suggestions?|thoughts)|is that|does that|know)\b)"
)
_TAG: Final = _compiled(
    r"(?:right|correct|yes|no|ok|okay|huh|eh|isn't it|don't i|don't you think|aren't i|believe me|"
    r"you know)\W*$"
)
_CITED: Final = re.compile(
    r"\b(?:example|prompts?|text|title|headline|subject|input|output|scenario|question|problem|exercise|sample|draft|"
    r"template|story|plot|line|lyrics?|quote|message|caption|slogan|motto|intro|sentence|statement|claim|theory|bio|"
    r"profile|cover letter|reply|answer|song|chorus|joke|meme|poem|scene|speech|like this|this way|follows)\b"
    r"[^:]{0,40}:$",
    re.IGNORECASE,
)
"""Before a colon: what is told behind it is a text, and nothing that the speaker states."""
_ABOUT: Final = re.compile(r"(?:for|about|on|regarding|as for|re) (?:(?:the|my|our) )?([\w' &-]{2,40})$", re.IGNORECASE)
_REMINDING: Final = re.compile(r", remember\W*$", re.IGNORECASE)
_VERB: Final = (
    r"(?:work|live|lived|moved|joined|left|quit|started|became|got|have|had|am|was|play|speak|"
    r"love|like|hate|enjoy|prefer|don't|do not|no longer|now work|now live|"
    r"drive|own|study|go|eat|stopped|works|lives|is|has|speaks|plays|loves|studies|can't|take|"
    r"bought|sold|use|want|need|might|will|run|swim|"
    r"switched|turned|hate|never|also|recently|currently|used to|wonder|wants|needs|try|tried|feel|felt|think|thought|"
    r"gave|give|gets|got|go|goes|went|put|made|makes)"
)
_NEW: Final = (
    r"(?:i|i'm|i've|i'd|i'll|we|we're|we've|it|it's|he|she|they|you|he's|she's|they're|there|"
    r"there's|this|that's|please|always|never|call me|"
    r"(?:my|our|the|an?|his|her|their|its) (?:[\w'-]{1,20} ){1,6}?(?:is|are|was|were|isn't|aren't|has|have|had|lives?|"
    r"works?|costs?|starts?|ends?|went|rose|needs?|now|will|would|can|could|wants?|wanted|gets?|got|keeps?|kept|makes?|"
    r"made|takes?|took|comes?|came|joined|bought|closes?|closed|fits?|ate|eats?|broke|does|did)|"
    r"(?:my|our) [\w-]{1,20}'s name|an? (?:[\w-]{1,20} ){0,2}?{PETS} (?:named|called))\b"
)
_CONJUNCTION: Final = (
    r"(?:and|but|so|because|since|though|although|while|as|plus|yet|or|even though|whereas|'cause|"
    r"cuz|especially since|especially as)"
)
_STARTS: Final = (
    r"(?:(?:i|i'm|i've|we|we're|we've|it's|there's|there are|do|does|did|is|are|was|what|how|why|when|where|who|"
    r"which|can|"
    r"could|should|would)\b|(?:(?:the|my|our) )?(?:[\w'-]{1,20} ){1,5}?"
    r"(?:is|are|has|takes|costs|starts|ends|leaves|goes)\b)"
)
_SPLIT: Final = _compiled(
    rf"[;]\s*|:\s+(?={_STARTS})|\s+[-\u2013\u2014]+\s+|\s*[\u2013\u2014]\s*|"
    rf",\s+(?=(?:{_CONJUNCTION} )?(?:now )?{_NEW})|,\s+(?=(?:so|but|because|although|though) (?!that\b|as\b))|,"
    rf"\s+(?={_CONJUNCTION} {_VERB}\b)|,\s+(?=which\b)|,\s+(?=who\b)|,?\s+(?=who (?:is|lives|works|"
    rf"has|said)\b)"
    rf"|\s+(?={_CONJUNCTION} (?:now |then |also )?{_NEW})|\s+(?=(?:and|but) (?:then )?{_VERB}\b)"
    r"|,\s+(?=(?:(?:and|but|so) )?(?:can|could|would|should|do|does|is|are|how|what|which|when|"
    r"where|why|any|if|unless|right|correct|ok|isn't|don't) )"
)
_ALONE: Final = _compiled(
    r"(?:(?:hi|hello|hey)(?: there| everyone| all| again)?|(?:and |but )?(?:in|since|from|on|"
    r"until|till|last|next|every|by|as of|starting|once|twice|after|before|yesterday|today|"
    r"tomorrow)\b[^,]{0,40})$"
)
_HEAD: Final = _compiled(
    r"(?:(?:and|but|so|because|since|well|also|now|then|actually|though|although|while|as|in "
    r"\d{4}|hi|hey|hello)\W+)*(?P<who>i|we|{MY} {KIN}(?: {CAP})?)(?=\b|')"
)
_BARE: Final = _compiled(rf"(?:and|but|so|or|yet|plus) (?:then |now |also )?(?={_VERB}\b)")
_JOINED: Final = re.compile(r"(?:and|but|so|also|please|from now on)\b", re.IGNORECASE)
_CLOSE: Final = re.compile("[.!\u2026]{1,3}")
_CONDITION: Final = re.compile(r"(?:if|unless|provided|assuming|in case|not)\b", re.IGNORECASE)
_WHICH: Final = _compiled(r"which (?=(?:is|are|has|have|was|were|now|recently|currently)\b)")
_TRAILING: Final = _compiled(
    r"\b(?:the|my|our) (?:(?!(?:to|that|which|is|are|and|i|we|you|by|from|with|as|than|"
    r"it)\b)[\w'/&+-]{1,30} ){0,8}(?!(?:to|that|which|is|are|it)\b)[\w'/&+-]{1,30}$"
)
_UNMEANT: Final = re.compile(
    r"^\W*(?:yeah,? right|sure,? and|as if|in my dreams)\b|\b(?:haha|lol|rofl)\W*$", re.IGNORECASE
)
"""A sentence that says of itself that it is not meant."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that states something.

    Attributes:
        text: The words as rules read them: with the subject that it shares, with what is quoted blanked out.
        start: Where it begins in the text.
        end: Where it ends, the full stop included.
        head: How many characters of `text` are supplied in front: the subject of the clause before.
        sentence: Number of its sentence.
        first: Whether it begins its sentence, or is joined to it by "and", "but", "so" or "please".
        about: What it is about, where that is told before a colon: "For the kitchen: my budget is $900".
    """

    text: str
    start: int
    end: int
    head: int
    sentence: int
    first: bool = True
    about: str = ""


def clauses(text: str) -> list[Clause]:
    """Return the clauses of a text that state something, in its order."""
    hidden = masked(text)
    found: list[Clause] = []
    last: list[Clause] = []
    for number, (start, end) in enumerate(_sentences(hidden)):
        sentence = hidden[start:end]
        if _PLAY.search(sentence):
            break  # what follows is a part that is played, or a text to work on
        if _JOKE.search(sentence):
            found = [one for one in found if one not in last]
            last = []
            continue
        if _UNMEANT.search(sentence):
            last = []
            continue
        last = list(_of_sentence(sentence, start, number)) if end - start <= _MOST_OF_SENTENCE else []
        found += last
    return found


def masked(text: str) -> str:
    """Return a text of the same length without quotations and code; a title in quotation marks stays."""
    plain = text.replace("\u2019", "'").replace("\0", " ").replace("\t", " ")

    def hide(match: re.Match[str]) -> str:
        if _TITLE.fullmatch(match[0]) and not _SAYING.search(plain, max(0, match.start() - 40), match.start()):
            return f" {match[0][1:-1]} "
        return "\0" * len(match[0])

    return _HIDDEN.sub(hide, plain)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if (
            match[0] == "."
            and _SHORTENED.search(text, max(start, match.start() - 8), match.start())
            and not text.startswith("\n", match.end())
        ):
            continue
        if match.start() > start:
            yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _of_sentence(sentence: str, offset: int, number: int) -> Iterator[Clause]:
    spans = _stated(sentence)
    head, before, kept = "", "", True
    pending: list[Clause] = []
    for start, end in spans:
        words = sentence[start:end]
        asked = _WISH_TO_AI.match(words) is not None
        if (_REST.search(words) and not asked) or _CITED.search(before):
            if _CONDITION.match(words):
                pending = pending[:-1]  # it was true under that condition only
            break
        who = _HEAD.match(words)
        head = f"{who['who']} " if who is not None else head
        goes_on = who is None and _BARE.match(words) is not None
        kept = (kept or not goes_on) and (asked or not _DROPPED.search(words))
        if kept and end - start <= _MOST_OF_CLAUSE and words[0] != "\0":
            closed = match.end() if (match := _CLOSE.match(sentence, end)) else end
            opens = start == spans[0][0] or _JOINED.match(words) is not None
            pending += _clause(words, head if goes_on else "", before, (offset + start, offset + closed, number, opens))
        before = sentence[start : end + 1] if sentence.startswith(":", end) else words
    yield from pending


def _stated(sentence: str) -> list[tuple[int, int]]:
    """Return where the clauses stand that state something: those before the question, where one is asked."""
    spans = _spans(sentence)
    if not sentence.rstrip().endswith("?"):
        return spans
    if _TAG.search(sentence.rstrip("? ")):
        return []
    asked = next((i for i, (start, end) in enumerate(spans) if _ASKING.match(sentence, start, end)), 0)
    reminded = _REMINDING.search(sentence)
    return spans if reminded and not asked and not _ASKING.match(sentence, *spans[0]) else spans[:asked]


def _clause(words: str, head: str, before: str, place: tuple[int, int, int, bool]) -> Iterator[Clause]:
    """Yield the clause, with the subject that it shares, or with what "which" stands for, in front."""
    start, end, number, opens = place
    if which := _WHICH.match(words):
        if noun := _TRAILING.search(before):
            yield Clause(f"{noun[0]} {words[which.end() :]}", start + which.end(), end, len(noun[0]) + 1, number, opens)
    elif head and (bare := _BARE.match(words)):
        yield Clause(head + words[bare.end() :], start + bare.end(), end, len(head), number, opens)
    else:
        about = _ABOUT.match(before[:-1]) if before.endswith(":") else None
        yield Clause(words, start, end, 0, number, opens, about[1] if about else "")


def _spans(sentence: str) -> list[tuple[int, int]]:
    """Return where the clauses of a sentence stand, without the marks around them."""
    spans: list[tuple[int, int]] = []
    start = 0
    cuts = [(match.start(), match.end()) for match in _SPLIT.finditer(sentence)]
    for a, b in [*cuts, (len(sentence), len(sentence))]:
        if a == start or (_ALONE.match(sentence[start:a].strip()) and b < len(sentence)):
            continue
        left = start + len(sentence[start:a]) - len(sentence[start:a].lstrip(" \n-*•,"))
        right = start + len(sentence[start:a].rstrip(" .!?,;…\n"))
        if right > left:
            spans.append((left, right))
        start = b
    return spans
