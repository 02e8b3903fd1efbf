"""Rules: the speaker's people and animals by name, and how many there are."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_CHILD: Final = r"(?P<kind>son|daughter|baby boy|baby girl|baby|child)"
_NAMED: Final = r"(?:named|called|whose name is|by the name of)"
_PET: Final = r"(?P<kind>{PETS})"
_GET: Final = r"(?:{I}(?:'ve| have)? {ADV}(?:adopted|got|bought|rescued|have|own)|{GOT})"

PEOPLE: Final = (
    Rule(
        r"{MY} (?P<whose>{KIN})(?:'s name is| is called| is named|'s called|'s named) (?:now )?(?P<v>{PERSON}){END}",
        (Gift("{whose^}", "{v}"),),
    ),
    Rule(
        r"{MY} (?:new |current )?(?P<whose>{KIN})(?:'s| is) (?!{LANGUAGE}\b|\w+(?:ese|ish|ican|anian)\b|"
        r"Catholic|Muslim|Christian\b|Mexican|OK)(?P<v>{PERSON}){END}",
        (Gift("{whose^}", "{v}"),),
    ),
    Rule(
        rf"{{I}}(?:'ve| have)?(?: got)? (?:an? )(?:[\w-]{{1,20}} ){{0,2}}{_CHILD},? {_NAMED} "
        rf"(?P<v>{{PERSON}}){{END}}",
        (Gift("child:{v}", "{kind}"),),
    ),
    Rule(
        r"{I} (?:have|'ve got|have got) (?:two|three|four|five|\d) (?:kids|children|sons|"
        r"daughters)(?:[,:]| named| called) "
        r"(?P<v>{CAP}(?:, {CAP}){0,4},? and {CAP})",
        (Gift("child:{v}", "child", "list"),),
    ),
    Rule(
        r"{MY} (?:kids|children|sons|daughters)(?:'s?)?(?: names)? are (?:named |called "
        r")?(?P<v>{CAP}(?:, {CAP}){0,4},? and {CAP})",
        (Gift("child:{v}", "child", "list"),),
    ),
    Rule(
        rf"{_GET} (?:an? |our |my )(?:new |little |rescue |[\w-]{{1,20}} ){{0,2}}?{_PET},? {_NAMED} "
        rf"(?P<v>{{PERSON}}){{END}}",
        (Gift("pet:{v}", "{kind}"),),
    ),
    Rule(
        rf"(?:an? |our |my )(?:[\w-]{{1,20}} ){{0,2}}?{_PET} {_NAMED} (?P<v>{{PERSON}}){{END}}",
        (Gift("pet:{v}", "{kind}"),),
    ),
    Rule(
        rf"{{MY}} (?:new |old |little )?{_PET}(?:'s name is| is called| is named|'s called| is) "
        rf"(?P<v>{{PERSON}}){{END}}",
        (Gift("pet:{v}", "{kind}"),),
    ),
    states(
        r"{GOT} (?P<n>{COUNT}) (?:younger |older |little |big |grown )?(?P<v>{RELATIVES}|"
        r"{PETS_MANY}){END}",
        "count:{v*}",
        "{n}",
        "number",
    ),
    states(r"{GOT} an? (?:new |old |little |[a-z]{3,10} )?(?P<v>{PETS}){STOP}", "pet:{v}", "{v}"),
    states(r"{I} {ADV}adopted an? (?P<v>{PETS}){END}", "pet:{v}", "{v}"),
)
