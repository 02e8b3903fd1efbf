"""What speaks against keeping a text: small talk, and the task of the moment. A table like `importance_rules.py`."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.core.importance_rules import Rule

__all__ = ["CHATTER"]

_OPENING: Final = r"^\W{0,3}{}\b"
_FIRST_PERSON: Final = "i im my mine we our me"

_SMALL_TALK: Final = (
    Rule("thanks", -0.3, "thanks, thank, thx, ty, cheers, appreciate, grateful"),
    Rule("greets", -0.2, "hi, hey, hello, good morning, good evening, good afternoon, yo, howdy, hiya, sup", _OPENING),
    Rule(
        "says goodbye",
        -0.5,
        "bye, goodbye, see you, see ya, talk soon, talk to you, take care, have a great, have a good, have fun,"
        "good night, goodnight, ttyl, good luck, chat soon, talk later, enjoy your",
    ),
    Rule(
        "opens with a reaction",
        -0.45,
        "wow, cool, nice, great, awesome, amazing, sounds, that's, that, ok, okay, yeah, yep, yes, no, nope, sure,"
        "totally, absolutely, definitely, exactly, agreed, glad, congrats, congratulations, oh, aw, aww, woah, whoa,"
        "haha, lol, hmm, right, true, good, love, wonderful, fantastic, looks, lovely, perfect, gotcha, got it, i see,"
        "i agree, i understand, yup, no worries, no problem, of course, for sure, it's, woohoo, thanks, interesting",
        _OPENING,
    ),
    Rule(
        "praises or comforts",
        -0.45,
        "proud of you, keep it up, keep up, keep going, you got this, you've got this, good for you, way to go,"
        "well done, nice job, great job, good job, awesome job, means a lot, kind words, you're so, you're such,"
        "you're doing, sounds great, sounds awesome, sounds amazing, sounds fun, sounds like, sounds good,"
        "that's great, that's awesome, that's amazing, that's cool, that's so, happy for you, glad you, glad to hear,"
        "happy to hear, sorry to hear, looks great, looks amazing, can't wait to see, must have been, must be,"
        "you must, good to see, great to hear, good to hear, nice to hear, rooting for you, here for you, congrats,"
        "congratulations, so cool, so sweet, i bet, no doubt",
    ),
    Rule("speaks of you alone", -0.6, "you, your, yours, u", unless=_FIRST_PERSON),
    Rule("speaks to you", -0.3, "you, your, yours, u"),
    Rule("laughs or hums", -0.4, "lol, haha, hahaha, lmao, rofl, hehe, hmm, hm, um, uh, meh, oops, yay, omg"),
    Rule(
        "chats about weather or mood",
        -0.5,
        "weather, raining, sunny, cloudy, chilly, how are you, how's it going, how have you been, how you doing,"
        "what's new, how are things, long time no, hope you're, anything new, what's up, what a day",
    ),
    Rule(
        "waves it off",
        -0.6,
        "nevermind, never mind, forget it, forget about it, whatever, just kidding, jk, nothing much",
    ),
)

_TASKS: Final = (
    Rule("asks a question", -0.3, frame=r"\?", cased=True),
    Rule("only asks", -0.7, frame=r"^[^.!?,\n]{0,240}\?\W{0,4}$"),
    Rule(
        "asks the other",
        -0.8,
        "do, did, does, can, could, would, will, have, has, is, are, was, were, what, what's, where, when, who, why,"
        "how, which, any, should",
        r"^\W{0,3}(?:and |so |but |hey |hi |ok |hmm |hm )?,? ?{}\b[^.!?\n]{0,240}\?\W{0,4}$",
    ),
    Rule(
        "asks for something now",
        -1.0,
        "can you, could you, would you, will you, help me, please, how do i, how can i, how does, what's the,"
        "what is, what are, give me a, give me some, give me the, show me, tell me about, tell me how, tell me what,"
        "any ideas, any tips, any suggestions, any advice, any recommendations, recommend, should i, i need help,"
        "walk me through",
    ),
    Rule(
        "speaks of the task at hand",
        -0.8,
        "i'm wondering, i was wondering, i'm not sure how, i'm not sure if, not sure what, make sure, i'm trying to,"
        "i'm having trouble, i'm getting an error, getting this error, i'm stuck, struggling to, help with,"
        "help understanding, what do you think, here's my code, my code",
    ),
    Rule(
        "orders something now",
        -0.8,
        "translate, summarize, summarise, write, rewrite, explain, list, show me, give me, make it, fix, generate,"
        "create, find me, search, compare, draft, convert, calculate, continue, try again, run, tell me, how to",
        _OPENING,
    ),
    Rule(
        "talks like an assistant",
        -0.9,
        "as an ai, language model, i'd be happy to, i'm happy to help, happy to help, feel free to, let me know if,"
        "hope this helps, great question, i apologize, i'm here to help, glad i could help, how can i assist,"
        "how can i help, anything else",
    ),
    Rule(
        "holds code or output",
        -1.5,
        frame=r"```|\{\s{0,3}\n|\}\s{0,3}\n|;\s{0,3}\n|</\w|\(\)|=>|==|= (?<=[\w)] = )[\w(]|≠|≤|≥|Traceback \(|SELECT ",
        cased=True,
    ),
)

CHATTER: Final[tuple[Rule, ...]] = (*_SMALL_TALK, *_TASKS)
"""What passes between people, or from a person to a tool, and is over when it has been said."""
