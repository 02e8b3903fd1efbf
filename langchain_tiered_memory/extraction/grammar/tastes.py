"""Rules: likes and dislikes, favourites, what one has, can and does, and standing instructions."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, states

_POINTING: Final = (
    r"(?!(?:it|that|this|these|those|them|him|her|you|your|how|when|what|where|why|who|the|his|"
    r"their|its|every|everything|"
    r"everyone|nothing|something|anything|one|to (?:say|hear|see|admit|think|know|be|ask|tell|"
    r"bother|interrupt)|being (?:able|here)|"
    r"hearing|seeing|working with|talking|having|getting|each|all|both|such|so|some|any|another|"
    r"an|a few|a lot|more|me|"
    r"myself|using|knowing|and|but|or|not|as|for|if|in|on|to$|to(?= *(?:$|[,.-]))|everywhere|"
    r"anything|simple|just|much|very|most|about|at|with|of|is|was|were|are|like|\d)\b)"
)
_THING: Final = (
    _POINTING + r"(?P<v>[\w'&/.,+ -]{2,80}?)(?: (?:very much|a lot|so much|(?:the )?(?:most|best)))?"
    r"(?: any ?more| any longer)?{TASTE_END}"
)
_LIKES: Final = Gift("taste:{v}", "likes", "list")
_DISLIKES: Final = Gift("taste:{v}", "dislikes", "list")
_NO_LONGER: Final = Gift("taste:{v}", "likes", "list", negated=True)
_FAVOURITE: Final = (
    r"{MY} (?:all[- ]time )?favou?rite (?P<kind>(?:[\w'-]{1,20} ){0,2}?(?!thing|part|memory|"
    r"moment|way|time|place to|one)[\w'-]{2,20}) (?:is|are)"
)
_HAD: Final = r"(?:'ve| have|'ve just| have just)?"


def _likes(pattern: str, gift: Gift) -> Rule:
    return Rule(pattern, (gift,), preference=True, recurring=True)


TASTES: Final = (
    _likes(
        r"{S} (?:no longer|don't|do not|doesn't|does not) (?:really )?(?:like|love|enjoy)s? "
        + _POINTING
        + r"(?P<v>[\w'& -]{2,40}?) any ?(?:more|longer){STOP}",
        _NO_LONGER,
    ),
    _likes(r"{S} no longer (?:like|love|enjoy|adore)s? " + _THING, _NO_LONGER),
    _likes(r"{S} used to (?:really )?(?:like|love|enjoy|adore) " + _THING, _NO_LONGER),
    _likes(
        r"{S} {ADV}(?:don't|do not|doesn't|does not|never) (?:really |particularly |much )?(?:like|"
        r"enjoy|love|care for) " + _THING,
        _DISLIKES,
    ),
    _likes(
        r"{S} {ADV}(?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear|can't stomach|can't "
        r"face)s? " + _THING,
        _DISLIKES,
    ),
    _likes(r"{S_AM} not (?:really )?(?:a (?:big |huge )?fan of|fond of|into|keen on) " + _THING, _DISLIKES),
    _likes(
        r"{S_AM} {ADV}(?:a (?:big |huge |massive |great )?fan of|very fond of|fond of|into|keen on|"
        r"passionate about|crazy about|obsessed with) " + _THING,
        _LIKES,
    ),
    _likes(
        r"{S} {ADV}prefers? "
        + _POINTING
        + r"(?P<v>[\w'& -]{2,40}?) (?:over|to|rather than|instead of|than) [\w' -]{2,40}",
        _LIKES,
    ),
    _likes(r"{S} {ADV}(?:love|like|enjoy|adore|prefer)s? " + _THING, _LIKES),
    Rule(
        _FAVOURITE + r" (?:now |currently )?(?P<v>(?!the\b|when\b|that\b|how\b|what\b|to\b|"
        r"not\b)[\w'&. -]{2,50}?)(?: now)?{STOP}",
        (Gift("favourite:{kind}", "{v}"),),
        preference=True,
        recurring=True,
    ),
)

INSTRUCTIONS: Final = (
    Rule(
        r"(?:please )?(?:just )?call me (?P<v>{PERSON})(?: from now on)?\.?$",
        (Gift("form of address", "{v}"),),
        preference=True,
    ),
    *(
        Rule(pattern, (Gift(),), preference=True, recurring=True, first=not pattern.startswith(("(?:i", "i ")))
        for pattern in (
            r"(?:please |can you |could you )?(?:always|never) (?:please )?{WAY} (?!(?<=give )(?:up|in)\b|it\b)\w",
            r"(?:please )?(?:don't|do not) (?:ever )?{WAY} (?!(?<=give )(?:up|in)\b|(?:it|the|th[aeio][ts]e?)\b)\w",
            (
                r"(?:from now on|going forward|in (?:the )?future),? (?:please )?(?:(?:always|never|don't|do "
                r"not) )?{WAY} \w"
            ),
            r"(?:please )?{WAY} .{2,100} (?:from now on|going forward|in (?:the )?future)$",
            r"(?:i'd|i would) (?:rather|prefer(?: that| if)?) you \w",
            r"i prefer (?:that|if) you \w",
            r"(?:i want|i need|i'd like) you to (?:always|never) \w",
        )
    ),
)

THINGS: Final = (
    Rule(
        r"{I}(?:'ve| have)? {ADV}(?:switched|moved|migrated|changed) (?:over )?from (?:an? |the |my "
        r")?(?P<old>{SHORT}) to (?:an? |the |my )?(?P<v>{SHORT}){END}",
        (Gift("uses:{old}", "yes", negated=True), Gift("uses:{v}", "yes")),
    ),
    Rule(
        r"{I} (?:no longer|don't|do not) (?:use|own) (?:an? |the |my )?(?P<v>{NAME})(?: any "
        r"?more)?{STOP}",
        (Gift("uses:{v}", "yes", negated=True),),
    ),
    Rule(r"{I} {ADV}(?:stopped using) (?:an? |the |my )?(?P<v>{NAME}){END}", (Gift("uses:{v}", "yes", negated=True),)),
    Rule(
        rf"{{I}}(?:'m|'re| am| are)? ?{_HAD}{{ADV}}(?:use|using|upgraded to|upgraded [\w' -]{{1,30}} "
        rf"to|updated to|migrated to|switched to|moved to|running) "
        r"(?P<name>{CAP}(?: {CAP}){0,2}) (?P<v>{VERSION}){END}",
        (Gift("version:{name}", "{v}", "number"),),
    ),
    Rule(r"{I} {ADV}use (?P<v>{NAME}){END}", (Gift("uses:{v}", "yes"),)),
    states(
        r"{MY} (?:new |current )?car(?:'s| is) (?:now )?(?:an? |the )?(?P<v>(?:\d{4} )?{CAP}(?: "
        r"(?:{CAP}|\d{1,4})){0,3}){END}",
        "car",
    ),
    states(
        r"{I} {ADV}drive (?:an? |my )(?:\d{4} |(?-i:[a-z]{3,8}) )?(?P<v>{CAP}(?: (?:{CAP}|"
        r"\d{1,4})){0,3}){END}",
        "car",
    ),
    states(
        r"{MY} (?:new |current )?(?P<thing>phone|laptop|computer|camera|tablet|bike|guitar|watch)(?:'s| is) (?:now )?"
        r"(?:an? )(?P<v>{CAP}(?: (?:{CAP}|"
        r"\d{1,4})){0,3}){END}",
        "{thing}",
    ),
    Rule(
        r"{I}(?:'ve| have)? {ADV}(?:sold|gave away|got rid of|lost|totaled) (?:my|our) (?:old "
        r")?(?P<v>car){END}",
        (Gift("car", None, negated=True),),
    ),
    Rule(
        r"{I}(?:'ve| have)? {ADV}(?:sold|gave away|got rid of) (?:my|our) (?:old |[a-z]{3,10} "
        r")?(?P<v>{THING}){END}",
        (Gift("owns:{v}", "yes", negated=True),),
    ),
    Rule(
        r"{I}(?:'ve| have)? {ADV}(?:own|bought|purchased) (?:an? |my |our |myself an? )(?:new |first |"
        r"own |old |used |second |small |[a-z]{3,10} ){0,2}?(?P<v>{THING}){END}",
        (Gift("owns:{v}", "yes"),),
    ),
)

SKILLS: Final = (
    Rule(
        r"{S} {ADV}(?:can )?speaks? (?P<v>(?:(?:a little|a bit of|some|fluent|basic|good|decent) )?{LANGUAGE}"
        r"(?:(?:, | and |, and | & )(?:(?:a little|a bit of|some|fluent|basic|good|decent) )?{LANGUAGE}){0,5}){END}",
        (Gift("language:{v}", "speaks", "list"),),
    ),
    Rule(
        r"{S_AM} {ADV}fluent in (?P<v>{LANGUAGE}(?:(?:, | and |, and ){LANGUAGE}){0,5}){END}",
        (Gift("language:{v}", "speaks", "list"),),
    ),
    Rule(
        r"{S}(?:'m|'ve| am| have| is| has)? ?{ADV}(?:been |started )?(?:learning|studying) "
        r"(?P<v>{LANGUAGE}(?:(?:, | and ){LANGUAGE}){0,3}){END}",
        (Gift("language:{v}", "learning", "list"),),
    ),
    states(r"{MY} (?:native language|mother tongue|first language)(?:'s| is) (?P<v>{LANGUAGE})", "native language"),
    Rule(r"{S} {ADV}(?:can )?plays? (?:the )?(?P<v>{INSTRUMENT}){END}", (Gift("skill:{v}", "yes"),)),
    Rule(r"{S} {ADV}(?:can )?play (?P<v>{GAME}){END}", (Gift("skill:{v}", "yes"),)),
    Rule(
        r"{S} {ADV}(?:can )?(?:code|program|know how to code|know how to program) in "
        r"(?P<v>{CODE}){END}",
        (Gift("skill:{v}", "yes"),),
    ),
)
