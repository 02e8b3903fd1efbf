"""Rules: how things stand: sizes, levels, seats and subjects, ways and hours, what is off and what is done."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_BE: Final = r"(?:'s| is| are){NOW}"
_EXTENT: Final = r"(?: (?:about|around|roughly|only|just|almost|up to|at least|at most|maybe))?"
_UNIT: Final = (
    r"(?P<what>hours?|days?|km|kms|kilomet(?:re|er)s?|miles?|steps?|pages?|minutes?|times?|laps?|lengths?|litres?|"
    r"liters?|glasses|"
    r"words?|lessons?|books?|sessions?|shifts?|nights?|calories|cups?|pieces?)"
)
_PER: Final = (
    r"(?: (?:a|per|each|every) (?P<per>day|night|week|month|year|morning|evening|shift)| on (?:average|weekdays))"
)

HABITUAL: Final = (
    Rule(
        r"{S}{NOW} (?P<verb>sleeps?|works?|runs?|walks?|reads?|swims?|cycles?|meditates?|studys?|studies|"
        r"practi[sc]es?|trains?|"
        r"drinks?|writes?|smokes?|commutes?|plays?|rows?|bikes?|babysits?|tutors?|volunteers?|earns?)"
        + _EXTENT
        + r" (?P<v>{COUNT}) "
        + _UNIT
        + _PER,
        (Gift("amount:{verb+what*}", "{v}", "number"),),
        recurring=True,
    ),
)
"""Rules of how much of something one does."""

STATES: Final = (
    states(
        r"(?:(?:my|our) )?(?P<noun>(?:(?!favou?rite|old|previous|former|first|last|next|dream)[\w'-]{1,20} "
        r"){0,3}?(?:{ATTRIBUTE}))" + _BE + r" (?!{NO_STATE})(?P<v>(?:[\w'&/.-]{1,20} ){0,5}?[\w'&/-]{1,20}){END}",
        "{noun*}",
    ),
    states(
        r"(?:my|our|the) (?P<noun>(?:[\w'-]{1,20} ){0,3}?[\w'-]{2,20})" + _BE + r" (?:called|named) (?P<v>{NAME}){END}",
        "name:{noun~}",
    ),
    states(
        r"(?:my|our|the) (?P<noun>(?:[\w'-]{1,20} ){0,4}?[\w'-]{2,20})(?:'s| is| are|'s been| has been| have "
        r"been){NOW} "
        r"(?P<v>cancelled|canceled|postponed indefinitely|on hold|called off|approved|rejected|finished|complete|"
        r"sold out)"
        r"(?:{STOP}|{END})",
        "status:{noun~}",
    ),
    Rule(
        r"{I}{NOW} (?:go|get|travel|commute|cycle|come) to (?P<noun>work|school|uni|university|the office) (?:by|on) "
        r"(?P<v>bike|bicycle|bus|car|train|tram|metro|subway|foot|scooter|ferry|e-bike|motorbike|moped){END}",
        (Gift("commute:{noun*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        r"{I}{NOW} (?P<verb>pay|charge|earn|spend|owe|save|invest|get|make)"
        + _EXTENT
        + r" (?P<v>{AMOUNT}|{COUNT})(?: (?:a|per|an|each) "
        r"(?:month|week|year|hour|day))? (?:for|on) (?:(?:the|my|our|an?) )?(?P<of>(?:[\w'-]{2,20} "
        r"){0,2}?[\w'-]{2,20}){STOP_OF}",
        (Gift("amount:{verb+of*}", "{v}", "number"),),
        recurring=True,
    ),
    states(
        r"{I}{NOW} (?P<verb>wear|take|need)s? (?:an? )?size (?P<v>[\w.]{1,5})(?: (?:in|for) (?P<of>[\w "
        r"-]{3,20}?))?{END}",
        "size:{verb+of*}",
        fold="number",
    ),
    states(
        r"{I}{NOW} (?P<verb>start|finish|begin|leave|get up|wake up|get home|go to bed|stop)(?P<of> (?:work|school|"
        r"working|my shift|the day))?"
        r" (?:every (?:day|morning) )?at (?P<v>(?:half past |quarter (?:past|to) )?(?:\d{1,2}(?:[:.]\d\d)?(?: "
        r"?[ap]\.?m\b\.?)?|{COUNT}))"
        r"(?: (?:every|each|on) .{2,20})?{END}",
        "time:{verb+of*}",
    ),
    states(
        r"{AM}{NOW} training for (?:the |an? |my )?(?P<v>(?!(?:life|it|this|that|nothing|fun|now)\b)(?:[\w'-]{1,20} "
        r"){0,3}?[\w'-]{2,20}){END}",
        "training goal",
    ),
    states(
        r"{AM}{NOW} (?:on|doing|working) (?P<v>nights|night shifts?|days|day shifts?|early shifts?|late shifts?|"
        r"earlies|lates){END}",
        "shift",
    ),
    states(
        r"(?:i are|i'm|i am){NOW} (?:a couple|an item|together|dating|seeing someone|seeing {CAP}|in love with {CAP})"
        r"(?:{STOP}|{END})",
        "relationship status",
        "in a relationship",
    ),
    states(r"{I}(?:'ve| have)?{NOW} (?:broke|broken|split) up(?:{STOP}|{END}| with)", "relationship status", "single"),
    states(r"i are{NOW} (?P<v>engaged|married|divorced|separated){END}", "relationship status"),
    Rule(
        r"{I}(?:'m| am|'ve| have)?{NOW} (?:retired|unemployed|between jobs|out of work)(?:{STOP}|{END})",
        (Gift("job title", "retired"),),
    ),
    states(
        r"(?:please )?(?:give me|write me|write|keep|format|send me) (?:(?:your|all|the) )?(?:answers|replies|"
        r"responses) (?:as|in|with|to) "
        r"(?P<v>[\w ,-]{3,40}?)(?:{STOP}|{END})",
        "form of answers",
    ),
    states(
        r"(?P<who>{CAP}|i)(?:'m|'s| am| is)?{NOW} (?:goes|go|going|dressing up|dresses up) as (?P<v>an? "
        r"(?:[\w-]{2,20} ){0,3}?[\w-]{2,20}) (?:for|to|at) "
        r"(?P<of>{NP})(?: instead|{STOP_OF})",
        "costume:{who+of*}",
    ),
)
"""Rules of how things stand."""
