"""Rules: what somebody changed, moved, raised or lowered, and to what; and what one uses or belongs to."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_ANYBODY: Final = r"(?:{I}|they|he|she|{CAP}|(?:the|my|our) (?:[\w-]{2,20} ){0,2}?[\w-]{2,20})(?:'ve| have| has|'s)?"
_CHANGED: Final = (
    r"{NOW} (?:moved|pushed|pushed back|changed|switched|bumped|raised|lowered|cut|increased|reduced|dropped|upped|"
    r"brought|"
    r"brought forward|pulled forward|shifted|rescheduled|postponed|set|updated|extended|shortened|put)(?: up| down| "
    r"back)?"
)
_WENT: Final = (
    r"(?:'s| is| are| has| have|'ve)?{NOW} (?:went|gone|risen|rose|dropped|fell|fallen|climbed|jumped|grew|grown|"
    r"crept|been raised|"
    r"been lowered|been cut|been increased|been reduced|been moved|been changed|was raised|was lowered|was cut|was "
    r"increased|"
    r"was changed|was moved|were cut|changed|moved|switched)(?: up| down| back)?"
)
_NOUN: Final = r"(?:the|my|our) (?P<noun>(?:[\w'&-]{1,20} ){0,4}?[\w'&-]{2,20})"
_FROM: Final = r"(?: from [\w .,:€$£-]{1,30}?)?"
_N: Final = r"(?P<v>{AMOUNT}|{NUMBER}){AFTER}{VALUE_END}"
_AT: Final = r"(?:(?:up|down) )?(?:to|at)"
_WITHOUT_TIME: Final = r"(?!{MONTH}\b|{LANGUAGE}\b|{NOBODY}\b|(?-i:[A-Z]\w{2,8}day)\b)"
_OWNER: Final = r"(?:{MY} |(?=(?!{NOBODY}\b){CAP}'s ))"
_USES: Final = (
    r"(?:support|play for|bank with|train with|sing with|row for|ski for|sleep (?:in|on)|park (?:in|on|at|behind)|"
    r"sit (?:in|by|next to|on)|"
    r"share (?:an office|a flat|a room|a house|a desk) with|live with|read on|game on|cook on|cook with|heat with|"
    r"commute by|"
    r"commute with|ride|lodge with|board at|room with|volunteer (?:at|for|with)|play|stay (?:at|with|in)|work out "
    r"(?:at|in)|"
    r"train at|swim at|climb at|shop at|vote for|drum for|am dating|'m dating|am seeing|'m seeing|date|intern at|"
    r"study under)"
)

TURNED: Final = (
    Rule(
        _ANYBODY + _CHANGED + " " + _NOUN + _FROM + r" (?:to|until|till|for) (?P<when>.{1,60})",
        (Gift("{noun~}", "{when}", "when"),),
        future=True,
    ),
    states(_ANYBODY + _CHANGED + " " + _NOUN + _FROM + " " + _AT + " " + _N, "{noun~}", fold="number"),
    states(_NOUN + _WENT + _FROM + " " + _AT + " " + _N, "{noun~}", fold="number"),
    states(
        _NOUN + r"(?:'s| is| are| stands?| sits?){NOW}(?: up| down| back)? (?:at|to) " + _N, "{noun~}", fold="number"
    ),
    states(
        _NOUN + r"(?:'s| is| are){NOW} (?P<v>{AMOUNT}|\d[\d,.]{0,9} ?(?:%|"
        r"percent)){AFTER}{VALUE_END}",
        "{noun~}",
        fold="number",
    ),
    states(
        r"{I}(?:'re| are|'m| am){NOW} (?:at|up to|down to) (?P<v>{COUNT}) "
        r"(?P<of>(?!{CAP})[a-z-]{3,20}s){END}",
        "count:{of*}",
        fold="number",
    ),
)
"""Rules of what was changed to a date, a number or an amount."""

BELONGINGS: Final = (
    states(
        r"{I}{NOW} play (?P<v>(?:[\w-]{2,15} ){0,1}[\w-]{2,15}) (?:in|for|with) (?:the "
        r")?(?P<noun>{NAME}){END}",
        "part:{noun*}",
    ),
    states(
        r"{AM}{NOW} (?:the |on )(?P<v>(?:[\w-]{2,15} ){0,1}[\w-]{2,15}) (?:of|for|in|at) (?:the|our|my) "
        r"(?P<noun>(?:[\w'&-]{2,20} ){0,2}?(?:club|team|band|choir|board|committee|association|project|orchestra|"
        r"crew|group|squad|pta)){END}",
        "part:{noun*}",
    ),
    states(
        r"{I}{NOW} (?P<verb>" + _USES + r") (?:the |an? |my )?" + _WITHOUT_TIME + r"(?P<v>{NAME}|(?<=park on "
        r")(?:level|floor) \w{1,3}){END}",
        "does:{verb*}",
    ),
    states(
        r"(?!{NOBODY}\b|{MUM}\b)(?P<who>{CAP}){NOW} (?P<verb>goes to|attends|is at|is in|drives|rides|rows for|"
        r"plays for|studies at|"
        r"sleeps in|sings in|boards at|trains at|trains with) (?:the )?"
        + _WITHOUT_TIME
        + r"(?P<v>{NAME}|(?:class|group|year|grade) \w{1,3}){END}",
        "{verb+who*}",
    ),
    states(
        _OWNER + r"(?P<noun>(?:(?!{MANY_OF}\b)[\w'&-]{1,20} ){0,3}?(?!{MANY_OF}\b)[\w'&-]{2,20})(?:'s| is| "
        r"are){NOW} " + _WITHOUT_TIME + r"(?P<v>{PERSON}|{NAME}){END}",
        "{noun~}",
    ),
    states(
        r"(?:the|my|our) (?P<noun>(?:[\w'-]{2,20} ){0,3}?[\w'-]{2,20}) (?:is|are){NOW} (?P<verb>[a-z]{3,12}ed|run|"
        r"built|made|taught|led) by (?:the )?" + _WITHOUT_TIME + r"(?P<v>{PERSON}|{NAME}){END}",
        "by:{noun+verb*}",
    ),
    Rule(
        r"(?P<who>{CAP})'s favou?rite (?P<kind>(?:[\w'-]{1,20} ){0,2}?(?!thing|part|one)[\w'-]{2,20}) (?:is|"
        r"are){NOW} (?P<v>[\w'& -]{2,40}?){STOP}",
        (Gift("favourite:{who+kind*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        r"(?!{NOBODY}\b)(?P<v>{NAME}) (?:is|are){NOW} (?:my|our) (?:new |all[- ]time )?favou?rite "
        r"(?P<kind>(?:[\w'-]{1,20} ){0,1}[\w'-]{2,20}){STOP_OF}",
        (Gift("favourite:{kind}", "{v}"),),
        preference=True,
        recurring=True,
    ),
)
"""Rules of what one belongs to, and what is whose."""
