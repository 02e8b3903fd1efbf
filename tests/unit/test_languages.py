"""Which language a text is in, and that its words meet their other forms."""

from __future__ import annotations

import pytest

from langchain_tiered_memory.core.languages import named
from langchain_tiered_memory.core.text import analyze

MEETING = {
    "german": ("Meine Katzen schlafen auf dem Sofa.", "Wo schläft meine Katze?", {"katz"}),
    "french": ("Je travaille dans une banque à Lyon.", "Où est-ce que tu travailles ?", {"travaill"}),
    "spanish": ("Mis gatos duermen en la cocina.", "¿Dónde duerme el gato?", {"gat", "duerm"}),
    "italian": ("I miei fratelli abitano con me a Torino.", "Dove abita il fratello di Anna?", {"abit", "fratell"}),
    "portuguese": ("Eu trabalho em um hospital grande.", "Onde você trabalha?", {"trabalh"}),
    "dutch": ("Ik heb twee katten en een hond.", "Hoe heet mijn kat?", {"kat"}),
    "swedish": ("Jag har två katter och en hund.", "Vad heter min katt?", {"katt"}),
    "russian": ("Я работаю в синем доме.", "Где ты работаешь?", {"работа"}),
    "arabic": ("أعمل في المدرسة كل يوم", "أين مدرسة سارة", {"مدرس"}),
    "greek": ("Οι γάτες μου κοιμούνται", "Πού είναι η γάτα;", {"γατ"}),
}


@pytest.mark.parametrize(("said", "asked", "shared"), MEETING.values(), ids=MEETING)
def test_other_forms_of_a_word_meet(said: str, asked: str, shared: set[str]) -> None:
    assert shared <= set(analyze(said)) & set(analyze(asked))


@pytest.mark.parametrize(
    "small", ["Ich bin nicht in der Stadt", "Je ne suis pas dans la ville", "Ik ben niet in de stad"]
)
def test_small_words_of_a_language_are_left_out(small: str) -> None:
    assert set(analyze(small)) <= {"stadt", "ville", "vill", "stad"}


@pytest.mark.parametrize(
    "english",
    [
        "I die in Las Vegas, and so does the man in the car.",
        "We met at the Café de la Paix.",
        "She said 'ich liebe dich' and left with her dogs.",
        "Was it on a Monday that he sold his cars?",
    ],
)
def test_a_foreign_phrase_makes_no_foreign_text(english: str) -> None:
    assert analyze(english) == analyze(english, "english")


def test_a_language_that_is_given_counts_for_a_text_too_short_to_tell() -> None:
    assert analyze("Fahrräder, Häuser") == ["fahrrad", "hauser"]
    assert analyze("Fahrräder, Häuser", "german") == ["fahrrad", "hauser", "haus"]


def test_russian_endings_survive_the_fold() -> None:
    """The letter of "синий" that looks like an accented one is none; the one of "ёлка" is written without, too."""
    assert analyze("синий") == analyze("синего")
    assert analyze("ёлка") == analyze("елка")


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("de", "german"),
        ("pt-BR", "portuguese"),
        ("EN_us", "english"),
        ("xx", None),
        ("", None),
        (5, None),
        (None, None),
    ],
)
def test_languages_are_named_by_their_codes(code: object, language: str | None) -> None:
    assert named(code) == language
