"""Rules for any verb with a number, and for what is told of as if it had a name: "Choir is at eight"."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_BARE: Final = r"(?!{NOBODY}\b|{SEASON}\b|{MONTH}\b|(?-i:[A-Z]\w{2,8}day)\b|(?:lunch|dinner|breakfast|there|here)\b)"
_NOT_TODAY: Final = (
    r"(?!.{0,40}\b(?:today|tonight|tomorrow|yesterday|this (?:week|morning|evening|afternoon)|next|"
    r"last)\b)"
)
_CLOCK: Final = (
    r"(?P<v>(?:half past |quarter (?:past|to) )?(?:\d{1,2}[:.]\d\d(?: ?[ap]\.?m\b\.?)?|\d{1,2} ?[ap]\.?m\b\.?|noon|"
    r"midnight|"
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: thirty)?\b|\d{1,2}(?= *(?:$|[,;]))))"
)
_NO_UNIT: Final = (
    r"(?!(?:questions?|ideas?|minutes?|hours?|days?|weeks?|months?|seconds?|options?|problems?|issues?|points?|"
    r"reasons?|things?|"
    r"meetings?|calls?|e-?mails?|messages?|tasks?|tests?|files?|errors?|exams?|left|more|other|different|times?|"
    r"examples?|steps?|"
    r"ways?|sides?|angles?|choices?|elements?|arguments?|parts?|sections?|paragraphs?|lines?|columns?|rows?|years?|"
    r"deadlines?|"
    r"hopes?|goals?|percent|of|in|to|and|or)\b)"
)
_UNIT: Final = (
    _NO_UNIT + r"(?P<of>[a-z][a-z-]{1,20}(?: (?!(?:in|on|at|for|with|and|or|but|so|now|since|from|of|to|"
    r"as|by|that|who)\b)[a-z-]{2,20})?)"
)
_N: Final = (
    r"(?:about |around |roughly |only |just |almost |nearly |over |exactly "
    r")?(?P<v>\d[\d,]{0,9}(?:\.\d{1,3})?(?![\w:/-]|[.,]\d)|{NUMERAL}\b)"
)
_HOLD: Final = (
    r"(?:sleeps?|weighs?|eats?|drinks?|runs?|walks?|swims?|cycles?|costs?|takes?|has|needs?|pays?|earns?|charges?|"
    r"gets?|employs?|"
    r"lasts?|measures?|owns?|works?|knows?|speaks?|reads?|writes?|plays?|trains?|burns?|uses?|lays?|gives?|makes?|"
    r"holds?|seats?|"
    r"counts?|covers?|scores?|rides?|commutes?|teaches|supervises?|manages?|looks after|travels?)"
)
_UNITS: Final = (
    r"(?P<of>hours?|minutes?|kilos?|kg|grams?|g|pounds?|lbs?|km|kilomet(?:re|er)s?|miles?|met(?:re|er)s?|cm|steps|"
    r"pages|euros?|dollars|"
    r"litres?|liters?|ml|cups?|calories|eggs|words|percent|%|mg|lengths|laps|days|nights|shifts|lessons|teeth|"
    r"medals|points|goals|"
    r"months old|weeks old)"
)

_DOES: Final = (
    r"(?!(?:have|need|want|see|find|make|think|guess|spend|took|got|had|saw|made|did|ate|ran|met|left|paid|gave|was|"
    r"were|know|feel|"
    r"hit|put|set|cut|read|lost|won|found|sold|said|told|add|use|ask|mean|count|try|\w+ed)\b)"
)

COUNTED: Final = (
    Rule(
        _NOT_TODAY + r"{I}{NOW} (?:can )?(?P<verb>" + _DOES + r"[a-z]{2,12}) " + _N + r" " + _UNIT + r"\b",
        (Gift("amount:{verb+of*}", "{v}", "number"),),
        recurring=True,
    ),
    states(
        r"{I}{NOW} (?P<verb>(?:have|have got)(?! (?:\w+ ){1,4}(?:with sides|to submit))|own|keep|manage|"
        r"supervise|teach|mentor|employ|look after|share){NOW} " + _N + r" " + _UNIT + r"\b",
        "count:{of*}",
        fold="number",
    ),
    states(
        r"(?:we're|we are|there are|there're){NOW} " + _N + r" (?:people )?(?:of us )?(?:in|on|at) (?:the|our) "
        r"(?P<of>(?:[\w-]{2,20} ){0,2}?"
        r"[\w-]{2,20}){END}",
        "size:{of*}",
        fold="number",
    ),
    states(
        r"(?:it's|it is|that's){NOW} " + _N + r" of us in (?:the|our) (?P<of>(?:[\w-]{2,20} "
        r"){0,2}?[\w-]{2,20}){END}",
        "size:{of*}",
        fold="number",
    ),
    states(
        _NOT_TODAY
        + r"(?P<what>"
        + _BARE
        + r"{CAP}(?: {CAP}){0,2}{NOW} "
        + _HOLD
        + r"){NOW} "
        + _N
        + r" ?"
        + _UNITS
        + r"\b",
        "amount:{what%} {of*}",
        fold="number",
    ),
    states(
        _NOT_TODAY + r"(?P<what>(?:my|our) (?:[\w'-]{2,20} ){1,3}?" + _HOLD + r"){NOW} " + _N + r" ?" + _UNITS + r"\b",
        "amount:{what%} {of*}",
        fold="number",
    ),
    states(
        r"{AM}{NOW} (?:in|on|at|up to) (?P<noun>(?!about\b|around\b|least\b|most\b)[a-z]{3,12}) "
        r"(?P<v>\d{1,4}[a-z]?|{NUMERAL})\b",
        "at:{noun*}",
        fold="number",
    ),
    states(
        r"{I}{NOW} (?P<verb>(?!met\b|sat\b|got\b|was\b|left\b|had\b)[a-z]{3,12}) (?:in|on|at|by|from) "
        r"(?P<noun>(?!about\b|around\b|least\b|most\b)"
        r"[a-z]{3,12}) (?P<v>\d{1,4}[a-z]?)\b",
        "at:{verb+noun%}",
        fold="number",
    ),
    states(
        r"{I}{NOW} (?:take|catch|get) the (?P<v>\d{1,2}[:.]\d\d|(?:line|tram|bus|train) \w{1,4})(?: (?:train|bus|"
        r"tram|ferry))?\b",
        "commute at",
        fold="words",
    ),
    states(
        r"(?P<noun>(?:the )?(?:[\w'-]{2,20} ){0,3}?[\w'-]{2,20}){NOW} costs?{NOW} "
        + _N
        + r"(?: ?(?:euros?|dollars|pounds|€|£))?"
        r" (?:a|per|an|each) (?:day|week|month|year|hour|person|night|lesson|session|term)\b",
        "price:{noun*}",
        fold="number",
    ),
)
"""Rules of numbers."""

TITLED: Final = (
    Rule(
        _NOT_TODAY + _BARE + r"(?P<noun>(?-i:[A-Z])[\w'-]{2,20})(?:'s| is){NOW} at " + _CLOCK + r"\b",
        (Gift("time:{noun*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        _NOT_TODAY + _BARE + r"(?P<noun>(?-i:[A-Z])[\w'-]{2,20})(?:'s| is){NOW} (?P<v>{WEEKLY})\b",
        (Gift("day:{noun*}", "{v}", "days"),),
        recurring=True,
    ),
    Rule(
        _NOT_TODAY + _BARE + r"(?P<noun>(?-i:[A-Z])[\w'-]{2,20}) (?P<verb>starts|begins|ends|finishes|opens|"
        r"closes){NOW} at " + _CLOCK + r"\b",
        (Gift("time:{verb+noun*}", "{v}"),),
        recurring=True,
    ),
    states(
        r"(?!{NOBODY}\b)(?P<v>{PERSON})(?:'s| is){NOW} (?:my|our) (?:new )?(?P<noun>(?:(?!{MANY_OF}\b|"
        r"{NO_STATE})[\w'&-]{2,20} ){0,2}?"
        r"(?!{MANY_OF}\b|{NO_STATE}|(?:tea|rock|hero|everything|best|world|angel|sunshine|boy|girl|home|way|cup|own|"
        r"passion|relief|fix|fave|life|jam|weakness|strength|fear|dream|hope|goal)\b)[\w'&-]{2,20}){END}",
        "{noun~}",
    ),
    states(
        r"the (?P<noun>(?:[\w'-]{2,20} ){0,2}?(?:code|pin|password|combination|key code|(?:phone|account|customer|"
        r"policy|booking|room|flat|house) number|extension) (?:for|to|at) (?:the |our |my )?"
        r"(?:[\w'-]{2,20} ){0,2}?[\w'-]{2,20}) is{NOW} (?P<v>[\w#*-]{0,12}\d[\w#*-]{0,12})\b",
        "{noun*}",
        fold="number",
    ),
)
"""Rules of what is told of without an article, and of who is what."""
