"""Rules: what things of the speaker's are, where and when they are, and how many there are. Any noun may name one."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_THE: Final = r"(?:(?:the|my|our) )?"
_NOUN: Final = r"(?P<noun>{PHRASE})"
_BE: Final = r"(?:'s| is| are|'re){NOW}"
_EVENT: Final = (
    r"(?P<noun>(?:[\w'&.-]{1,20} ){0,4}?(?:{EVENT})(?: (?:with|for|of|on|in) (?:[\w'&-]{1,20} ){0,3}?[\w'&-]{1,20})?)"
)
_NO_SPOT: Final = (
    r"(?!(?:the |an? |my |our )?(?:end|beginning|start|way|works|moment|morning|afternoon|evening|night|middle|future|"
    r"past|air|calendar|list|agenda|diary|schedule|track|hold|time|question|danger|full|process|order|week|month|year|"
    r"least|most|first|last|risk|place|progress|hour|minute|day|hours|minutes|weekend|books|cards|table|phone|"
    r"house|line|same|house|{MONTH}|\w{3,6}day)\b)"
)
_SPOT: Final = (
    _NO_SPOT + r"(?P<v>room [\w.-]{1,10}|(?:the |an? |our |my )?(?:[\w'-]{2,20} ){0,2}?[\w'-]{2,20} (?:near|in|at|on) "
    r"(?!{MONTH}\b){NAME}|"
    r"{NAME}|(?:the|an?|our|my) (?:[\w'&-]{2,20} ){0,2}?[\w'&-]{2,20})"
)
_UNIT: Final = (
    r"(?P<what>(?!(?:hours?|days?|weeks?|months?|years?|minutes?|times?|more|less|of|and|or|ways|"
    r"options)\b)[a-z-]{3,20})"
)
_HOLDS: Final = (
    r"(?P<verb>has|have|takes|take|needs|need|allows|allow|uses|holds|contains|includes|serves|seats|carries)"
)
_ABOUT: Final = r"(?: (?:up to|about|around|roughly|exactly|at most|at least|over|only|just))?"

PLACES: Final = (
    states(
        r"(?:(?:the|my|our) )?"
        + _EVENT
        + r"(?:"
        + _BE
        + r"(?: going to be| being)?(?: held| hosted| taking place| happening)?"
        r"|(?: will| 'll|'ll){NOW} be(?: held| hosted)?| takes place| will take place| happens)(?: by us)? (?:in|at|"
        r"on) " + _SPOT + r"{END}",
        "place:{noun~}",
    ),
    states(
        r"(?:{I}(?:'ve| have)? {ADV})?(?:moved|changed|switched|relocated) (?:the|my|our) "
        + _EVENT
        + r" to (?!{MONTH}\b|the \d|\d|\w{3,6}day|next\b|this\b)"
        + _SPOT
        + r"{END}",
        "place:{noun~}",
    ),
    states(
        r"(?:for|over|during|at) (?:the |our |my )?(?P<noun>{SEASON})(?: holidays?| vacation| break)?,? (?:we're|we "
        r"are|i'm|i am){NOW} (?:going|flying|"
        r"driving|travelling|traveling|off) to (?P<v>{NAME}){END}",
        "trip:{noun*}",
    ),
    states(
        r"(?:we're|we are|i'm|i am){NOW} (?:going|flying|driving|travelling|traveling|off) to (?P<v>{NAME}) (?:for|"
        r"over|at|in) "
        r"(?:the |our |my )?(?P<noun>{SEASON})(?: holidays?| vacation| break)?{END}",
        "trip:{noun*}",
    ),
    states(
        r"{I}(?:'ve| have)?{NOW} (?:booked|rented|found|reserved) (?:an? |the )?[\w -]{3,30} in (?P<v>{NAME}) for "
        r"(?:the |our |my )?(?P<noun>{SEASON})(?: holidays?| vacation| break)?{END}",
        "trip:{noun*}",
    ),
)
"""Rules of where something takes place."""

_WITH: Final = r"(?:go to the |go to |go for an? |go |do |have an? |have |take )?"
_DONE: Final = r"(?P<what>(?!have to|want|need|am\b|was\b)(?:[\w'-]{2,20} ){0,3}?[\w'-]{2,20})"

RECURRING: Final = (
    Rule(
        _THE + r"(?!i\b|we\b|it\b)" + _NOUN + _BE + r" (?:always )?(?P<v>{WEEKLY})(?= *(?:$|[,;:(]|\w+ )).{0,40}$",
        (Gift("day:{noun~}", "{v}", "days"),),
        recurring=True,
    ),
    Rule(
        _THE + r"(?!i\b|we\b|it\b)(?P<noun>(?:[\w'-]{1,20} ){0,3}[\w'-]{2,20}){NOW} (?:takes? place|meets?|happens?|"
        r"falls?)(?: on)? "
        r"(?P<v>{WEEKLY}){END}",
        (Gift("day:{noun~}", "{v}", "days"),),
        recurring=True,
    ),
    Rule(
        r"(?:(?:our|my|the) )?(?P<noun>(?:[\w'-]{1,20} ){0,2}[\w'-]{2,20}s){NOW} (?P<verb>start|begin|end|finish) "
        r"(?P<v>on {WEEKLY})\b",
        (Gift("day:{verb+noun*}", "{v}", "days"),),
        recurring=True,
    ),
    Rule(
        r"{I}{NOW} " + _WITH + _DONE + r" (?P<v>on {WEEKLY}){NOW}(?:{STOP_OF}|{END})",
        (Gift("routine:{what*}", "{v}"),),
        recurring=True,
    ),
    Rule(r"(?P<v>on {WEEKLY}),? {I}{NOW} " + _WITH + _DONE + "$", (Gift("routine:{what*}", "{v}"),), recurring=True),
)
"""Rules of days that come again."""

AMOUNTS: Final = (
    states(
        r"for (?:the |my |our )(?P<of>(?:[\w'-]{1,20} ){0,3}?[\w'-]{2,20}),? {I}{NOW} (?:have|got|have got) (?:an? )"
        r"(?P<noun>(?:[\w-]{1,20} ){0,1}(?:{MEASURE})) of (?P<v>{AMOUNT}|{NUMBER})",
        "{noun+of@}",
        "{v}",
        "number",
    ),
    states(
        r"(?P<noun>(?:{MEASURE})(?: for (?:the |my |our )?(?:[\w'-]{1,20} ){0,3}?[\w'-]{2,20})?)(?: is| are|:){NOW}"
        + _ABOUT
        + r" (?P<v>{AMOUNT}|{NUMBER}){AFTER}{VALUE_END}",
        "{noun@}",
        "{v}",
        "number",
    ),
    states(
        r"(?:the |my |our )?(?!i\b|we\b|it\b)(?P<noun>{PHRASE}){NOW} "
        + _HOLDS
        + r"{NOW}"
        + _ABOUT
        + r" (?P<v>\d[\d,.]{0,9} ?(?:grams?|g|kg|ml|l|litres?|liters?|cups?|tablespoons?|teaspoons?|minutes?|"
        r"hours?)) of "
        r"(?P<of>[a-z][a-z -]{2,30}?){STOP_OF}",
        "count:{noun~} {of*}",
        "{v}",
        "number",
    ),
    states(
        r"(?:the |my |our )?(?!i\b|we\b|it\b)(?P<noun>{PHRASE}){NOW} (?:allows?|permits?|holds?|seats?|serves?|"
        r"carries){NOW}" + _ABOUT + r" (?P<v>{COUNT}) " + _UNIT + r"(?: (?:an?|per|every) \w+)?{END}",
        "count:{noun~} {what*}",
        "{v}",
        "number",
    ),
    states(
        r"{I}{NOW} have{NOW}" + _ABOUT + r" (?P<v>{COUNT}) (?P<noun>(?:[a-z-]{2,15} ){0,1}(?:{COUNTED})){END}",
        "count:{noun*}",
        "{v}",
        "number",
    ),
    states(
        r"(?:we're|we are){NOW} an? team of (?P<v>{COUNT})(?: people)?{END}",
        "team size",
        "{v}",
        "number",
    ),
    states(
        r"(?:now |with .{2,20} joining )?(?:there are|there're){NOW} (?P<v>{COUNT}) of us (?:on|in) the team{END}",
        "team size",
        "{v}",
        "number",
    ),
    states(
        r"{I}(?:'ve| have){NOW} (?:put aside|set aside|saved up|saved|put away)"
        + _ABOUT
        + r" (?P<v>{AMOUNT})(?: (?:so far|already))? for (?:the |our |my |an? )(?P<of>(?:[\w'-]{2,20} "
        r"){0,2}?[\w'-]{2,20}){END}",
        "savings:{of*}",
        "{v}",
        "number",
    ),
    states(
        r"(?:my|our) (?P<noun>{PHRASE})" + _BE + _ABOUT + r" (?P<v>{AMOUNT}){AFTER}{VALUE_END}",
        "{noun~}",
        "{v}",
        "number",
    ),
    states(
        r"the (?P<noun>{PHRASE} (?:for|from|of) (?:the |my |our )?{PHRASE})"
        + _BE
        + r" (?P<v>{AMOUNT}){AFTER}{VALUE_END}",
        "{noun~}",
        "{v}",
        "number",
    ),
)
"""Rules of how many and how much."""

PERSONS: Final = (
    states(
        r"(?!{NOBODY}\b)(?P<who>{CAP})(?:'s| is| just turned| turned){NOW} (?P<v>{COUNT})(?: years? old\b|(?=(?: "
        r"now| already)?(?:$|,)))",
        "age:{who*}",
        "{v}",
        "number",
    ),
    Rule(
        r"(?!{NOBODY}\b)(?P<who>{CAP})'s birthday(?:'s| is){NOW} (?:on )?(?:the )?(?P<v>{MONTH}\.? \d{1,2}|"
        r"\d{1,2}(?:st|nd|rd|th)? (?:of )?{MONTH})",
        (Gift("birthday:{who*}", "{v}", "birthday"),),
        recurring=True,
    ),
)
"""Rules of the ages and birthdays of people who are named."""

TOKENS: Final = (
    states(
        _THE
        + r"(?P<noun>(?:[\w'-]{1,20} ){0,3}(?:wifi|wi-fi|network|hostname|host|server|branch|username|handle|password|"
        r"passphrase|channel|domain|bucket|repo|repository|namespace|code|locker|plate|room|gate|platform|seat|"
        r"table|lane|bib)(?: name| number)?)"
        + _BE
        + r" (?:number )?(?P<v>(?:(?=[\w.@/-]*[-_.\d@/])[\w.@/-]{2,40}\w|\d[\w.-]{0,10}))(?= *(?:$|[,;:()]| \w))",
        "{noun~}",
    ),
    states(
        r"(?:my|our|the) (?P<noun>(?:[\w'-]{1,20} ){0,3}[\w'-]{2,20}){NOW} (?:is on|runs on|is running|is running "
        r"on|uses|is at|"
        r"is now on|targets|requires) (?P<of>{CAP}(?: {CAP})?) (?P<v>{VERSION}){END}",
        "version:{noun+of*}",
        "{v}",
        "number",
    ),
    states(
        r"(?:(?:my|our|the) )?(?P<noun>(?:[\w'-]{1,20} ){1,4}?){NOW}(?:(?:sits?|lives?|stored|kept|hosted|deployed|"
        r"is stored|"
        r"are stored|is hosted|are hosted|is deployed|is kept|are kept) (?:in|on|at)) (?P<v>{NAME}){END}",
        "kept:{noun~}",
    ),
    Rule(
        r"(?:my|our) (?:new )?e-?mail(?: address)?(?:(?:'s| has)? ?{NOW} ?changed to| is{NOW}) "
        r"(?P<v>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})",
        (Gift("email", "{v}"),),
    ),
    Rule(
        r"(?:please )?use (?P<v>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}) as my e-?mail",
        (Gift("email", "{v}"),),
    ),
    Rule(
        r"(?:please )?use (?P<v>\+?\d[\d ()-]{5,20}\d) as my (?:phone )?number",
        (Gift("phone number", "{v}", "phone"),),
    ),
    states(r"{AM}{NOW} at (?:level )?(?P<v>[abc][12]) in (?P<noun>{LANGUAGE})", "level:{noun*}"),
    states(
        r"(?:{I}(?:'ve| have)? {ADV})?passed (?:the |my )?(?P<v>[abc][12])(?: (?:exam|test))? in (?P<noun>{LANGUAGE})",
        "level:{noun*}",
    ),
    states(r"my (?P<noun>{LANGUAGE})(?: level)?(?:'s| is){NOW}(?: at| around)? (?P<v>[abc][12])\b", "level:{noun*}"),
    states(r"(?:i'm|i am){NOW} (?P<v>(?:a|b|ab|0|o) (?:positive|negative))\b", "blood type", fold="number"),
    states(
        r"{MY} blood (?:type|group)(?:'s| is){NOW} (?P<v>(?:a|b|ab|0|o) (?:positive|negative))\b",
        "blood type",
        fold="number",
    ),
)
"""Rules of names, versions and levels."""
