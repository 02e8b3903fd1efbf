"""Rules: who and what somebody is to the speaker, and what a new place, post or name tells of a change."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_BE: Final = r"(?:'s| is| are){NOW}(?: called)?"
_NEW: Final = r"(?:new |current |latest )?"
_NO_NAME: Final = (
    r"(?!{LANGUAGE}\b|{NOBODY}\b|{MONTH}\b|(?-i:[A-Z]\w{2,12}day|[A-Z]\w+(?:ese|ish|ican|anian)|Catholic|Muslim|"
    r"Christian|Jewish|OK|"
    r"God|AI|Great|Good|Very|Really|Not|So|This|That|It|A|An|I)\b)"
)
_WHO: Final = _NO_NAME + r"(?P<v>{PERSON})"
_WHAT: Final = _NO_NAME + r"(?P<v>{PERSON}|{NAME})"
_QUALIFIED: Final = r"(?P<noun>(?:(?!{MANY_OF}\b)[\w'&-]{1,20} ){0,3}?(?!{MANY_OF}\b)[\w'&-]{2,20})"
_ROLE: Final = (
    r"(?P<noun>(?:[\w'&-]{1,20} ){0,2}?(?:{ROLE})(?: (?:at|for|of|in) (?:the |our |my )?(?:[\w'&-]{1,20} ?){1,3}?)?)"
)
_IN_CHARGE: Final = (
    r"(?:leads|runs|manages|heads|chairs|coordinates|is leading|is running|is in charge of|is "
    r"responsible for|is heading)"
)
_SCHOOLS: Final = r"(?![\w ]{0,30}(?:University|College|School|Academy|Yale|Harvard|Stanford|MIT|Disney\w*)\b)"
_NAMED_FIRM: Final = _SCHOOLS + r"(?P<v>{NAME})(?:{END}|(?= (?:is|was|has|are|and)\b))"

RELATIONS: Final = (
    states(r"i{NOW} (?:report|answer) (?:directly )?to " + _WHO + r"{END}", "boss name"),
    states(
        _WHO + r"(?:'s| is){NOW} my " + _NEW + r"(?:boss|manager|line manager|supervisor at work){END}", "boss name"
    ),
    states(r"(?:{MY} )?" + _NEW + _ROLE + _BE + " " + _WHAT + r"{END}", "{noun~}"),
    states(_WHAT + r"(?:'s| is){NOW} {MY} " + _NEW + _ROLE + r"{END}", "{noun~}"),
    states(r"{MY} " + _NEW + _QUALIFIED + _BE + " " + _WHAT + r"{END}", "{noun~}"),
    states(_WHO + r"{NOW} " + _IN_CHARGE + r" (?:the |our |my )(?P<noun>{NP}){STOP_OF}", "lead:{noun*}"),
    states(_WHO + r"{NOW} (?:babysits|babysat) for us\b", "babysitter"),
    states(_WHO + r"{NOW} (?:cleans|tutors|coaches|trains) (?P<noun>us|me){END}", "trainer"),
    states(
        _WHO + r"(?: [a-z ]{3,20}?)?{NOW} (?:looks after|takes care of|watches|minds|babysits) (?:the|our|my) "
        r"(?:kids|children|little ones|boys|girls|son|daughter|baby){END}",
        "babysitter",
    ),
)
"""Rules of who leads, helps, teaches and treats."""

PROVIDERS: Final = (
    Rule(
        r"{S}{NOW} (?:has|have|gets?|buys?|orders?|rents?) (?:(?:the|our|my|all our|all my) )?"
        r"(?P<noun>(?:[\w'-]{2,20} ){0,2}?[\w'-]{3,20}) (?:from|through|via|with) (?P<v>{NAME}){END}",
        (Gift("with:{noun*}", "{v}"), Gift("uses:{v}", "yes")),
    ),
    states(
        r"{I}(?:'ve| have)?{NOW} (?:switched|moved|changed|taken|took) (?:over )?(?:my|our) "
        r"(?P<noun>(?:[\w'-]{2,20} ){0,3}?[\w'-]{2,20}) (?:from {NAME} )?(?:over )?to (?P<v>{NAME}){END}",
        "with:{noun*}",
    ),
    states(
        r"{I}(?:'m|'re| am| are)?{NOW} (?:with) (?P<v>{NAME}) for (?:(?:the|our|my|all our|all my) )?"
        r"(?P<noun>(?:[\w'-]{2,20} ){0,3}?[\w'-]{2,20}){STOP_OF}",
        "with:{noun*}",
    ),
    states(
        r"{I}{NOW} (?P<verb>write|edit|draft|track|store|manage|keep|plan|design|host|build|record|do) "
        r"(?:(?:all )?(?:my|our|the) )?(?P<noun>(?:[\w'-]{2,20} ){0,2}?[\w'-]{2,20}) (?:in|with|on) "
        r"(?!{MONTH}\b|{LANGUAGE}\b|(?-i:[A-Z]\w{2,8}day))(?P<v>{NAME}){END}",
        "with:{verb+noun*}",
    ),
    Rule(
        r"{I}(?:'ve| have)?{NOW} (?:ended|cancelled|canceled|terminated|quit|dropped|closed) (?:my|our|the) "
        r"(?:contract|membership|subscription|account|plan) (?:with|at|to|for|of) (?P<v>{NAME}){END}",
        (Gift("uses:{v}", "yes", negated=True),),
    ),
    Rule(
        r"{I}(?:'ve| have|'ve got| have got)? ?{NOW} ?(?:got|get|bought|took out|signed up for|have) an? "
        r"(?:[\w'-]{2,20} )?(?:membership|subscription|account|contract) (?:with|at|to|for) (?P<v>{NAME}){END}",
        (Gift("uses:{v}", "yes"),),
    ),
)
"""Rules of with whom one is for what."""

BEGINNINGS: Final = (
    states(
        r"(?:(?:my |our )?(?:first|second|third) (?:week|month)|(?:week|month|day) (?:one|two|three|1|2|3)|my first "
        r"day) "
        r"(?:at|with) " + _NAMED_FIRM,
        "employer",
    ),
    states(
        r"\bmy (?:new |current )?(?:job|position|role|colleagues|coworkers|co-workers|team|desk|office|boss) "
        r"(?:at|with) (?:the )?" + _NAMED_FIRM,
        "employer",
    ),
    states(r"{I}(?:'ve| have){NOW} been (?:at|with) " + _SCHOOLS + r"(?P<v>{NAME})(?= (?:for|since)\b)", "employer"),
    states(
        r"(?:the|our|my) (?:new )?(?:house|flat|apartment|home|place) in (?P<v>{NAME}) (?:is|are) (?:still |now )?"
        r"(?:full of|all|finally|nearly|ready|unpacked|furnished|a mess)\b",
        "home",
    ),
    states(
        r"{I}(?:'ve| have|'re| are|'m)?{NOW} (?:settled|settling|moved|moving) in(?:to)? (?:the |our |my )(?:new )?"
        r"(?:house|flat|apartment|home|place) in (?P<v>{NAME}){END}",
        "home",
    ),
)
"""Rules of what a beginning tells."""
