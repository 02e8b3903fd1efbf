"""Parts that patterns are made of, by name: `{I}` in a rule stands for the fragment of that name.

Every repetition is bounded and every part begins at a word, so that a text is read in time linear in its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from langchain_tiered_memory.extraction.grammar import words
from langchain_tiered_memory.extraction.grammar.numerals import NUMERAL

_CAPITAL: Final = (
    r"(?-i:(?!I\b|I'|My\b|The\b|But\b|And\b)[A-Z\u00c0-\u00de])[\w&'+-]{0,40}(?:\.\w{1,20}){0,3}"
    r"(?:(?<=\bInc)\.|(?<=\bLtd)\.|(?<=\bCorp)\.)?"
)
_WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_FREQUENT: Final = (
    r"(?:every (?:single |other )?(?:morning|evening|night|day|weekday|weekend|week|month|year|afternoon|hour|"
    r"mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?(?: (?:morning|evening|night|afternoon))?"
    r"|(?:once|twice|(?:\d{1,2}|two|three|four|five|six) (?:times|days)) (?:a|per|every) (?:day|week|month|year)"
    r"|daily|on (?:mon|tues|wednes|thurs|fri|satur|sun)days)"
)
_AT: Final = r"at \d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?"
_AMOUNT: Final = (
    r"(?:(?:[$€£¥₹] ?|(?:usd|eur|gbp) )\d[\d,]{0,15}(?:\.\d{1,4})?(?!\d|[,.]\d)(?: ?(?:k|m|bn|"
    r"thousand|million|billion)\b)?"
    r"|\d[\d,]{0,15}(?:\.\d{1,4})?(?: ?(?:k|thousand|million))? (?:dollars|euros|pounds|bucks|usd|"
    r"eur|gbp|rupees|yen)\b)"
)
_NUMBER: Final = (
    r"(?:\d[\d,]{0,15}(?:\.\d{1,6})?(?!\d|[,.]\d)(?: ?(?:%|percent\b|milliseconds?\b|ms\b|"
    r"seconds?\b|minutes?\b|hours?\b|km\b|kg\b|"
    rf"cm\b|lbs?\b|pounds\b|kilos\b|gb\b|mb\b|tb\b|miles\b|weeks?\b|days?\b|months?\b|"
    rf"k\b))?(?![\w-]|\.\d|/\d|:\d)|(?:{NUMERAL})\b)"
)

_OPEN: Final[Mapping[str, str]] = {
    "CAP": _CAPITAL,
    "NAME": rf"{_CAPITAL}(?: (?:(?:of|de|del|della|la|le|van|von|der|den|the|du|da|dos|bin|al|&) "
    rf"){{0,2}}{_CAPITAL}){{0,4}}",
    "PERSON": rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_CAPITAL}(?: (?:(?:de|del|della|la|van|von|der|bin|al) "
    rf"){{0,2}}{_CAPITAL}){{0,3}}",
    "I": "(?:i|we)",
    "AM": r"(?:i'm|i am|we're|we are)",
    "HAVE": r"(?:i've|i have|we've|we have)",
    "GOT": r"(?:i've got|i have got|we've got|i have|we have|i got|i've|we've)",
    "ADV": r"(?:(?:now|currently|also|just|recently|still|really|already|finally|actually|absolutely|"
    r"usually|always|mostly|"
    r"presently|truly|honestly|personally|officially|normally|typically|generally|mainly|totally|"
    r"definitely|so) ){0,3}",
    "KIN": "|".join(sorted(words.KIN, key=lambda one: (-len(one), one))),
    "NO_MORE": r"(?: ?,? (?:any ?more|any longer|now))",
    "NOT": r"(?:don't|do not|no longer|never)",
    "END": r"(?= *(?:$|[,;:()/\u2013\u2014]|- )| +(?:(?:and|but|as|in|for|with|since|now|at|on|near|until|till|"
    r"from|because|so|last|next|this|"
    r"right|currently|again|too|where|which|when|while|to|by|after|before|though|although|full|"
    r"part|today|yesterday|"
    r"every|these|about|instead|anymore|any|already|during|if|originally|btw|lol|haha|per|over|"
    r"rather|than|tomorrow|"
    r"under|through|using|of|until|starting|beginning|both|or|who|still|as well|"
    r"behind|beside|above|below|inside|outside|between|against|across|along|around|within|without|twice|once|each|"
    r"plus|except|"
    r"whenever|unless|despite|apart|together|alone|anyway|alongside|opposite|via|up|down|off|out|mostly|usually|"
    r"always|those|"
    r"that|depending|unfortunately|luckily|only|near|next door|upstairs|downstairs|whose|all|nine|eight|seven|six|"
    r"five|four|"
    r"three|two|not|no|like|just|most|even|max)\b"
    r"|(?:two|three|four|five|a few|\d{1,2}) (?:days|weeks|months|years) ago))",
    "STOP": r"(?= *(?:$|[,;:()\u2013\u2014]|- )| +(?:(?:and|but|as|since|now|until|because|so|when|while|though|"
    r"although|which|if|or)\b))",
    "STOP_OF": r"(?= *(?:$|[,;:()\u2013\u2014]|- )| +(?:behind|inside|outside|near|between|every|twice|once|each|"
    r"after|before|during|because|instead|anyway|again|today|till|for|of|to|these|this|next|last|all|right|at|not|plus|and|but|"
    r"as|since|now|until|because|so|when|while|which|if|or|"
    r"in|on|at|with|from|by|using|that)\b)",
    "STOP_LIST": r"(?= *(?:$|[;:()\u2013\u2014]|- |, (?:and |but |so )?(?:i|we|which|so|but|my|please)\b)| "
    r"+(?:(?:but|as|"
    r"since|now|until|because|so|when|while|though|although|which|if)\b))",
    "TASTE_END": r"(?= *(?:$|[;:()\u2013\u2014]|- |, (?:and |but |so )?(?:i|we|it|they|which|so|but|my|especially|"
    r"because|since)\b)| +(?:(?:but|as|since|now|these days|because|so|when|whenever|while|though|"
    r"although|especially|lately|at the moment|after|before|every|better than|more than|the best|the most|"
    r"on (?:my|the|weekends)|for (?:any|every)thing\b|with my|instead|because of|for (?:its|their|the|any|all|every|"
    r"my|our)|too$)\b))",
    "TIMELY": r"(?:(?:the )?(?:first|second|third|fourth|last) (?:weekend|week|{WEEKDAY}) (?:of|in) (?=(?-i:[A-Z]))|"
    r"tomorrow|tonight|today|next|this|{MONTH}\b\.?|\d{1,2}(?:st|nd|rd|th)? (?:of )?{MONTH}\b|"
    r"the \d{1,2}(?:st|nd|rd|th)|\d{4}-\d\d-\d\d|mon|tues|wednes|thurs|fri|satur|sun|in "
    r"(?=(?-i:[A-Z])|20\d\d))",
    "MUM": r"(?-i:Mum|Mom|Mummy|Mama|Dad|Daddy|Papa|Grandma|Grandpa|Granny|Nana)",
    "WEEKDAY": _WEEKDAY,
    "NOBODY": f"(?-i:{words.NOBODY})",
    "NOW": r"(?:,? (?:now|currently|still|actually|only|just|already|officially|finally)){0,3}",
    "WEEKLY": rf"(?:(?:on )?{_WEEKDAY}s(?:(?:, and |, | and | & )(?:on )?{_WEEKDAY}s?){{0,6}}|"
    rf"every (?:other |second |single )?{_WEEKDAY}"
    rf"|(?:on )?{_WEEKDAY}(?:(?:, and |, | and | & )(?:on )?{_WEEKDAY}s?){{1,6}}"
    rf"|(?:on )?the (?:first|second|third|fourth|last) {_WEEKDAY} of (?:the|each|every) month|(?:on )?week(?:day|"
    rf"end)s)",
    "RELATION": words.RELATION,
    "NO_STATE": rf"(?:{words.NO_STATE})\b|\w+(?:ing|ed)\b",
    "ATTRIBUTE": words.ATTRIBUTES,
    "ROLE": words.ROLES,
    "EVENT": words.EVENTS,
    "SEASON": words.SEASONS,
    "COUNTED": words.COUNTED,
    "MANY_OF": words.MANY_OF,
    "PHRASE": r"(?:[\w'/&+.-]{1,30} ){0,5}?[\w'/&+.-]{0,29}[\w']",
    "FREQ": _FREQUENT,
    "OFTEN": rf"(?:{_AT} )?{_FREQUENT}(?: {_AT})?",
    "AMOUNT": _AMOUNT,
    "NUMBER": _NUMBER,
    "COUNT": rf"(?:\d[\d,]{{0,12}}(?![\w%.:/-])|(?:{NUMERAL})\b)",
    "NUMERAL": NUMERAL,
    "AFTER": r"(?! (?:too|over|under|more|less|short|above|below|away|off|late|early|ago|out of|o'clock|"
    r"better|worse|times|right|on fire|-)\b)",
    "VALUE_END": r"(?= *(?:$|[,;:()\u2013\u2014]|- )| +(?:(?:and|but|as|in|for|with|since|now|at|on|until|from|"
    r"because|"
    r"so|last|next|this|currently|again|where|which|when|while|to|by|after|before|though|today|"
    r"every|instead|already|during|per|a|an|each|of|using|total|left|can|how|what|is|should|"
    r"thanks|rather|than|due|overall|across|within)\b))",
    "VERSION": r"v?\d{1,4}(?:\.\d{1,5}){0,3}(?![\w%]|[:,.]\d)",
    "NP": r"(?:[\w'/&+-]{1,30} ){0,5}?[\w'/&+-]{1,30}",
    "SHORT": r"(?:[\w'/&+-]{1,30} ){0,3}?[\w'/&+-]{1,30}",
    "THE": r"(?:my|our|the|this|that|a|an|his|her|their|some)",
    "MY": r"(?:my|our)",
    "MONTH": r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)",
    "NO_PLACE": words.NO_PLACES,
    "RELATIVES": words.RELATIVES,
    "PETS": words.PETS,
    "PETS_MANY": words.PETS_MANY,
    "JOB": rf"(?:(?!(?:{words.NO_JOB})\b)[\w/&'-]{{1,25}} ){{0,3}}?(?:{words.JOBS})(?: (?:manager|lead|"
    rf"assistant|director))?",
    "FIELD": words.FIELDS,
    "DIET": words.DIETS,
    "CONDITION": words.CONDITIONS,
    "UNWELL": "|".join(sorted(words.ADJECTIVES_OF_CONDITIONS, key=lambda one: (-len(one), one))),
    "DRUG": words.MEDICATION,
    "DRINK": words.DRINKS,
    "STATUS": "|".join(sorted(words.STATUS, key=lambda one: (-len(one), one))),
    "LANGUAGE": f"(?-i:{words.LANGUAGES})",
    "INSTRUMENT": words.INSTRUMENTS,
    "GAME": words.GAMES,
    "CODE": f"(?-i:{words.CODES})",
    "THING": words.THINGS,
    "MEASURE": words.MEASURES,
    "TASK": words.TASKS,
    "WORKPLACE": words.PLACES_OF_WORK,
    "WAY": words.WAYS,
    "PASTIME": words.PASTIMES,
}


def spelled(pattern: str) -> str:
    """Return a pattern with every `{NAME}` replaced by its fragment; other braces stay."""
    for name, fragment in _COMPOSED.items():
        pattern = pattern.replace("{" + name + "}", fragment)
    for name, fragment in _OPEN.items():
        pattern = pattern.replace("{" + name + "}", f"(?:{fragment})")
    return pattern


_COMPOSED: Final[Mapping[str, str]] = {
    "S": r"(?:i|we|(?:(?:my|our) |(?={MUM}\b))(?P<kin>{KIN})(?:,? (?P<called>{PERSON}),?)?)",
    "S_AM": r"(?:i'm|i am|we're|we are|(?:(?:my|our) |(?={MUM}\b))(?P<kin>{KIN})(?:,? (?P<called>{PERSON}),?)?"
    r"(?:'s| is| are))",
    "NOUN": r"(?P<noun>{NP})",
}
"""Subjects: the speaker, or one of the speaker's people, who may be named in passing."""
