"""Rules: amounts, numbers and names of things, and counts that change."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_V: Final = r"(?P<v>{AMOUNT}|{NUMBER})(?: [a-z]{3,12}s)?{AFTER}{VALUE_END}"
_V_ALONE: Final = r"(?P<v>{AMOUNT}|{NUMBER}){AFTER}{VALUE_END}"
_FROM: Final = r"(?: from (?:{AMOUNT}|{NUMBER}))?"
_RISES: Final = (
    r"(?:increased|improved|risen|rose|grown|grew|gone up|went up|dropped|fallen|fell|decreased|"
    r"reduced|gone down|went down|been raised|"
    r"been increased|been reduced|been cut|been set|been lowered|was raised|was increased|was "
    r"reduced|was cut|was set|was lowered|is set|"
    r"raised|climbed|jumped|shrunk|changed|reached|hit|doubled|expanded|been updated|was updated)"
)
_SET: Final = (
    r"(?:set|raised|increased|changed|extended|cut|lowered|reduced|updated|bumped|improved|"
    r"decreased|brought|pushed|grew|expanded|boosted|got|upped)"
)
_THE: Final = r"(?:the|my|our)"
_NOT_IT: Final = (
    r"(?!question|answer|point|problem|issue|guess|code|function|model|output|result|error|"
    r"example|formula|equation)"
)

MEASURED: Final = (
    states(
        r"(?:the )?number of (?P<noun>[\w-]{2,20}(?: [\w-]{2,20}){0,3}?)(?: (?:i've|i have|we've|we "
        r"have|that|in|on|of) [\w' -]{1,50}?)? (?:has |have |is |was )?(?:now |recently )?(?:"
        + _RISES[3:]
        + _FROM
        + r"(?: to)? "
        + _V,
        "count:{noun*}",
        "{v}",
        "number",
    ),
    states(
        rf"{_THE} {{NOUN}}(?:'s|'ve| has| have)?(?: now| recently| since| further| just| already| also|"
        rf" slowly| finally| only)* {_RISES}(?: (?:significantly|slightly|further))?{_FROM}(?: (?:to|"
        rf"at|by another|up to))? {_V}",
        "{noun@}",
        "{v}",
        "number",
    ),
    states(
        rf"{{I}}(?:'ve| have)? {{ADV}}(?:also )?{_SET} (?:the |my |our )?{{NOUN}}{_FROM} (?:to|at) "
        rf"{_V}",
        "{noun@}",
        "{v}",
        "number",
    ),
    states(
        rf"{_THE} {_NOT_IT}{{NOUN}}(?: now| currently)?(?:'s| is| are| averages| stands at| sits "
        rf"at)(?: now| currently| still| actually| at| around| about| only| set to| up to)* {_V_ALONE}",
        "{noun@}",
        "{v}",
        "number",
    ),
    states(
        rf"{{GOT}} (?:an? )(?P<noun>(?:[\w-]{{1,20}} ){{0,3}}(?:{{MEASURE}})) of {_V}(?: for "
        rf"(?P<of>(?:the |my |our )?(?:[\w-]{{1,20}} ){{0,4}}?[\w-]{{1,20}}){{STOP_OF}})?",
        "{noun+of@}",
        "{v}",
        "number",
    ),
    states(
        r"{I}(?:'ve| have)? {ADV}(?:achieved|reached|hit|maintained) "
        r"(?P<v>\d{1,3}(?:\.\d{1,2})?%) {NOUN}{STOP}",
        "{noun@}",
        "{v}",
        "number",
    ),
    Rule(
        rf"\b{_THE} {{NOUN}} (?:has |have )?(?:recently |further )?{_RISES} from (?:{{AMOUNT}}|{{NUMBER}}) to {_V}",
        (Gift("{noun@}", "{v}", "number"),),
        anywhere=True,
    ),
    Rule(
        rf"\b(?:improved|reduced|increased|cut|raised|lowered|decreased|improving|increasing|reducing|"
        rf"cutting|lowering|boosted|boosting) {_THE} {{NOUN}} from (?:{{AMOUNT}}|{{NUMBER}}) to {_V}",
        (Gift("{noun@}", "{v}", "number"),),
        anywhere=True,
    ),
    Rule(
        r"\b(?:a|the|my|our) (?:new )?(?P<noun>(?:[\w-]{1,20} ){0,3}(?:budget|quota|salary|limit|"
        r"target)) of " + _V,
        (Gift("{noun@}", "{v}", "number"),),
        anywhere=True,
    ),
    states(rf"{_THE} {{NOUN}} (?:now )?costs? (?:me |us )?(?P<v>{{AMOUNT}})", "price:{noun*}", "{v}", "number"),
    states(r"(?:actually |no |wait )?(?:it's|it is) (?:now|actually) " + _V_ALONE, "{it}", "{v}", "number"),
)

COUNTS: Final = (
    states(
        r"{HAVE} {ADV}(?P<verb>read|completed|finished|solved|written|watched|visited|collected|"
        r"published|learned|learnt|recorded|done|run|applied to|merged|passed|sold|built|fixed|"
        r"secured|attended|tried|cooked|saved|lost|seen|beaten|translated|reviewed) (?:a total of "
        r")?(?P<v>{COUNT}) (?P<noun>(?!(?:hours?|days?|weeks?|months?|years?|minutes?|times?|euros|"
        r"dollars|pounds|problems|exercises|tasks|questions|lessons|steps|things|of)\b)[\w-]{2,20}(?: (?!(?:so|with|"
        r"in|on|at|for|from|since|this|by|and|of|to|already|now|as|"
        r"using|per|after|before|over)\b)[\w-]{2,20}){0,3}(?: and [\w-]{2,20} [\w-]{2,20}s\b)?)(?! "
        r"(?:a|per) )",
        "count:{verb*} {noun*}",
        "{v}",
        "number",
    ),
    states(
        rf"{_THE} {{NOUN}} (?:now |currently |already )?(?:has|have|contains|includes)(?: now| grown "
        rf"to| a total of)? (?P<v>{{COUNT}}) (?P<what>(?!(?:hours?|days?|weeks?|months?|years?|"
        rf"minutes?|questions?|problems|options|ways|issues|parts|of)\b)[\w-]{{2,20}}(?: "
        rf"[\w-]{{2,20}})?){{END}}",
        "count:{noun~} {what*}",
        "{v}",
        "number",
    ),
    states(
        r"(?:{I}|{HAVE}) (?:now |currently |already )?have (?:now )?a total of (?P<v>{COUNT}) "
        r"(?P<noun>[\w-]{2,20}(?: [\w-]{2,20}){0,2}?){END}",
        "count:{noun*}",
        "{v}",
        "number",
    ),
)

EARNINGS: Final = (
    states(
        r"{I} {ADV}(?:make|earn) (?P<v>{AMOUNT})(?= (?:a|per) (?:year|month|week|hour)\b)", "salary", "{v}", "number"
    ),
    states(
        r"{I} (?:now|currently) have (?P<v>{COUNT}) (?P<noun>(?!(?:hours?|days?|weeks?|questions?|"
        r"problems?|options)\b)"
        r"[\w-]{2,20}(?: [\w-]{2,20})?){END}",
        "count:{noun*}",
        "{v}",
        "number",
    ),
)

NAMED: Final = (
    states(
        r"{MY} (?P<noun>time ?zone|timezone|blood type|currency|favourite language|operating system|"
        r"framework|database|editor|ide|stack|team name|project name|username|license plate|publisher|"
        r"bank|landlord|doctor|dentist|therapist|coach|mentor|tutor|professor|advisor|lawyer|"
        r"accountant|nickname|star sign|zodiac sign|locale|region) (?:is|=) (?:now )?(?P<v>{NAME}|"
        r"[ABO]{1,2}[+-]){END}",
        "{noun*}",
    ),
)
