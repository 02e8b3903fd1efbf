"""Rules: routines, plans, deadlines, and what begins, ends or takes place when."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule

_WHEN: Final = r"(?P<when>.{1,80})"
_BE: Final = r"(?:'s| is| are| has been| was)"
_LINK: Final = r"(?: is| are)(?: now| still| currently| actually)?(?: (?:set|scheduled|planned|due|booked|slated))?"
_SHIFTED: Final = (
    r"(?:(?:'s| has| have|'ve)?(?: just| now| recently)? been|(?:'s| is| are| was| were)(?: now| just| recently)?)? ?"
    r"(?:moved|pushed|pushed back|extended|changed|rescheduled|postponed|shifted|brought forward|"
    r"delayed|bumped|set|updated)"
)
_MOVES: Final = (
    r"(?:moved|pushed|pushed back|extended|changed|rescheduled|postponed|shifted|delayed|set|"
    r"bumped|updated|moving|rescheduling)"
)
_FROM: Final = r"(?: from .{1,40}?)?"
_TO: Final = r" (?:to|until|till|for|by|on) "


def _ahead(pattern: str, slot: str) -> Rule:
    return Rule(pattern, (Gift(slot, "{when}", "when"),), future=True, anywhere=pattern.startswith(r"\b"))


ROUTINES: Final = (
    Rule(
        r"{I} {ADV}(?:go to the |go to |go for an? |go |do |have an? |have |take an? |practice |"
        r"practise )?(?P<what>(?!have to|want|need|am\b|was\b|see them|do it|[\w']{1,20} (?:it|them|"
        r"him|her|you|this|that)\b)(?:[\w'-]{1,20} ){0,4}[\w'-]{1,20}) (?P<v>{OFTEN})$",
        (Gift("routine:{what*}", "{v}"),),
        recurring=True,
    ),
    Rule(
        r"(?P<v>{OFTEN}),? {I} {ADV}(?:go to the |go to |go for an? |go |do |have an? |take an? "
        r")?(?P<what>(?!have to|want|need|am\b|was\b|see them|do it|[\w']{1,20} (?:it|them|him|her|"
        r"you|this|that)\b)(?:[\w'-]{1,20} ){0,4}[\w'-]{1,20})$",
        (Gift("routine:{what*}", "{v}"),),
        recurring=True,
    ),
)

DEADLINES: Final = (
    _ahead(
        r"\b(?:a|an|the|my|our|new|this) (?P<noun>(?:[\w-]{1,20} ){0,4}(?:deadline|due date)) (?:of|"
        r"on|set for) " + r"(?P<when>.{1,30}?),? (?:for|to) (?P<of>(?:the |my |our )?(?:[\w-]{1,20} "
        r"){0,5}?[\w-]{1,20}){STOP_OF}",
        "{noun+of@}",
    ),
    _ahead(
        r"{THE} {NOUN}" + _LINK + r" (?:due|to be (?:done|finished|submitted|delivered))(?: (?:on|by|in|at))? " + _WHEN,
        "deadline:{noun*}",
    ),
    _ahead(r"{THE} {NOUN} (?:is|are) (?:now )?due(?: (?:on|by|in|at))? " + _WHEN, "deadline:{noun*}"),
    _ahead(
        r"{I}(?:'ve| have| need| must|'ll| will|'ve got)(?: to)? (?:to )?{TASK} (?:my|our|the|a|an) "
        r"{NOUN} (?:by|before|until|on) " + _WHEN,
        "deadline:{noun*}",
    ),
    _ahead(
        r"{THE} {NOUN} (?:now |will |officially )?(?:ends?|finishes|expires?|runs out|closes?)(?: "
        r"now)?(?: (?:on|in|at|by))? " + _WHEN,
        "end:{noun*}",
    ),
    _ahead(
        r"{THE} {NOUN} (?:now |will |officially )?(?:starts?|begins?|kicks off|opens?)(?: now)?(?: "
        r"(?:on|in|at))? " + _WHEN,
        "start:{noun*}",
    ),
    _ahead(r"{I}(?:'ve| have|'re|'m)? {ADV}" + _MOVES + r" (?:the |my |our ){NOUN}" + _FROM + _TO + _WHEN, "{noun@}"),
    _ahead(r"(?:the|my|our|this) {NOUN}" + _SHIFTED + _FROM + _TO + _WHEN, "{noun@}"),
    _ahead(r"(?:the|my|our|this) {NOUN}" + _LINK + r" (?:on |for |at |by |in )?" + _WHEN, "{noun@}"),
    _ahead(
        r"(?:the|my|our|this) {NOUN} (?:now )?(?:leaves|departs|takes place|is happening|arrives)(?: "
        r"(?:on|at|in))? " + _WHEN,
        "{noun@}",
    ),
    _ahead(
        r"{GOT} (?:an? |my |our ){NOUN} (?:scheduled |booked |coming up |planned |set |due )?(?:on|"
        r"for|at|in|next|this|tomorrow)(?= )" + _WHEN,
        "{noun@}",
    ),
    _ahead(
        r"(?:{GOT}|there's|there is) (?:an? |my |our ){NOUN} (?P<when>(?:tomorrow|today|tonight|next|"
        r"this)\b.{0,60})",
        "{noun@}",
    ),
    _ahead(
        r"\b(?:a|the|my|our|this) (?P<noun>(?:new |final |[\w-]{1,20} ){0,4}(?:deadline|due date|"
        r"release date|launch date)) (?:of|on|to|for|being) " + _WHEN,
        "{noun@}",
    ),
    _ahead(
        r"{I}(?:'ve| have)? {ADV}(?:scheduled|booked|arranged|confirmed|planned|set up) (?:my|our|the|"
        r"a|an) {NOUN} (?:for|on) " + _WHEN,
        "{noun@}",
    ),
    _ahead(
        r"\b(?:the|my|our|a) (?P<when>{MONTH} \d{1,2}) (?P<noun>(?:[\w-]{1,20} ){1,3}?(?:deadline|"
        r"interview|meeting|workshop|presentation|launch|exam|demo|review|call|appointment))\b",
        "{noun@}",
    ),
    _ahead(r"(?:actually |no |wait )?(?:it's|it is)(?: (?:now|actually))? (?:on |at |by )?" + _WHEN, "{it}"),
)

COMINGS: Final = (
    _ahead(
        r"(?:(?:the|my|our) )?(?!i\b|we\b|it\b|{NOBODY}\b)(?P<noun>{PHRASE}){NOW} (?:goes? out|comes? out|comes?|"
        r"ships?|"
        r"launches|launch|goes? live|arrives?|lands?|takes? place|happens?|leaves?|departs?|will be(?: held)?|is held|"
        r"is scheduled|is planned|is set|is booked|is due|falls?){NOW}(?: (?:on|for|in|at))? " + _WHEN,
        "{noun~}",
    ),
    _ahead(
        r"(?:(?:the|my|our) )?(?!i\b|we\b|it\b|{NOBODY}\b)(?P<noun>{PHRASE})(?:'s| is| are){NOW} (?:on|for) " + _WHEN,
        "{noun~}",
    ),
    _ahead(
        r"{AM}{NOW} (?:signed up|booked|registered|enrolled|scheduled|down|booked in|entered) for (?:the |my |an? )?"
        r"(?P<noun>(?:[\w'-]{2,20} ){0,4}?[\w'-]{2,20}) (?:on|at|in) " + _WHEN,
        "{noun~}",
    ),
    _ahead(
        r"(?:they|he|she)(?:'ll| will| are going to|'re going to)(?: now)? (?P<what>(?!be\b|have\b|need\b|"
        r"probably\b|never\b|"
        r"not\b)(?:[\w'-]{1,20} ){0,6}?[\w'-]{1,20}) (?:on |in |at |by )?(?:in the |the )?(?:week of "
        r")?(?P<when>{TIMELY}.{0,60})",
        "plan:{what*}",
    ),
)

PLANS: Final = (
    _ahead(
        r"(?:i'm|i am|we're|we are) (?:going to|gonna|planning to|about to|set to|due to|hoping to) "
        r"(?P<what>(?!be\b|say\b|think\b)(?:[\w'-]{1,20} ){0,6}?[\w'-]{1,20}) (?:on |in |at |this |by "
        r"|around )?(?P<when>(?:(?<= this )[a-z].{0,60}|{TIMELY}.{0,60}))",
        "plan:{what*}",
    ),
    _ahead(
        r"(?:i'm|i am|we're|we are) {ADV}(?P<what>(?!being|waiting|going to be|starting to|having "
        r"trouble|trying|working|doing|looking|thinking|hoping|wondering|feeling|planning|using|"
        r"getting (?:an error|better|tired))[a-z]{2,14}ing (?:[\w'-]{1,20} ){0,6}?)(?<! a )(?<! the "
        r")(?<! for )(?<! my )(?:on |in |at |by )?(?P<when>{TIMELY}.{0,60})",
        "plan:{what*}",
    ),
    _ahead(
        r"(?:i|we) (?:plan to|'ll|will|intend to) (?P<what>(?!be\b|have\b|need\b|probably\b|never\b|"
        r"not\b)(?:[\w'-]{1,20} ){0,6}?[\w'-]{1,20}) (?:on |in |at |by )?(?P<when>{TIMELY}.{0,60})",
        "plan:{what*}",
    ),
)
