"""What makes a text worth keeping, as a table: reason, weight, pattern.

A weight is evidence in log-odds: +0.7 doubles the odds that a text is worth keeping, -0.7 halves them, 2.2 makes
them nine times as large. `importance.py` adds up the weights of the rules that apply; a rule counts once, however
often it matches. The rules are English.

Patterns read the text in lower case with straight apostrophes, unless they are `cased`. To stay fast on hostile
text every repetition is bounded, and every pattern begins at a word or at the start of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["KEEP", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to keep a text, or to let it go.

    Attributes:
        reason: Words for a person.
        weight: Evidence in log-odds; what is positive speaks for keeping.
        cues: Words or phrases, separated by commas. A pattern is searched for only in a text that holds
            the longest word of some cue; without cues it always is.
        frame: Regular expression in which `{}` stands for any one of the cues.
        unless: Words, separated by blanks, any one of which in the text silences the rule.
        cased: Whether the pattern reads the text as it was written.
    """

    reason: str
    weight: float
    cues: str = ""
    frame: str = ""
    unless: str = ""
    cased: bool = False


_ADVERB: Final = (
    "(?:(?:just|also|really|recently|finally|actually|still|always|even|already|currently|absolutely|only|never"
    "|now|so|totally|usually|often|both|all|truly|definitely|sometimes|once|been|do|sure|kinda) ){0,2}"
)
_SELF: Final = r"\b(?:i|we)(?:'ve|'m|'re|'d|'ll| have| am| are| had| was| were| will| would)? " + _ADVERB
_MINE: Final = r"\b(?:my|our) (?:[\w'-]{1,20} ){0,2}{}\b"
_SOMEBODY: Final = r"\b(?:i|i'm|im|i've|we|we're|my|our|she|he|he's|she's|they|they're)\b[^.!?\n]{0,40}\b{}\b"

_WISHES: Final = (
    Rule(
        "asks to be remembered",
        2.8,
        "remember that, remember my, remember our, remember i, remember we, remember this, remember the,"
        "remember to, remember, don't forget, do not forget, keep in mind, bear in mind, note that, make a note,"
        "take a note, take note, for the record, for future reference, write down, note to self, remind me to,"
        "remind me about, remind me that, save this, you should know, please note",
        r"(?:^|[.!?\n:,;-] {0,2}|\b(?:please|and|so|but|hey|ok|you to|you should|can you|could you|also) )"
        r"{}\b(?! when\b| the time\b| how\b| all\b|[^.!\n]{0,80}\?|!)",
    ),
    Rule(
        "asks not to be remembered",
        -5.0,
        "don't remember this, do not remember this, don't save this, do not save this, don't store this,"
        "off the record, forget what i said, forget that i said, forget what i just said",
    ),
    Rule(
        "sets a standing rule",
        2.3,
        "always, never, from now on, whenever, going forward, in the future, every time, by default",
        r"(?:^|[.!?\n:] ?|\bplease |\byou to |\bshould ){},? "
        r"(?!been\b|had\b|seen\b|a pleasure|mind\b|thought\b|a good|great|here|give up|stop|heard)\w",
    ),
)

_ONESELF: Final = (
    Rule(
        "says who they are",
        1.7,
        "my name is, my name's, my full name, i'm called, call me, i was born, i'm from, i am from, i come from,"
        "i grew up, i live, i'm living in, i lived, we live, i work as, i work at, i work for, i work in, i work with,"
        "i'm working at, i'm working as, i've worked, i studied, i study, i'm studying, i'm majoring, i majored,"
        "i'm married, i am married, i'm single, i'm divorced, i'm engaged, i speak, my birthday, our anniversary,"
        "my pronouns, my address, my phone number, my email, i moved, we moved, i'm moving, we're moving,"
        "i'm originally, years old, i turned, i just turned, my job is, i graduated, my native language, i identify",
    ),
    Rule(
        "says what they are",
        0.5,
        "i, im",
        r"\b(?:i'm|im|i am|i've been|i was) (?:also |actually |currently |now )?(?:an?|the) "
        r"(?!bit\b|little\b|lot\b|huge fan|big fan|fan\b)\w",
    ),
    Rule(
        "speaks of health or diet",
        2.2,
        "allergic, allergy, allergies, intolerant, intolerance, diabetic, diabetes, asthma, asthmatic, celiac,"
        "coeliac, epilepsy, epileptic, vegan, vegetarian, pescatarian, gluten-free, kosher, halal, pregnant,"
        "diagnosed, medication, prescribed, surgery, adhd, autistic, dyslexic, migraine, migraines, arthritis,"
        "blood pressure, blood type, wheelchair, cancer, insulin, inhaler, epipen",
        _SOMEBODY,
    ),
    Rule(
        "speaks of being unwell",
        0.5,
        "hospital, injury, injured, sprained, therapist, therapy, anxiety, depression, doctor, dentist, insomnia,"
        "sick, ill, accident, rehab",
        _SOMEBODY,
    ),
    Rule(
        "speaks of their people",
        0.45,
        "wife, husband, partner, girlfriend, boyfriend, fiancé, fiancée, fiance, fiancee, spouse, son, sons,"
        "daughter, daughters, kid, kids, child, children, baby, mom, mum, mother, dad, father, parents, sister,"
        "sisters, brother, brothers, siblings, twin, grandma, grandpa, grandmother, grandfather, grandparents,"
        "grandson, granddaughter, aunt, uncle, cousin, cousins, niece, nephew, family, friend, friends, roommate,"
        "flatmate, neighbor, neighbour, boss, manager, coworker, coworkers, colleague, colleagues, coach, teacher,"
        "landlord, team, mentor, mentors, ex, in-laws, doctor, dentist",
        r"\b(?:my|our|have|has|got) (?:[\w'-]{1,20} ){0,2}{}\b",
    ),
    Rule(
        "has a pet",
        0.7,
        "dog, dogs, cat, cats, puppy, pup, pups, kitten, kittens, pet, pets, horse, rabbit, hamster, parrot,"
        "turtle, turtles, snake, guinea pig",
        r"\b(?:my|our|have|has|got|adopted|own|bought|'ve|named) (?:[\w'-]{1,20} ){0,3}{}\b",
    ),
    Rule(
        "says what they have",
        0.4,
        "i, we",
        r"\b(?:i|we)(?:'ve got| have| own| rent) (?:an?|one|two|three|four|five|my|our|\d{1,3}) "
        r"(?!question|idea|feeling|problem|bug|doubt|lot\b|few\b|good|great|bit\b|little|different)\w",
    ),
    Rule(
        "says what they do",
        0.7,
        "play, drive, run, teach, practice, train, sing, paint, write, cook, bake, knit, volunteer, coach, commute,"
        "ride, swim, hike, dance, wear, take, follow, attend, travel, sleep, wake up, go to, work out",
        r"\b(?:i|we) (?:usually |often |also |always |never |only |sometimes |mostly )?"
        r"{}\b(?! it\b| that\b| this\b| care)",
    ),
    Rule(
        "gives a detail to look up",
        1.2,
        "password, passcode, pin, door code, locker code, gate code, access code, zip code, alarm code, combination,"
        "address, username, license plate, phone number, birthday, anniversary, time zone, timezone, iban",
        r"\b{}(?: [\w'-]{1,20}){0,3}(?: is|:) (?!not\b|broken|wrong|too\b|so\b|that\b|very\b)[^\s?]",
    ),
    Rule(
        "speaks of what is theirs",
        0.3,
        "car, house, home, apartment, flat, place, job, work, office, company, business, store, shop, studio, bike,"
        "boat, phone, laptop, computer, garden, kitchen, school, college, university, degree, thesis, code, wifi,"
        "password, passcode, pin, locker, account, budget, salary, rent, hobby, hobbies, goal, goals, dream, routine,"
        "schedule, diet, flight, passport, visa, collection, guitar, piano, violin, blog, channel, website, novel,"
        "screenplay, tattoo, necklace, ring, hometown, home country, license, size, timezone, time zone, number",
        _MINE,
    ),
)

_TASTES: Final = (
    Rule(
        "states a like or dislike",
        0.8,
        "love, like, hate, prefer, enjoy, dislike, adore, loved, hated, can't stand, cannot stand, don't like,"
        "don't eat, don't drink, don't enjoy, eat, drink, despise, detest, loathe, collect, avoid, can't eat",
        _SELF + r"{} (?!it\b|that\b|this\b|to\b|you|your|the idea|how\b|what\b|hearing|seeing you)\w",
    ),
    Rule(
        "names a favourite or a passion",
        0.7,
        "my favorite, my favourite, our favorite, our favourite, a fan of, big fan of, huge fan of, my fave,"
        "passionate about, my passion, passion for, i'm obsessed with, i'm addicted to, i'm hooked on,"
        "i'm into, i'm really into, i've been into, interested in, i'm keen on, my go-to, i'd rather,"
        "favorites, favourites, i like to, i love to, we love to, i prefer to",
    ),
    Rule(
        "tells somebody's taste",
        0.6,
        "prefers, dislikes, hates, loves, likes, enjoys, can't stand, doesn't like, doesn't eat, is allergic",
        r"(?<=[\w'] )(?<!who )(?<!that )(?<!what )(?<!of )(?<!the )(?<!my )(?<!your )(?<!and )"
        r"{} (?!it\b|that\b|this\b|you\b)\w",
    ),
)

_LIFE: Final = (
    Rule(
        "tells of a change in life",
        0.9,
        "got married, getting married, get married, wedding, engaged, divorced, divorce, broke up, breakup, break up,"
        "gave birth, newborn, passed away, died, funeral, retired, retiring, promoted, promotion, new job, quit my,"
        "lost my job, got fired, laid off, hired, got the job, new house, new home, new apartment, new place, new car,"
        "moving to, moved to, moved in, moved from, moving in, moving out, graduated, graduation, got accepted,"
        "accepted into, enrolled, adopted, adopting, internship, bought a, started a, started my, opened a, opened my,"
        "launched, signed up, joined a, joined the, applied for, applied to, i quit, i won, we won, i lost,"
        "starting a, started taking, took up, gave up",
    ),
    Rule(
        "tells what happened",
        0.6,
        "i, we",
        r"\b(?:i|we)(?:'ve| have| had|'d)? " + _ADVERB + "(?:went|got|bought|made|took|met|saw|won|lost|found|gave|ran"
        "|wrote|read|did|had|came|left|spent|sold|built|taught|held|chose|drove|flew|ate|drank|fell|broke|began|became"
        r"|put|set|hit|seen|gone|taken|written|done|[a-z]{2,12}(?<!lov|lik)(?<!want)(?<!agre)(?<!ne)ed)\b",
    ),
    Rule(
        "tells news without a subject",
        0.6,
        "been, started, got, went, finished, bought, signed, met, saw, had, took, joined, wanted, gonna",
        r"(?:^|[.!?\n] |^(?:hi|hey|hello)\b[^.!?\n]{0,30}[,!.] )(?:just |finally |recently |also ){0,1}{} "
        r"(?!it\b|that\b|you\b|any\b|your\b)\w",
    ),
    Rule(
        "tells what they are doing",
        0.2,
        "i, we, im",
        r"\b(?:i'm|i am|we're|we are|i've been|we've been|i was|we were|im) (?!going to\b|looking forward|trying to\b)"
        r"(?:(?:just|also|really|still|actually|currently|now|even|all|both) ){0,2}[a-z]{2,14}ing\b",
    ),
    Rule(
        "tells a habit",
        0.5,
        "every day, everyday, each day, every morning, every evening, every night, every week, every weekend,"
        "every month, every year, once a, twice a, times a, daily, weekly, usually, on weekends, each week, for years,"
        "on mondays, on tuesdays, on wednesdays, on thursdays, on fridays, on saturdays, on sundays, since i was,"
        "as a kid, when i was, growing up, i used to, we used to",
    ),
    Rule(
        "tells a plan",
        0.4,
        "i'm going to, i am going to, i'm gonna, gonna, i'm planning, i'm thinking of, i'm thinking about, i plan,"
        "we're planning, we're thinking, we plan, i'll be, we'll be, we're going, i'm hoping, i want to, i'd like to,"
        "i've decided, i decided, we decided, i'm considering, i intend, planning to, planning on, planning a, my goal,"
        "my plan, hoping to, i'm looking into, upcoming, i'm off to, i'm heading, i'm visiting, thinking of",
    ),
    Rule(
        "names a commitment",
        1.4,
        "deadline, due on, due by, due in, is due, are due, due date, appointment, interview, exam, i promise,"
        "i promised, i owe, owes me, meeting with, meeting on, meeting at, reservation, booked, rsvp, my flight,"
        "by monday, by tuesday, by wednesday, by thursday, by friday, by saturday, by sunday, by tomorrow,"
        "by the end of, have to submit, must submit, scheduled, i'll pay, i agreed to, i committed, expires",
    ),
)

_PARTICULARS: Final = (
    Rule(
        "gives a date",
        0.6,
        "january, february, march, april, june, july, august, september, october, november, december, monday, tuesday,"
        "wednesday, thursday, friday, saturday, sunday, birthday, anniversary, christmas, easter, thanksgiving,"
        "halloween, new year's",
    ),
    Rule(
        "says when",
        0.7,
        "yesterday, last week, last month, last year, last night, last summer, last spring, last fall, last winter,"
        "last weekend, last friday, last saturday, last sunday, last monday, last tuesday, last wednesday,"
        "last thursday, next week, next month, next year, next weekend, next summer, next friday, next monday,"
        "tomorrow, this week, this weekend, this month, this year, this morning, this summer, this past, ago,"
        "few years, few weeks, few days, few months, weekend, tonight, today, recently, lately, the other day,"
        "ever since, since i, since last, since the, for the first time",
    ),
    Rule("gives a number", 0.45, frame=r"\d"),
    Rule(
        "counts",
        0.3,
        "two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, dozen, twenty, thirty, forty, fifty,"
        "hundred, thousand, million, second, third, couple",
    ),
    Rule("gives a name", 0.6, "named, called, name is, names are, name was"),
    Rule(
        "mentions a name",
        0.3,
        frame=r"\b[a-z][a-z']{1,20} (?!(?:I|OMG|LOL|OK|TV|January|February|March|April|May|June|July|August|September"
        r"|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b)[A-Z][\w'-]",
        cased=True,
    ),
    Rule("quotes a title", 0.45, frame='["“][^"“”\n]{2,60}["”]', cased=True),
    Rule("gives an address", 0.6, frame=r"@(?<=\w@)[\w-]{1,40}\.\w|https?://\S", cased=True),
    Rule(
        "mentions a place or an occasion",
        0.3,
        "city, town, country, beach, park, mountains, lake, museum, restaurant, cafe, trip, travel, traveled, vacation,"
        "holiday, concert, festival, conference, workshop, class, classes, course, event, tournament, game, race,"
        "marathon, show, movie, book, series, album, song, band, recipe, exhibit, shelter, church, gym, club, group,"
        "charity, volunteer, volunteered, volunteering, parade, ceremony, exhibition, competition, contest, degree",
    ),
    Rule("speaks of themselves", 0.45, "i, im, my, me, we, our"),
    Rule("speaks of others", 0.2, "he, she, they, his, her, their"),
)

KEEP: Final[tuple[Rule, ...]] = (*_WISHES, *_ONESELF, *_TASTES, *_LIFE, *_PARTICULARS)
"""What a text tells that its hearer would be blamed for forgetting; only "asks not to be remembered" is negative."""
