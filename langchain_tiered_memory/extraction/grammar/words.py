"""Words that the rules know, each list as an alternation for a regular expression; longer ones stand first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def either(words: str) -> str:
    """Return an alternation of words separated by commas or line breaks, the longest first."""
    each = {one.strip() for one in words.replace("\n", ",").split(",")} - {""}
    return "|".join(sorted(each, key=lambda one: (-len(one), one)))


KIN: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        "wife husband spouse partner girlfriend boyfriend fiancé fiancée fiance fiancee".split(), "partner"
    ),
    **dict.fromkeys("mother mom mum mama mummy".split(), "mother"),
    **dict.fromkeys("father dad papa daddy".split(), "father"),
    **dict.fromkeys("grandmother grandma nana granny".split(), "grandmother"),
    **dict.fromkeys("grandfather grandpa grandad granddad".split(), "grandfather"),
    **{one: one for one in "sister brother son daughter aunt uncle niece nephew roommate flatmate".split()},
    "best friend": "best friend",
    "twin sister": "sister",
    "twin brother": "brother",
    **dict.fromkeys("boss manager supervisor".split(), "boss"),
}
"""Own people of whom one usually has one, or speaks as if; and the word under which they are filed."""

NAMED_KIN: Final[Mapping[str, str]] = {
    "son": "child",
    "daughter": "child",
    "sister": "sibling",
    "brother": "sibling",
    "aunt": "relative",
    "uncle": "relative",
    "niece": "relative",
    "nephew": "relative",
    "grandmother": "relative",
    "grandfather": "relative",
    "roommate": "roommate",
    "flatmate": "roommate",
    "best friend": "friend",
}
"""Whose names are a family of slots, because there may be several."""

RELATIVES: Final = either(
    "brothers, sisters, siblings, kids, children, sons, daughters, grandchildren, cousins, nieces, nephews"
)
PETS: Final = either(
    "dog, cat, puppy, pup, kitten, rabbit, bunny, hamster, parrot, horse, pony, turtle, tortoise,"
    " snake, guinea pig, gecko,"
    "golden retriever, labrador, poodle, beagle, corgi, dachshund, german shepherd, husky, bulldog, pug, chihuahua,"
    "border collie, terrier, fish, goldfish, ferret, lizard, canary, budgie"
)
PETS_MANY: Final = either("dogs, cats, rabbits, hamsters, parrots, horses, fish, chickens, pets, kittens, puppies")

JOBS: Final = either(
    "nurse, teacher, engineer, developer, programmer, designer, architect, lawyer, attorney, "
    "doctor, surgeon, dentist,"
    "accountant, plumber, carpenter, chef, cook, baker, waiter, waitress, bartender, barista, "
    "driver, pilot, mechanic,"
    "writer, author, editor, journalist, photographer, filmmaker, director, producer, actor, "
    "actress, musician, singer,"
    "artist, painter, illustrator, professor, lecturer, researcher, scientist, analyst, consultant, manager, planner,"
    "administrator, assistant, secretary, receptionist, librarian, translator, interpreter, therapist, psychologist,"
    "psychiatrist, physiotherapist, pharmacist, veterinarian, vet, farmer, gardener, firefighter, paramedic, soldier,"
    "police officer, officer, judge, banker, trader, broker, recruiter, salesperson, realtor, electrician, welder,"
    "builder, contractor, freelancer, entrepreneur, biologist, chemist, physicist, mathematician, statistician,"
    "economist, historian, geologist, social worker, caregiver, nanny, tutor, coach, trainer, tailor, hairdresser,"
    "copywriter, marketer, ceo, cto, cfo, vice president, team lead, tech lead, project lead, product owner,"
    "data scientist, devops, sysadmin, technician, inspector, curator, clerk, cashier, flight attendant"
)
NO_JOB: Final = either(
    "good, bad, great, terrible, awful, better, best, worse, big, huge, little, born, natural, "
    "real, true, decent, slow,"
    "fast, picky, lazy, heavy, careful, nervous, night, former, aspiring, wannabe, future, "
    "would-be, not, his, her, their"
)
FIELDS: Final = either(
    "physics, mathematics, maths, math, biology, chemistry, medicine, law, economics, history, "
    "philosophy, psychology,"
    "sociology, linguistics, literature, english, computer science, data science, engineering, "
    "architecture, business,"
    "finance, accounting, marketing, nursing, education, art, art history, music, design, journalism, politics,"
    "political science, anthropology, geography, geology, astronomy, statistics, theology, pharmacy, neuroscience,"
    "biochemistry, mechanical engineering, electrical engineering, civil engineering, software "
    "engineering, informatics,"
    "graphic design, film, theatre, theater, agriculture, environmental science, international relations"
)
DIETS: Final = either("vegetarian, vegan, pescatarian, pescetarian, flexitarian, omnivore, keto, paleo, halal, kosher")
CONDITIONS: Final = either(
    "asthma, type 1 diabetes, type 2 diabetes, diabetes, celiac disease, coeliac disease, epilepsy, arthritis, adhd,"
    "autism, dyslexia, migraines, chronic migraines, anemia, hypertension, high blood pressure, "
    "insomnia, eczema, psoriasis,"
    "ibs, crohn's disease, lupus, depression, anxiety, ptsd, ocd, sleep apnea, hypothyroidism, "
    "scoliosis, fibromyalgia,"
    "tinnitus, gout, glaucoma, multiple sclerosis, parkinson's, cancer, breast cancer, endometriosis, pcos, hay fever"
)
ADJECTIVES_OF_CONDITIONS: Final[Mapping[str, str]] = {
    "diabetic": "diabetes",
    "asthmatic": "asthma",
    "epileptic": "epilepsy",
    "lactose intolerant": "lactose intolerance",
    "gluten intolerant": "gluten intolerance",
    "celiac": "celiac disease",
    "coeliac": "celiac disease",
    "coeliac disease": "celiac disease",
    "autistic": "autism",
    "dyslexic": "dyslexia",
    "colorblind": "colour blindness",
    "colourblind": "colour blindness",
    "color blind": "colour blindness",
    "pregnant": "pregnancy",
    "deaf": "deafness",
    "blind": "blindness",
}
MEDICATION: Final = either(
    "metformin, insulin, sertraline, ibuprofen, lisinopril, atorvastatin, levothyroxine, "
    "omeprazole, amlodipine, losartan,"
    "fluoxetine, escitalopram, citalopram, bupropion, prednisone, warfarin, aspirin, antidepressants, antihistamines,"
    "antibiotics, statins, beta blockers, birth control, melatonin, vitamin d, adderall, ritalin, concerta, lithium"
)
DRINKS: Final = either(
    "alcohol, coffee, tea, beer, wine, soda, milk, caffeine, energy drinks, liquor, spirits, juice, cola"
)
STATUS: Final[Mapping[str, str]] = {
    "married": "married",
    "single": "single",
    "divorced": "divorced",
    "engaged": "engaged",
    "widowed": "widowed",
    "a widow": "widowed",
    "a widower": "widowed",
    "in a relationship": "in a relationship",
    "separated": "separated",
}
LANGUAGES: Final = either(
    "English, French, German, Spanish, Italian, Portuguese, Dutch, Swedish, Norwegian, Danish, "
    "Finnish, Polish, Czech,"
    "Russian, Ukrainian, Turkish, Arabic, Hebrew, Persian, Farsi, Hindi, Urdu, Bengali, Tamil, "
    "Telugu, Mandarin, Chinese,"
    "Cantonese, Japanese, Korean, Vietnamese, Thai, Indonesian, Malay, Swahili, Greek, Hungarian,"
    " Romanian, Bulgarian,"
    "Croatian, Serbian, Latin, Irish, Welsh, Catalan, Basque, Tagalog, Punjabi, Gujarati, "
    "Marathi, Esperanto, Zulu, Yoruba,"
    "American Sign Language, Sign Language, Mandarin Chinese, Brazilian Portuguese, Afrikaans, "
    "Amharic, Icelandic, Slovak"
)
INSTRUMENTS: Final = either(
    "guitar, electric guitar, bass guitar, bass, piano, violin, viola, cello, drums, flute, clarinet, saxophone, sax,"
    "trumpet, trombone, harp, ukulele, banjo, accordion, organ, keyboard, oboe, harmonica, mandolin, double bass"
)
GAMES: Final = either(
    "tennis, chess, football, soccer, basketball, volleyball, golf, badminton, hockey, rugby, "
    "cricket, squash, baseball, padel, bridge, poker, go"
)
CODES: Final = either(
    "Python, Rust, Java, JavaScript, TypeScript, Go, Golang, C, Kotlin, Swift, Ruby, PHP, Scala, "
    "Haskell, Perl, R, SQL,"
    "Julia, Elixir, Clojure, Lua, Dart, MATLAB, Fortran, COBOL, HTML, CSS, Excel, Photoshop"
)
THINGS: Final = either(
    "boat, sailboat, yacht, motorcycle, motorbike, bike, bicycle, e-bike, scooter, car, truck, "
    "van, rv, house, apartment,"
    "flat, condo, cabin, cottage, farm, piano, guitar, violin, drum kit, camera, drone, laptop, "
    "desktop, tablet, e-reader,"
    "phone, smartwatch, watch, tv, television, projector, printer, 3d printer, console, "
    "telescope, kayak, canoe, surfboard,"
    "skateboard, treadmill, tent, camper, caravan, sewing machine, espresso machine, coffee "
    "machine, air fryer, grill,"
    "bakery, cafe, restaurant, shop, store, business, company, land, horse, dishwasher, sofa, couch, desk, headphones"
)
MEASURES: Final = either(
    "deadline, due date, budget, price, cost, fee, rate, coverage, accuracy, quota, limit, "
    "target, goal, estimate, salary,"
    "rent, date, time, latency, uptime, throughput, size, length, score, grade, version,"
    "percentage, margin, revenue, balance, meeting, call, appointment, interview, wedding, exam, launch, release,"
    "presentation, demo, review, workshop, flight, trip, party, conference, webinar, milestone, "
    "sprint, session, timeout,"
    "threshold, speed, attendance, capacity, duration, retention, conversion, churn, bounce, usage,"
    "downloads, followers, subscribers, word headcount, ticket, deposit, loan, mortgage, allowance, bonus, discount"
)
TASKS: Final = either(
    "submit, finish, complete, deliver, hand in, turn in, send, file, pay, renew, return, ship, "
    "finalize, finalise, review, write"
)
PLACES_OF_WORK: Final = either(
    "council, hospital, university, government, school, bank, post office, library, museum, police, army, navy, city,"
    "state, ministry, church, school district, county, fire department, police department"
)
WAYS: Final = either(
    "answer, reply, respond, use, write, format, include, give, suggest, recommend, mention, "
    "remind, call, ask, explain,"
    "show, tell, assume, send, speak, keep, address, offer, repeat, avoid, translate, summarize, "
    "summarise, quote, cite"
)
"""What one asks an assistant to do, or not to do, as a rule."""
PASTIMES: Final = either(
    "run, running, swim, swimming, jog, jogging, hike, hiking, walk, climbing, cycling, dancing, "
    "surfing, skiing, shopping"
)
NO_PLACES: Final = either(
    "Vim, Emacs, Slack, Teams, Zoom, AWS, Azure, GCP, Google Cloud, Heroku, Vercel, Netlify, Docker, "
    "Kubernetes, Linux, Windows, Mac, macOS, Ubuntu, Python, Rust, Java, JavaScript, TypeScript, Go, Golang, "
    "Kotlin, Swift, React, Vue, Angular, Svelte, Next, Django, Flask, FastAPI, Rails, Spring, Node, Deno, Bun, "
    "Postgres, PostgreSQL, MySQL, SQLite, MongoDB, Redis, GitHub, GitLab, Bitbucket, Jira, Linear, Asana, "
    "Trello, Notion, Obsidian, Evernote, Excel, Sheets, Google, Outlook, Gmail, Android, iOS, iPhone, Samsung, "
    "Apple, Microsoft, Chrome, Firefox, Safari, ChatGPT, Claude, Gemini, Copilot, Figma, Sketch, Tailwind, "
    "Bootstrap, Terraform, Ansible, Jenkins, Spotify, Netflix, Tier, Level, Stage, Phase, Step, Chapter, Part, "
    "Plan, Section, Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, Version, Scrivener, Zotero, "
    "Kafka, GraphQL, REST"
)
"""Names to which one moves without moving house."""
ROLES: Final = either(
    "supervisor, dentist, doctor, gp, therapist, physiotherapist, physio, trainer, coach, babysitter, nanny, cleaner, "
    "childminder, hairdresser, barber, landlord, landlady, vet, teacher, tutor, mentor, lawyer, solicitor, accountant, "
    "agent, editor, line manager, team lead, advisor, adviser, professor, midwife, optician, dermatologist, "
    "psychologist, psychiatrist, counsellor, counselor, instructor, assistant, contact, contact person, "
    "account manager, project manager, product owner, publisher, supplier, provider, insurer, bank, gym, broker, "
    "notary, plumber, electrician, mechanic, gardener, drummer, singer, bassist, guitarist, captain, caterer, "
    "photographer, florist, dog walker, cardiologist, surgeon, director, conductor, sponsor, carrier, school, "
    "university, kindergarten, nursery, daycare, internet provider, phone company, insurance company, database, "
    "framework, operating system, browser, search engine, hosting provider, electricity provider, energy supplier"
)
"""What somebody or something is to the speaker, of which there is one."""
EVENTS: Final = either(
    "party, meeting, offsite, off-site, wedding, workshop, exam, dinner, lunch, breakfast, brunch, conference, "
    "concert, gig, show, recital, reunion, ceremony, reception, celebration, rehearsal, class, course, lesson, "
    "lessons, seminar, lecture, training, practice, interview, appointment, appointments, barbecue, bbq, picnic, "
    "retreat, kick-off, kickoff, presentation, talk, session, sessions, tournament, match, game, race, finals, "
    "final, screening, exhibition, opening, funeral, baptism, christening, shower, stand-up, standup, sync, "
    "retro, review, club, book club, call, demo, launch, camp, festival, fair, market, hearing, check-up, "
    "checkup, surgery, operation, scan, test, defence, defense, graduation, trip, sleepover, playdate, "
    "date night, game night, quiz night"
)
SEASONS: Final = either(
    "summer, winter, spring, autumn, fall, easter, christmas, new year, new year's, half-term, half term, honeymoon, "
    "anniversary, thanksgiving, school, may, october, birthday"
)
COUNTED: Final = either(
    "followers, subscribers, employees, patrons, listeners, readers, members, customers, clients, tenants, backers, "
    "sponsors, students, pupils, patients, players, singers, staff, volunteers, donors, reviews, stars, downloads, "
    "plants, chickens, hens, hives, bikes, guitars, records, houseplants, stamps, tomato plants, lodgers, apprentices"
)
MANY_OF: Final = either(
    "friend, friends, colleague, colleagues, cousin, neighbour, neighbor, classmate, coworker, co-worker, hero, idol, "
    "hobby, hobbies, pet, kid, child, baby, language, problem, question, point, favourite, favorite, choice, option, "
    "guess, dream, inspiration, thing, type, love, teammate, buddy, student, guest, customer, user, character, "
    "first, second, third, next, previous, last, ex, pick, idea, answer, plan, goal, stop, god, book"
)
"""What the speaker may have several of, or none: it is no name of one."""
NOBODY: Final = either(
    "There, Here, This, That, These, Those, It, He, She, They, We, You, I, Who, What, Which, Where, When, Why, "
    "How, Everyone, Everybody, Someone, Somebody, Anyone, Nobody, Nothing, Everything, Something, One, Today, "
    "Tomorrow, Yesterday, Now, Then, So, And, But, Or, If, As, Also, Just, Only, Please, Thanks, Yes, No, Not, "
    "Well, Oh, My, Our, Your, His, Her, Its, Their, The, A, An, All, Both, Each, Some, Any, Most, Many, Few, "
    "Another, Other, Maybe, Perhaps, Because, Since, While, After, Before, Until, Let"
)
"""Words that begin a sentence, and so with a capital letter, and are no names."""
RELATION: Final = either(
    "mother, father, sister, brother, son, daughter, wife, husband, partner, girlfriend, boyfriend, mum, mom, "
    "dad, grandma, grandpa, grandmother, grandfather, aunt, uncle, niece, nephew, cousin, neighbour, neighbor, "
    "friend, colleague, coworker, flatmate, roommate, boss, manager, mentor, teacher, landlord, classmate, "
    "godmother, godson, goddaughter, mother-in-law, father-in-law, sister-in-law, brother-in-law, stepson, "
    "stepdaughter, ex, dog, cat"
)
NO_STATE: Final = either(
    "full, packed, crazy, hard, easy, difficult, fine, good, bad, great, nice, terrible, awful, boring, fun, "
    "empty, clear, unclear, ready, done, late, early, long, short, too, so, very, really, pretty, quite, more, "
    "less, not, no, that, this, how, what, why, when, where, about, due, important, interesting, perfect, "
    "broken, fixed, over, up, off, still, getting, going, being, always, never, like, as, sick, ill, tired, "
    "happy, sad, angry, fast, slow, big, small, huge, tiny, better, worse, best, worst, bigger, smaller, lovely, "
    "amazing, beautiful, wonderful, horrible, excellent, correct, wrong, right, true, false, unknown, missing, "
    "lost, ok, okay, cool, weird, strange, funny, sure, unsure, a mess, a bit, a little, a lot, a problem, "
    "a pain, a joke, a nightmare, a disaster, a good, a bad, a great, a big, a real, a total, a nice, a huge, "
    "a long, a short, a question, a mystery, a secret, a matter, a kind, a sort, a type, a work, a way, "
    "the same, the one, the only, the problem, the thing, the reason, the most, the next, in progress, "
    "in danger, at risk, on time, on hold, on fire, on track, in trouble, in order, at stake, on me, on you, "
    "in pain, at work, at home, at school, in bed, in town, in love, there, here, back, out, away, alone, busy, "
    "free, available, possible, impossible, necessary, useful, useless, worth, expensive, cheap, safe, "
    "dangerous, old, young, new, dead, alive, asleep, awake, closed, open, cancelled, canceled, to, than, if, "
    "because, all, everything, nothing"
)
"""How things stand for a while, or seem: no value of an attribute."""
ATTRIBUTES: Final = either(
    "desk, seat, size, position, topic, subject, theme, major, minor, dress code, motto, nickname, level, grade, "
    "class, group, belt, brand, model, drink, order, breakfast, ringtone, hint, commute, route, shift, diet, "
    "hair colour, hair color, eye colour, eye color, star sign, team name, band name, company name, job, "
    "specialty, field, degree, thesis, dissertation, project, parking spot, parking space, locker, platform, "
    "gate, terminal, host, venue, location, destination, costume, instrument, voice, tariff, phone plan, "
    "workout, sport, password manager, layout, pronouns, role, part, title, starting point, meeting point, "
    "meeting place, dish, comfort food, perfume, shampoo, toothpaste, detergent, cereal, surname, maiden name, "
    "middle name, stage name, pen name, safe word, timezone, password, ticket, track, bed, bedtime, curfew, "
    "colour, color, flavour, flavor, snack, pseudonym, alias, team, house"
)
"""What the speaker, or somebody else, has one of, whatever it is."""
