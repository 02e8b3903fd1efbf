"""Rules: what is so of the people and things around the speaker, who are named, or told by whose they are."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_NAMED: Final = r"(?!{NOBODY}\b|{MUM}\b|{LANGUAGE}\b)(?P<who>{CAP})"
_ONES: Final = (
    r"(?P<who>(?:my|our) (?:(?!{KIN}\b)[\w'-]{2,20} ){0,2}?(?:(?-i:[a-z][\w'-]{1,20}) {CAP}|parents|grandparents|"
    r"in-laws|kids|"
    r"neighbours|neighbors|cousins|twins)|(?:my|our) (?:[\w-]{2,20} ){0,1}?{PETS}|{CAP}'s {RELATION})"
)
_OPEN: Final = (
    r"(?!{NO_STATE})(?P<v>(?:(?:in|at|on|under|behind|near|by|from|with) )?(?:an? |the |our |my "
    r")?(?:[\w'&.:-]{1,25} ){0,3}?[\w'&.:-]{0,24}\w)"
)
_THING: Final = r"(?!{NO_STATE})(?P<v>(?:an? |the |my |our |\d{1,4} )(?:[\w'&.-]{1,25} ){0,3}?[\w'&.-]{0,24}\w|{NAME})"
_VERB: Final = (
    r"(?P<verb>lives? (?:in|with|near)|works? (?:at|for|in|as)|drives?|rides?|goes to|go to|attends?|"
    r"sleeps? (?:in|on)|wears? size|trains? (?:at|with)|plays? for|rows? for|sings? in|is in|are in|is at|are at|"
    r"stays? (?:at|with|in)|"
    r"boards? (?:at|with)|weighs?|uses|commutes? by|smokes|runs on|banks? with|is married to|is engaged to|is "
    r"dating|answers to)"
)
_PASSIVE: Final = (
    r"(?P<verb>kept|stored|written|hosted|run|built|parked|made|located|based|set|taught|led|owned|managed|insured|"
    r"registered|"
    r"serviced|repaired|tuned|cleaned|delivered|supplied|printed|sponsored|organi[sz]ed|deployed|closed|open)"
)

OTHERS: Final = (
    states(
        r"the (?P<noun>(?:[\w'-]{2,20} ){0,2}?[\w'-]{2,20} of (?:(?:my|our) (?:[\w'-]{1,20} ){0,3}?[\w'-]{1,20}|"
        r"(?:the )?{NAME}|"
        r"[a-z]{3,15} {NAME}))(?: is| are){NOW} " + _OPEN + r"{END}",
        "{noun~}",
    ),
    states(
        r"(?P<noun>(?:(?:my|our) [\w-]{2,20}|(?!{NOBODY}\b)(?:(?:my|our) )?{CAP}|(?:my|our) [\w-]{2,20} {CAP})'s "
        r"(?:[\w'-]{2,20} ){0,2}?(?:{ATTRIBUTE}|{ROLE}))(?: is| are){NOW} " + _OPEN + r"{END}",
        "{noun%}",
    ),
    Rule(_ONES + r"{NOW} " + _VERB + r" " + _THING + r"{END}", (Gift("of:{verb+who*}", "{v}"),), recurring=True),
    Rule(
        _NAMED + r"{NOW} (?!lives?\b|works?\b|is (?:in|at)\b)" + _VERB + r" " + _THING + r"{END}",
        (Gift("of:{verb+who*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        r"(?P<noun>(?:(?:the|my|our) )?(?:[\w'&-]{1,20} ){0,3}?[\w'&-]{2,20}) (?:is|are){NOW} "
        + _PASSIVE
        + r" (?P<of>in|at|on|by|with|to) (?P<v>(?:an? |the |our |my )?(?:[\w'&.-]{1,25} ){0,2}?[\w'&.-]{1,25}){END}",
        (Gift("is:{noun%} {verb+of*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        r"(?P<noun>(?:my|our) (?:[\w'&-]{1,20} ){0,2}?[\w'&-]{2,20}|{CAP}(?: {CAP})?) (?P<verb>stores?|keeps?) "
        r"(?:its|his|her|their) "
        r"(?P<of>[\w-]{2,20}) (?:in|on|at) (?P<v>{NAME}|(?:the|an?|our|my) (?:[\w'-]{2,20} ){0,2}?[\w'-]{2,20}){END}",
        (Gift("is:{noun%} {verb+of*}", "{v}"),),
        recurring=True,
    ),
)
"""Rules of what is so of others."""

_SINGLE: Final = (
    r"(?P<verb>sleep (?:in|on)|commute (?:by|with|on)|ride|live (?:above|next to)|teach (?:at|in)|"
    r"train (?:at|with)|sing in|play in|park (?:in|on|behind|at)|sit (?:by|next to)|read on|cook (?:on|with)|"
    r"share (?:an office|a flat|a room|a house|a desk) with|volunteer (?:at|for|with|in)|write with|run in|shoot "
    r"with|film with|pay with|"
    r"listen to music (?:on|with)|heat with|travel (?:by|with)|bank with|am dating|am married to|am engaged to)"
)
_GROUP: Final = (
    r"(?P<what>(?:[\w'-]{2,20} ){0,2}?(?:choir|band|club|team|orchestra|committee|board|council|union|party|"
    r"association|society|"
    r"league|pta|class|group|squad|crew|theatre group|reading group|walking group))"
)

MINE: Final = (
    Rule(r"{I}{NOW} " + _SINGLE + " " + _THING + r"{END}", (Gift("my:{verb*}", "{v}"),), recurring=True),
    Rule(
        r"{I}{NOW} (?P<verb>sing) (?P<v>tenor|bass|alto|soprano|baritone|mezzo|lead vocals|backing vocals)\b",
        (Gift("my:{verb*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        r"{AM}{NOW} (?:in|on|part of|a member of|a player in) (?:an? |the |our |my )" + _GROUP + r"{END}",
        (Gift("member:{what*}", "yes"),),
        recurring=True,
    ),
    Rule(
        r"{I}(?:'ve| have|'m| am)?{NOW} (?:left|quit|dropped out of|stepped down from|resigned from|no longer in|no "
        r"longer on|"
        r"no longer part of|no longer a member of|stopped going to|out of) (?:an? |the |our |my )"
        + _GROUP
        + r"(?:{END}|{STOP})",
        (Gift("member:{what*}", "yes", negated=True),),
        recurring=True,
    ),
    Rule(r"{AM}{NOW} a member of (?:the )?(?P<v>{NAME}){END}", (Gift("member:{v}", "yes"),), recurring=True),
    Rule(
        r"{I}(?:'m| am)? ?{NOW} ?(?:no longer|not) a member of (?:the )?(?P<v>{NAME})(?: any ?more)?(?:{END}|{STOP})",
        (Gift("member:{v}", "yes", negated=True),),
        recurring=True,
    ),
)
"""Rules of what the speaker has or does one of."""
