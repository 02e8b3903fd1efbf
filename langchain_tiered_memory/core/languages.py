"""Which language a text is in, and the stem of a word in it. Pure; English where nothing else is clear.

A script that one language dominates decides by itself (Cyrillic is stemmed as Russian). Latin letters are shared, so
there the small words decide: those that a language cannot do without and others do not have.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import Stemmer

ENGLISH: Final = "english"

_SMALL_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        ENGLISH: "a about am an and are as at be been but by can could did do does for from had has have he her "
        "him his how i if in into is it its me my of on or our she should so than that the their them "
        "then there these they this those to was we were what when where which who why will with would "
        "you your not no yes just",
        "german": "aber als am an auch auf aus bei bin bist das dass dein dem den der des die doch du ein eine "
        "einem einen einer er es euch fur habe haben hast hat ich ihm ihn ihr im in ist ja jetzt kann "
        "kein keine man mein meine meinem meinen meiner mich mir mit nach nein nicht noch nur oder "
        "schon sehr sein seine seit sich sie sind uber um und uns unser vom von vor war waren was wann "
        "warum wem wen wenn wer werde werden wie wir wird wo wohin zu zum zur",
        "french": "ai as au aux avec avez avons ce ces cette dans de des du elle elles en es est et eu il ils "
        "j'ai je la le les leur lui ma mais me mes moi mon ne nous on ont ou par pas plus pour pourquoi "
        "quand que quel quelle qui quoi sa sans se ses son sont suis sur ta te tes toi ton tres tu un "
        "une vos votre vous y",
        "spanish": "al como con cual cuando de del donde el ella ellos en era eres es esa ese esta este esto estoy "
        "fue ha hay he la las le les lo los mas me mi mis muy nos o para pero por porque que quien se "
        "ser si sin sobre soy su sus te tengo tiene tu tus un una unos y ya yo",
        "italian": "a ai al alla anche che chi ci come con cosa da dal dei del della di dove e ed era gli ha hai "
        "ho i il in io la le lo loro lui ma mi mia mie miei mio ne nel nella noi non per perche piu quale quando "
        "quanto quella quello questa questo se sei si sono sta su sua suo ti tu un una uno voi",
        "portuguese": "a ao aos as com como da das de do dos e ela ele em era essa esse esta este estou eu foi ha "
        "isso ja lhe mais mas me meu meus minha minhas muito na nao nas no nos num o onde os ou para pela pelo por "
        "porque qual quando que quem se sem ser seu sou sua tem tenho um uma voce",
        "dutch": "aan al als bij ben bent dat de deze die dit door een en er haar had heb hebben heeft hem het "
        "hier hij hoe ik in is je jij jouw kan maar me met mij mijn naar niet nog nu of om omdat ons "
        "ook op over te toen tot u uit van veel voor waar waarom wanneer was wat we wel werd wie wij "
        "wordt ze zich zij zijn",
        "swedish": "alla att av bara de dem den det dig din du efter eller en ett fran for ha hade han har hon hur "
        "i inte ja jag kan man med men mig min mina mitt mycket nar nu och om oss pa sa som till under "
        "upp ut vad var varfor vem vi vill ar",
    }.items()
}
"""Folded as terms are: no capitals, no accents. They are also the words that say nothing of what a text is about."""

_KNOWN_BY: Final[Mapping[str, tuple[str, ...]]] = {
    word: tuple(language for language, words in _SMALL_WORDS.items() if word in words)
    for word in frozenset().union(*_SMALL_WORDS.values())
    if len(word) > 1  # a letter may be anything
}
_LEAST_WORDS: Final = 2
"""Fewer small words are a name or a quotation."""

_OF_SCRIPT: Final = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0600-\u06ff\u0750-\u077f]"), "arabic"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
)

_NAMED: Final[Mapping[str, str]] = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": ENGLISH,
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}

_local: Final = threading.local()  # a stemmer belongs to one thread


def named(code: object) -> str | None:
    """Return the language of an ISO 639-1 code such as "de" or "pt-BR"; None where there is no stemmer for it."""
    return _NAMED.get(re.split("[-_]", code)[0].lower()) if isinstance(code, str) else None


def told_by(words: Iterable[str]) -> str:
    """Return the language of a text in Latin letters by its small words, folded; English if none is ahead."""
    votes = Counter(language for word in words for language in _KNOWN_BY.get(word, ()))
    if not votes:
        return ENGLISH
    language, count = max(votes.items(), key=lambda vote: (vote[1], vote[0] == ENGLISH))
    return language if count >= _LEAST_WORDS else ENGLISH


def says_nothing(word: str, language: str) -> bool:
    """Say whether a word, folded, is one of the small words of a language other than English."""
    return language != ENGLISH and word in _SMALL_WORDS.get(language, ())


def stem(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a folded word: by its script, and in Latin letters by the language given.

    A word in digits or in a script without a stemmer is its own stem.
    """
    if "a" <= word[0] <= "z":
        return _stemmed(word, language)
    for script, of_script in _OF_SCRIPT:
        if script.match(word):
            return _stemmed(word, of_script)
    return word


def _stemmed(word: str, language: str) -> str:
    stemmer = getattr(_local, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language, 0)
        setattr(_local, language, stemmer)
    result: str = stemmer.stemWord(word)
    return result
