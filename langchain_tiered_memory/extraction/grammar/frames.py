"""Rules for any verb: what stands before a day, an hour, a date, an amount or a place is what it is said of.

They come last, and read the present alone: what is over happened once, and is no attribute.
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_OWNER: Final = r"(?!(?:and|but|so|or|then|it|it's|he|she|they|you|there|that|this|please|let)\b)"
_WHAT: Final = _OWNER + r"(?P<what>(?:[\w'/&.+-]{1,30} ){1,7}?)"
_CLOCK: Final = (
    r"(?:half past |quarter (?:past|to) )?(?:\d{1,2}[:.]\d\d(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?|noon|midnight|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: thirty)?\b|\d{1,2}(?= *(?:$|[,;])))"
)
_UNIT: Final = (
    r"(?!(?:times?|more|less|of|and|or|ways|options|days? (?:off|left)|years? (?:old|ago)|years?|months? (?:old|"
    r"ago)|in|to|at|on|"
    r"for|from|by|with|am|pm|people think|things?|questions?|reasons?|examples?|steps? to|points?)\b)[a-z][a-z-]{1,20}"
)
_PER: Final = (
    r"(?: (?:an?|per|each|every) (?:day|night|week|month|year|hour|minute|morning|evening|session|person|"
    r"lesson|class))"
)
_VERB_OF_HAVING: Final = (
    r"(?:has|have|is|are|takes?|needs?|costs?|holds?|gets?|pays?|allows?|weighs?|lasts?|covers?|counts?|seats?|"
    r"serves?|measures?|"
    r"earns?|makes?|uses?|burns?|eats?|drinks?|sleeps?|runs?|contains?|includes?|requires?|charges?|scores?|owns?|"
    r"employs?)"
)
_STANDS: Final = (
    r"(?:is|are|lives?|sits?|stays?|hangs?|stands?|sleeps?|parks?|meets?|rehearses?|trains?|stops?|practi[sc]es?|"
    r"takes place)"
)
_SPOT: Final = (
    r"(?!(?:the |an? |my |our )?(?:end|beginning|start|way|works|moment|morning|afternoon|evening|night|middle|"
    r"future|past|air|"
    r"calendar|list|agenda|diary|schedule|track|hold|time|question|danger|full|process|order|week|month|year|least|"
    r"most|"
    r"first|last|risk|place|progress|hour|minute|day|hours|minutes|weekend|books|cards|table|line|same|mood|rise|case|"
    r"point|edge|mind|form|shape|topic|code|way|range|\w{3,6}day|{MONTH})\b)"
    r"(?P<v>(?:in|at|on|under|behind|by|next to|near|above|inside|opposite) (?:(?:the|our|my|an?) (?:[\w'&-]{2,20} "
    r"){0,2}?"
    r"[\w'&-]{2,20}|{NAME}|room [\w.]{1,8}|(?:floor|level|shelf|platform|gate|track) \w{1,4}))"
)


def _frame(pattern: str, slot: str, fold: str, *, recurring: bool = True) -> Rule:
    return Rule(pattern, (Gift(slot, "{v}", fold),), recurring=recurring)  # type: ignore[arg-type]


FRAMES: Final = (
    _frame(_WHAT + r"(?P<v>{WEEKLY})(?:{STOP_OF}|{END})", "day:{what%}", "days"),
    _frame(_WHAT + r"(?:at|from|until|by) (?P<v>" + _CLOCK + r")(?:{STOP_OF}|{END})", "time:{what%}", "words"),
    Rule(
        _WHAT + r"(?:on|by|until) (?P<when>{TIMELY}.{0,60})",
        (Gift("date:{what%}", "{when}", "when"),),
        future=True,
    ),
    _frame(
        r"(?P<what>(?:(?:my|our) |the [\w'/&.+-]{1,30} )(?:[\w'/&.+-]{1,30} ){1,4}?"
        + _VERB_OF_HAVING
        + r"){NOW}(?: up to| about| around| only| at least| at most)? "
        r"(?P<v>{COUNT}) (?P<of>" + _UNIT + r")(?:" + _PER + r"|{END})",
        "amount:{what%} {of*}",
        "number",
    ),
    _frame(
        r"(?P<what>(?:i|we) (?:[\w'-]{2,20} ){1,3}?)(?:up to |about |around |only )?(?P<v>{COUNT}|{AMOUNT})(?: "
        r"(?P<of>"
        + _UNIT
        + r"))?"
        + _PER
        + r"(?: (?:for|on|in|at|of) (?:the |my |our )?(?P<more>[\w' -]{3,30}))?(?:{STOP_OF}|{END})",
        "amount:{what+of%}",
        "number",
    ),
    states(
        r"(?P<what>(?:the|my|our) (?:[\w'/&.+-]{1,30} ){1,4}?" + _STANDS + r"){NOW} " + _SPOT + r"{END}",
        "place:{what%}",
    ),
)
"""Rules for any verb."""

HELPERS: Final = (
    states(
        r"(?!{NOBODY}\b|{MUM}\b)(?P<v>{PERSON}){NOW} (?P<verb>(?!is\b|was\b|has\b|loves\b|likes\b|hates\b|knows\b|"
        r"thinks\b|wants\b|says\b|"
        r"needs\b|sees\b|calls\b|tells\b|asks\b|gets\b|does\b|uses\b|offers\b|supports\b|provides\b|requires\b|"
        r"allows\b|returns\b|"
        r"uses\b|prefers\b|misses\b|enjoys\b|finds\b|believes\b|shows\b|makes\b|covers\b|includes\b|contains\b|"
        r"works\b|lives\b)[a-z]{3,12}s) "
        r"(?:(?:up|down|out|over|after|for) )?(?:the|our|my) (?P<noun>(?:[\w'-]{2,20} ){0,3}?[\w'-]{2,20}){STOP_OF}",
        "who:{verb+noun*}",
    ),
    states(
        r"(?!{NOBODY}\b|{MUM}\b|{LANGUAGE}\b)(?P<v>{PERSON}) (?:does|makes|handles) (?:our|my) "
        r"(?P<noun>(?:[\w'-]{2,20} ){0,2}?[\w'-]{2,20}){STOP_OF}",
        "who:{noun*}",
    ),
)
"""Rules of who does what for the speaker."""
