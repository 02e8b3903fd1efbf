"""Rules: who one is, where one lives, works and studies, how one is."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.extraction.grammar.table import Gift, Rule, denies, states

_EMPLOYER: Final = r"(?P<v>{NAME}|(?<=the )[a-z]{3,20} (?:{WORKPLACE})|(?<=the )(?:{WORKPLACE}))"
_AT: Final = r"(?:(?:full[- ]time|part[- ]time|remotely) )?(?:at|for) (?:the )?"
_WORKS: Final = (
    r"(?:work|works|working|am working|is working|'m working|'ve been working|have been working|"
    r"been working)"
)
_WITH_JOB: Final = rf"(?: {_AT}{_EMPLOYER}{{END}})?"
_JOB: Final = Gift("job title", "{job}", "job")
_FIRM: Final = Gift("employer", "{v}", needs="v")
_HOME: Final = "(?P<v>{NAME}){END}"

NAMES: Final = (
    states(r"my (?:full |first |real |actual )?name(?:'s| is) (?:now )?(?P<v>{PERSON}){END}", "name"),
    states(r"(?:i'm|i am) (?:called|named) (?P<v>{PERSON}){END}", "name"),
    states(
        r"(?:hi|hello|hey)(?: there| everyone| all)?[,!.]* (?:i'm|i am|this is|it's) "
        r"(?!{LANGUAGE}\b)(?P<v>{PERSON}){END}",
        "name",
    ),
    states(r"{MY} pronouns are (?P<v>\w{2,6}/\w{2,6}(?:/\w{2,8})?)", "pronouns"),
)

HOMES: Final = (
    denies(
        r"{S} (?:used to live|used to be based|once lived|formerly lived|previously lived) in " + _HOME,
        "home",
        over=True,
    ),
    denies(r"{S} (?:don't|do not|doesn't|does not|no longer) lives? in (?P<v>{NAME})(?:{END}|$)", "home"),
    denies(r"{S_AM} (?:no longer|not) (?:living|based) in (?P<v>{NAME}){END}", "home"),
    denies(r"{S}(?:'ve| have| has)? (?:just |recently )?moved (?:away |out )(?:from|of) " + _HOME, "home"),
    Rule(
        r"{S}(?:'ve| have| has)? {ADV}(?:moved|relocated) (?:back )?from (?!{NO_PLACE}\b){NAME} to "
        r"(?!{NO_PLACE}\b)(?P<v>{NAME}){END}",
        (Gift("home", "{v}"),),
    ),
    states(
        r"{S}(?:'ve| have| has)? {ADV}(?:moved|relocated) (?:back |over |down |up )?to "
        r"(?!{NO_PLACE}\b)(?![\w ]{2,30} from )" + _HOME,
        "home",
    ),
    states(r"{S} {ADV}lives? in " + _HOME, "home"),
    states(r"{S_AM} {ADV}(?:living|based|residing|settled) in " + _HOME, "home"),
    states(r"{S}(?:'ve| have| has) {ADV}(?:lived|been living|been based) in " + _HOME, "home"),
    Rule(r"{S} lived in " + _HOME, (Gift("home", "{v}"),), over=True),
    states(r"{S_AM} (?:originally )?from (?P<v>{NAME})(?: originally)?{END}", "origin"),
    states(r"{S} (?:originally )?comes? from (?P<v>{NAME}){END}", "origin"),
    states(r"{MY} (?:hometown|home town|home country)(?:'s| is) (?P<v>{NAME}){END}", "origin"),
    Rule(
        r"{S} (?:was|were) born (?:on )?(?:the )?(?P<v>{MONTH}\.? \d{1,2}|\d{1,2}(?:st|nd|rd|th)? (?:of )?{MONTH}|"
        r"\d{4}-\d\d-\d\d)",
        (Gift("birthday", "{v}", "birthday"),),
        recurring=True,
    ),
    Rule(r"{S} (?:was|were) born in (?P<v>{NAME}){END}", (Gift("birthplace", "{v}"),), recurring=True),
    Rule(
        r"(?:my|our) (?:(?P<kin>{KIN})'s )?birthday(?:'s| is| falls) (?:on )?(?:the )?"
        r"(?P<v>{MONTH}\.? \d{1,2}|\d{1,2}(?:st|nd|rd|th)? (?:of )?{MONTH}|\d{4}-\d\d-\d\d)",
        (Gift("birthday", "{v}", "birthday"),),
        recurring=True,
    ),
    states(r"{S_AM} (?:now |already )?(?P<v>\d{1,3})[ -]years?[ -]old", "age"),
    states(r"{S} {ADV}turned (?P<v>\d{1,3}){END}", "age"),
    states(r"(?:i'm|i am|my (?P<kin>{KIN})(?:'s| is)) (?:now )?(?P<v>(?:(?<=s )\d|[1-9]\d))(?: now)?$", "age"),
)

WORK: Final = (
    denies(
        rf"{{S}} (?:used to|once|formerly|previously) (?:work|worked) {_AT}{_EMPLOYER}{{END}}", "employer", over=True
    ),
    denies(rf"{{S}} (?:don't|do not|doesn't|does not|no longer) works? {_AT}{_EMPLOYER}{{END}}", "employer"),
    denies(rf"{{S_AM}} (?:no longer|not) (?:working|employed) {_AT}{_EMPLOYER}{{END}}", "employer"),
    denies(
        r"{S}(?:'ve| have| has)? {ADV}(?:quit|left|lost my job at|lost my job with|resigned from|"
        r"retired from|got fired from|was laid off from|been laid off from) "
        rf"(?:my job (?:at|with) |my position at |the )?{_EMPLOYER}(?:{{STOP}}|{{END}})",
        "employer",
    ),
    Rule(
        r"{S}(?:'ve| have| has)? {ADV}(?:quit my job|lost my job|got laid off|got fired|was laid off|"
        r"resigned)(?:{STOP}|{END})",
        (Gift("employer", None, negated=True),),
    ),
    states(
        rf"{{S}}(?:'ve| have| has)? {{ADV}}joined (?:the )?{_EMPLOYER}(?: as .{{1,40}})?(?:{{STOP}}|"
        rf"{{END}})",
        "employer",
    ),
    states(
        r"{S}(?:'ve| have| has)? {ADV}(?:(?:started|got|took|landed|begun|began|have|'ve got) (?:a |"
        r"my |the )?(?:new |first )?"
        rf"(?:job|position|role)|started working|(?<=i )started|(?<=ve )started|got hired|starts "
        rf"working) (?:at|for|with|by) "
        rf"(?:the )?(?![\w ]{{0,30}}(?:University|College|School|Yale|Harvard|Stanford|MIT)\b){_EMPLOYER}{{END}}",
        "employer",
    ),
    Rule(rf"{{S}} worked {_AT}{_EMPLOYER}{{END}}", (Gift("employer", "{v}"),), over=True),
    Rule(
        rf"{{S}}(?:'m|'ve| am| have| has| is)? ?{{ADV}}(?:{_WORKS}|(?<=ve )worked) {_AT}{_EMPLOYER}(?: "
        rf"as (?:an? |the )?(?P<job>{{SHORT}}))?{{END}}",
        (Gift("employer", "{v}"), Gift("job title", "{job}", "job", needs="job")),
    ),
    states(rf"{{S_AM}} {{ADV}}employed (?:at|by|with) (?:the )?{_EMPLOYER}{{END}}", "employer"),
    states(rf"{{MY}} (?:(?:new|current) )?(?:employer|company)(?:'s| is) (?:now )?{_EMPLOYER}{{END}}", "employer"),
    Rule(
        rf"{{S}}(?:'m|'ve| am| have| has| is)? ?{{ADV}}{_WORKS} as (?:an? |the "
        rf")?(?P<job>{{SHORT}})(?:{_WITH_JOB[3:-2]}|{{END}})",
        (_JOB, _FIRM),
    ),
    denies(
        r"{S} (?:used to be|was once|formerly was) (?:an? |the )(?P<job>{JOB}){END}", "job title", "{job}", over=True
    ),
    denies(r"{S_AM} (?:no longer|not) (?:an? |the )(?P<job>{JOB})(?:{END}|$)", "job title", "{job}"),
    Rule(rf"{{S_AM}} {{ADV}}(?:an? |the )(?P<job>{{JOB}}){_WITH_JOB}{{END}}", (_JOB, _FIRM)),
    states(
        r"{S}(?:'ve| have| has)? {ADV}(?:became|become) (?:an? |the )(?P<job>{JOB}){END}", "job title", "{job}", "job"
    ),
    states(
        r"{S}(?:'ve| have| has)? {ADV}(?:got|been|was|were) promoted to (?:an? |the "
        r")?(?P<job>{SHORT}){END}",
        "job title",
        "{job}",
        "job",
    ),
    states(
        r"(?:my|our) (?:(?P<kin>{KIN})'s )?(?:new |current )?(?:job title|job|occupation|profession|"
        r"title|role)(?:'s| is) "
        r"(?:now )?(?:an? |the )?(?P<job>{JOB}){END}",
        "job title",
        "{job}",
        "job",
    ),
    states(r"my job title(?:'s| is) (?:now )?(?P<job>{SHORT}){END}", "job title", "{job}", "job"),
)

SCHOOL: Final = (
    Rule(
        r"{S}(?:'m| am|'ve been| have been| is)? ?{ADV}(?:study|studies|studying) "
        r"(?P<field>{FIELD})(?: at (?:the )?(?P<v>{NAME}))?{END}",
        (Gift("field of study", "{field}"), Gift("school", "{v}", needs="v")),
    ),
    states(r"{S}(?:'m| am| is)? ?{ADV}(?:study|studies|studying) at (?:the )?(?P<v>{NAME}){END}", "school"),
    states(
        r"{S}(?:'m| am| is)? ?{ADV}(?:majoring|major|majors) in (?P<field>{FIELD}){END}", "field of study", "{field}"
    ),
    states(r"{MY} major(?:'s| is) (?:now )?(?P<field>{FIELD}){END}", "field of study", "{field}"),
    states(
        r"{S} {ADV}(?:go|goes) to (?:the )?(?P<v>(?:{CAP} ){0,4}(?:School|University|College|Academy|High|Institute)|"
        r"(?-i:MIT|UCLA|Yale|Harvard|Stanford|Princeton|Oxford|Cambridge|Berkeley|NYU|Cornell|Caltech)){END}",
        "school",
    ),
    states(r"{S_AM} {ADV}(?:a |an )(?:[\w-]{1,20} ){0,3}student at (?:the )?(?P<v>{NAME}){END}", "school"),
    states(
        r"{S} attends? (?:the )?(?P<v>{NAME} (?:School|University|College|Academy|High|"
        r"Institute)){END}",
        "school",
    ),
    states(r"{S}(?:'ve| have)? {ADV}graduated from (?:the )?{NAME}", None, None),
)

STATUS: Final = (
    denies(r"{S_AM} (?:no longer|not) (?P<v>{STATUS})(?: now| any ?more| any longer)?{STOP}", "relationship status"),
    states(
        r"{S_AM} {ADV}(?:happily )?(?P<v>{STATUS})(?: now)?(?:{STOP}|(?= to {CAP})|(?= in (?:19|20)\d\d)|(?= last ))",
        "relationship status",
        fold="kind",
    ),
    states(r"{S}(?:'ve| have)? {ADV}been (?:happily )?(?P<v>{STATUS}){END}", "relationship status", fold="kind"),
    states(r"{S} {ADV}got (?P<v>{STATUS}){END}", "relationship status", fold="kind"),
)

CONTACTS: Final = (
    states(
        r"(?:my (?:new |work |personal )?e-?mail(?: address)?(?:'s| is)|you can (?:reach|email|"
        r"contact) me at|email me at)(?: now)? "
        r"(?P<v>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})",
        "email",
    ),
    states(
        r"(?:my (?:new |cell |mobile |phone |cell ?phone |mobile phone )?number(?:'s| is)|call me "
        r"(?:at|on)|my phone(?:'s| is))"
        r"(?: now)? (?P<v>\+?\d[\d ()-]{5,20}\d)(?!\w)",
        "phone number",
        fold="phone",
    ),
    states(
        r"(?:my|our) (?:new |home |postal |mailing |current )?address(?:'s| is)(?: now)? "
        r"(?P<v>\d{1,5}[a-z]? [\w .'-]{3,40}(?:, ?[\w .'-]{2,30}){0,4}$)",
        "address",
    ),
)

HEALTH: Final = (
    Rule(
        r"{S_AM} (?:no longer|not) allergic to (?P<v>[\w' -]{2,40}?)(?: any ?more)?{STOP}",
        (Gift("allergy:{v}", "yes", "list", negated=True),),
    ),
    Rule(
        r"{S_AM} {ADV}(?:severely |highly |very |deathly |mildly |slightly )?allergic to "
        r"(?P<v>[\w', -]{2,80}?|[\w', -]{2,60}? and [\w' -]{2,20}?){STOP_LIST}",
        (Gift("allergy:{v}", "yes", "list"),),
    ),
    Rule(
        r"{S} (?:have|has|'ve got|have got|'ve) (?:an? )?(?:severe |bad |mild |serious |strong "
        r")?allergy to (?P<v>[\w' -]{2,40}?){STOP}",
        (Gift("allergy:{v}", "yes", "list"),),
    ),
    Rule(
        r"{S} (?:have|has) (?:an? )?(?:severe |bad |mild |serious )?(?P<v>peanut|nut|tree nut|pollen|"
        r"shellfish|dust|cat|dog|egg|soy|milk|latex|penicillin) allergy",
        (Gift("allergy:{v}", "yes", "list"),),
    ),
    Rule(
        r"{S}(?:'ve| have| has|'ve got| have got| suffer from| suffers from) (?:chronic |mild |severe "
        r"|an? )?(?P<v>{CONDITION}){STOP}",
        (Gift("condition:{v}", "yes"),),
    ),
    Rule(
        r"{S}(?:'ve| have| has)? (?:was|were|been|got) {ADV}diagnosed with (?:chronic |mild |severe "
        r")?(?P<v>{CONDITION}){END}",
        (Gift("condition:{v}", "yes"),),
    ),
    Rule(
        r"{S_AM} (?:no longer|not) (?P<v>{UNWELL})(?: any ?more)?{STOP}",
        (Gift("condition:{v}", "yes", "kind", negated=True),),
    ),
    Rule(r"{S_AM} {ADV}(?P<v>{UNWELL}){END}", (Gift("condition:{v}", "yes", "kind"),)),
    Rule(
        r"{S}(?:'m| am| is)? ?{ADV}(?:take|takes|taking|on) (?P<dose>\d{1,4}(?:\.\d{1,3})? ?(?:mg|mcg|"
        r"ml|g|iu)) (?:of )?(?P<v>[a-z]{3,30}){END}",
        (Gift("medication:{v}", "{dose}", "number"),),
        recurring=True,
    ),
    Rule(
        r"{S}(?:'ve| have| has)? {ADV}(?:stopped taking|quit taking|came off|no longer takes?|don't "
        r"take) (?P<v>{DRUG})",
        (Gift("medication:{v}", "yes", negated=True),),
    ),
    Rule(
        r"{S}(?:'m| am| is)? ?{ADV}(?:take|takes|taking|on|prescribed) (?P<v>{DRUG}){END}",
        (Gift("medication:{v}", "yes"),),
    ),
    states(r"{S} {ADV}weighs? (?P<v>{NUMBER})", "weight", fold="number"),
    states(r"{S_AM} (?P<v>\d{1,3}(?:\.\d\d?)? ?(?:cm|m|feet|ft)) tall", "height", fold="number"),
)

DIET: Final = (
    denies(r"{S_AM} (?:no longer|not) (?:an? )?(?P<v>{DIET})(?: any ?more)?{STOP}", "diet"),
    states(r"{S_AM} {ADV}(?:an? |strictly |mostly )?(?P<v>{DIET})(?: now)?{END}", "diet"),
    states(
        r"{S}(?:'ve| have| has)? {ADV}(?:became|become|went|gone|turned|been) (?:an? "
        r")?(?P<v>{DIET}){END}",
        "diet",
    ),
    Rule(
        r"{S}(?:'ve| have| has)? {ADV}(?:don't drink|do not drink|doesn't drink|no longer drinks?|"
        r"never drink|stopped drinking|quit drinking|gave up|given up|quit) "
        r"(?P<v>{DRINK})",
        (Gift("drinks:{v}", "yes", negated=True),),
    ),
    Rule(
        r"{S}(?:'ve| have| has)? {ADV}(?:don't eat|do not eat|doesn't eat|no longer eats?|never eat|"
        r"stopped eating|quit eating|can't eat|cannot eat) "
        r"(?:any )?(?P<v>[\w' -]{2,30}?)(?: any ?more)?{END}",
        (Gift("eats:{v}", "yes", "list", negated=True),),
    ),
    Rule(
        r"{S}(?:'ve| have| has)? {ADV}(?:quit|stopped|gave up|given up) (?P<v>smoking|vaping|gambling|"
        r"drinking){END}",
        (Gift("habit:{v}", "yes", negated=True),),
    ),
    Rule(
        r"{S} (?:don't|do not|no longer) (?P<v>smoke|vape|gamble)(?: any ?more)?{END}",
        (Gift("habit:{v}", "yes", "kind", negated=True),),
    ),
)
