"""Rules: what one does as a rule, and no more; and tastes that change."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule

_VERB: Final = (
    r"(?:host|hosts|run|runs|coach|coaches|volunteer|volunteers|teach|teaches|tutor|tutors|attend|attends|share|shares|"
    r"rent|rents|sublet|sublets|play|plays|sing|sings|train|trains|mentor|mentors|edit|edits|produce|produces|"
    r"foster|fosters|bake|brew|knit|paint|climb|dance|meditate|journal|fast|collect|donate|grow|babysit|sew|surf|"
    r"ski|sail|skate|"
    r"cycle|swim|jog|fish|hunt|lease|busk|dj|draw|write|model|act|debate|fly|dive|camp|keep|breed|repair|restore|"
    r"commute|commutes|freelance|freelances|blog|blogs|stream|streams|row|rows|box|boxes|fence|fences)"
)
_DOING: Final = (
    r"(?:hosting|running|coaching|volunteering|teaching|tutoring|attending|sharing|renting|subletting|playing|singing|"
    r"training|mentoring|baking|brewing|knitting|painting|climbing|dancing|meditating|journaling|fasting|collecting|"
    r"donating|growing|"
    r"babysitting|sewing|surfing|skiing|sailing|skating|cycling|swimming|jogging|fishing|hunting|leasing|busking|"
    r"drawing|writing|modelling|acting|"
    r"debating|flying|diving|camping|keeping|breeding|repairing|restoring|editing|producing|fostering|commuting|"
    r"freelancing|blogging|streaming|rowing|boxing|fencing)"
)
_LESSONS: Final = r"(?P<what>(?:[\w'-]{2,20} ){0,2}(?:lessons|classes|courses))"
_OBJECT: Final = (
    r"(?: (?:for|at|in|with|on|to))?(?: (?:the|an?|my|our|some))?(?: (?P<of>(?:(?!on\b)[\w'-]{2,20} "
    r"){0,2}?[\w'-]{2,20}))?"
)
_MORE: Final = r"(?: (?:any ?more|any longer|these days|now))"
_ENDED: Final = (
    r"(?:'ve| have|'s| has)?{NOW} (?:stopped|quit|given up|gave up|dropped|done with|finished with|finally stopped|"
    r"had to stop|"
    r"had to give up)"
)
_HAS: Final = (
    r"(?P<what>allotment|[\w-]{2,15} subscription|[\w-]{2,15} membership|season ticket|cleaner|babysitter|nanny|"
    r"chickens|bees|hens|pool|sauna|greenhouse|campervan|motorhome|dishwasher|tumble dryer|second car|"
    r"company car|au pair|personal trainer|gardener|studio|shed|workshop|museum card|library card|gym|cottage|"
    r"caravan|trampoline|"
    r"treadmill|air conditioning|fireplace|smart ?watch|side job|second job|side project|"
)
_HAS_MORE: Final = (
    r"garden|balcony|cabin|car|dog walker|lodger|housemate|flatmate|storage unit|parking (?:space|"
    r"spot)|landline|tv|mortgage|tenant)"
)

_WHO: Final = r"(?:i|we|(?P<who>{CAP}))"


def _does(pattern: str, slot: str, *, negated: bool = False) -> Rule:
    return Rule(pattern, (Gift(slot, "yes", negated=negated),), recurring=True)


HABITS: Final = (
    _does(
        _WHO + _ENDED + r" (?:taking |my |the |with |having )?" + _LESSONS + r"(?:{END}|{STOP})",
        "does:{what+who*}",
        negated=True,
    ),
    _does(
        _WHO + r" (?:no longer|don't|doesn't) takes? " + _LESSONS + _MORE + r"?{STOP}", "does:{what+who*}", negated=True
    ),
    _does(
        _WHO + r"{NOW} (?:take|takes|have|has|attend|attends|go to|goes to) " + _LESSONS + r"{END}", "does:{what+who*}"
    ),
    _does(r"{I}" + _ENDED + r" (?P<what>" + _DOING + r")" + _OBJECT + r"{END}", "does:{what+of*}", negated=True),
    _does(
        r"{I} (?:don't|do not) (?P<what>" + _VERB + r")" + _OBJECT + _MORE + r"{STOP}", "does:{what+of*}", negated=True
    ),
    _does(r"{I} no longer (?P<what>" + _VERB + r")" + _OBJECT + r"{END}", "does:{what+of*}", negated=True),
    Rule(
        r"(?:on \w{3,6}days?,? |every [\w ]{3,20},? )?{I}{NOW} (?P<what>host|coach|volunteer|teach|tutor|share|rent|"
        r"sublet|mentor|"
        r"foster)" + _OBJECT + r"{END}",
        (Gift("does:{what+of*}", "yes"), Gift("does:{what*}", "yes", needs="of")),
        recurring=True,
    ),
    _does(r"{I}(?:'m| am|'ve been)?{NOW} (?P<what>see|seeing) an? (?P<of>{ROLE}){END}", "does:{what+of*}"),
    _does(r"every [\w ]{3,12},? {I}{NOW} (?P<what>see) an? (?P<of>{ROLE}){END}", "does:{what+of*}"),
    _does(r"{I}" + _ENDED + r" (?P<what>seeing) (?:an?|my|the) (?P<of>{ROLE}){END}", "does:{what+of*}", negated=True),
    _does(
        r"{I} (?:no longer|don't) (?P<what>see) (?:an?|my|the) (?P<of>{ROLE})" + _MORE + "?{STOP}",
        "does:{what+of*}",
        negated=True,
    ),
    _does(
        r"{I}(?:'ve)? (?:no longer have|don't have|got rid of|gave up|sold|cancelled|canceled) (?:an? |the |our |my )?"
        + _HAS
        + _HAS_MORE
        + r"(?:"
        + _MORE
        + r"|{END})",
        "has:{what*}",
        negated=True,
    ),
    _does(r"{GOT}{NOW} (?:an? |our own |my own )" + _HAS + _HAS_MORE + r"{END}", "has:{what*}"),
    _does(
        r"{S}{NOW} (?:drinks?|have|has) (?:{COUNT}|an?|a few|several|too much|a lot of|lots of) (?:cups? of |"
        r"glass(?:es)? of |pints? of )?"
        r"(?P<v>coffee|tea|beer|wine|soda|cola|energy drink)s? (?:a|per|every) (?:day|morning|week|night|evening)\b",
        "drinks:{v}",
    ),
    _does(
        r"{S}{NOW} (?P<v>smoke|vape)s?(?:{STOP}| (?:a|about|around|like|every|\d|half|two|one|ten|twenty)\b)",
        "habit:smoking",
    ),
    Rule(
        r"{I}{NOW} (?:wake up|get up|wake|rise|go to bed|go to sleep) (?:every (?:day|morning|night) )?at "
        r"(?P<v>[\w: ]{1,15}?)(?: every (?:day|"
        r"morning|night))?{END}",
        (Gift("routine:{what*}", "{v}"),),
        recurring=True,
    ),
)
"""Rules of habits and what one has, each of which may be no more."""

DOSES: Final = (
    Rule(
        r"{S}(?:'m| am| is|'s)?{NOW} (?:take|takes|taking|on|up to|down to) (?P<dose>\d{1,4}(?:\.\d{1,3})? ?(?:mg|"
        r"mcg|ml|g|iu|micrograms?|"
        r"milligrams?|units?)) (?:of )?(?P<v>[a-z]{4,30}){END}",
        (Gift("medication:{v}", "{dose}", "number"),),
        recurring=True,
    ),
    Rule(
        r"(?:she|he|they|(?:my|the) (?:doctor|gp|psychiatrist|specialist))(?:'s| has|'ve| have)? (?:put|bumped|"
        r"moved|upped|lowered|raised) me "
        r"(?:up |down )?(?:on|to) (?P<dose>\d{1,4}(?:\.\d{1,3})?(?: ?(?:mg|mcg|ml|g|iu|micrograms?|milligrams?|"
        r"units?))?) (?:of )"
        r"(?P<v>[a-z]{4,30}){END}",
        (Gift("medication:{v}", "{dose}", "number"),),
        recurring=True,
    ),
)

TURNS: Final = tuple(
    Rule(pattern, (Gift("taste:{v}", "likes", "list", negated=True),), preference=True, recurring=True)
    for pattern in (
        r"{S}(?:'ve| have|'s| has) (?:gone|went) off (?P<v>[\w'& -]{2,40}?){TASTE_END}",
        r"{S} went off (?P<v>[\w'& -]{2,40}?){TASTE_END}",
        r"(?P<v>(?!it\b|that\b|this\b)[\w'& -]{2,40}?) (?:isn't|aren't|is not|are not|just isn't) for me any ?more",
        r"{AM}{NOW} (?:bored of|bored with) (?!this\b|that\b|it\b|you\b|the\b)(?P<v>[\w'& -]{2,40}?){TASTE_END}",
        r"{I}(?:'ve| have) (?:had enough of|lost interest in) (?P<v>[\w'& -]{2,40}?){TASTE_END}",
        (
            r"{S_AM} no longer (?:into|a fan of|keen on) (?P<v>[\w'& -]{2,40}?)(?: any ?more| any "
            r"longer)?{TASTE_END}"
        ),
    )
) + tuple(
    Rule(pattern, (Gift("taste:{v}", "likes", "list"),), preference=True, recurring=True)
    for pattern in (
        (
            r"{S}(?:'ve| have|'s| has) (?:come round to|come around to|grown to like|grown to love|warmed to) "
            r"(?P<v>[\w'& -]{2,40}?){TASTE_END}"
        ),
        r"(?P<v>(?!it\b|that\b|this\b)[\w'& -]{2,40}?) (?:is|are) (?:totally |really )?my thing(?:{STOP}|$)",
        (
            r"{I} (?:swear by|can't get enough of|can't live without|can't do without|live for) (?!the weekend|it\b|"
            r"that\b|this\b|you\b)"
            r"(?P<v>[\w'& -]{2,40}?){TASTE_END}"
        ),
        r"{AM}{NOW} (?:hooked on|addicted to) (?!it\b|that\b|this\b|you\b)(?P<v>[\w'& -]{2,40}?){TASTE_END}",
    )
)
"""Rules of tastes that turn."""
