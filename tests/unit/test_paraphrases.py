"""Whether two statements say the same in other words."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.core.paraphrases import same_statement

SAME = [
    ["I love sushi", "I really love sushi", "Sushi is something I love", "I absolutely love sushi"],
    [
        "I am allergic to peanuts",
        "I'm allergic to peanuts",
        "I have a peanut allergy",
        "Peanuts: I am allergic to them",
    ],
    ["I work at Initech as a nurse", "I'm working at Initech as a nurse", "I work as a nurse at Initech"],
    ["My daughter's name is Mia", "My daughter is called Mia", "I have a daughter called Mia"],
    ["I play the violin on Tuesdays", "On Tuesdays I play violin", "Tuesdays I play the violin"],
    [
        "Please always answer in short sentences",
        "Always answer with short sentences please",
        "Please answer always in short sentences",
    ],
    ["I don't eat meat", "I do not eat any meat", "I don't eat meat at all"],
    ["I run five miles every morning", "Every morning I run five miles", "I go running five miles every morning"],
    ["My car is a red Volvo", "I have a red Volvo car"],
    ["I speak Spanish and French", "I can speak French and Spanish", "I speak both Spanish and French"],
    ["I hate loud restaurants", "I really hate loud restaurants", "Loud restaurants: I hate them"],
    ["We are getting married in June", "We're getting married in June", "Our wedding is in June"],
    ["I drink my coffee black", "Black coffee is how I drink it"],
    ["My dog is afraid of thunder", "My dog gets afraid when there is thunder"],
    ["I take 20 mg of atorvastatin daily", "I take atorvastatin, 20 mg a day", "Daily I take 20 mg atorvastatin"],
    ["I prefer window seats on planes", "On planes I prefer window seats", "On a plane I prefer the window seat"],
    ["I like dogs and cats", "I like cats and dogs", "I love dogs and cats."],
    ["I have got two sons", "I have two sons"],
    ["I do not own a car", "I don't own a car"],
    ["My brother lives in Oslo", "Oslo is where my brother lives", "I have a brother living in Oslo"],
]
"""Groups of which all say the same."""

APART = [
    ("I love sushi", "I hate sushi"),
    ("I love sushi", "I love sashimi"),
    ("I love hiking", "I love biking"),
    ("I am allergic to peanuts", "I am allergic to penicillin"),
    ("I am allergic to peanuts", "My son is allergic to peanuts"),
    ("I am allergic to peanuts", "I am not allergic to peanuts"),
    ("I work at Initech as a nurse", "I work at Initrode as a nurse"),
    ("My daughter's name is Mia", "My daughter's name is Lia"),
    ("My daughter's name is Mia", "My dog's name is Mia"),
    ("I play the violin on Tuesdays", "I play the violin on Thursdays"),
    ("I play the violin on Tuesdays", "I play the viola on Tuesdays"),
    ("I run five miles every morning", "I run six miles every morning"),
    ("I run five miles every morning", "I run five miles every evening"),
    ("My car is a red Volvo", "My car is a blue Volvo"),
    ("I speak Spanish and French", "I speak Spanish and German"),
    ("I speak Spanish", "I speak Spanish and French"),
    ("We are getting married in June", "We are getting married in July"),
    ("I drink my coffee black", "I drink my coffee white"),
    ("My dog is afraid of thunder", "My cat is afraid of thunder"),
    ("I grew up near Graz", "I grew up near Linz"),
    ("I take 20 mg of atorvastatin daily", "I take 40 mg of atorvastatin daily"),
    ("I prefer window seats on planes", "I prefer aisle seats on planes"),
    ("My brother lives in Oslo", "My sister lives in Oslo"),
    ("My brother lives in Oslo", "My brother works in Oslo"),
    ("My brother lives in Oslo", "My brother lived in Oslo until 2019"),
    ("I like tea more than coffee", "I like coffee more than tea"),
    ("Anna introduced me to Ben", "Ben introduced me to Anna"),
    ("I'd rather fly than drive", "I'd rather drive than fly"),
    ("I bought a house in Graz", "I sold a house in Graz"),
    ("I started smoking", "I stopped smoking"),
    ("I am looking for a job", "I am looking for a flat"),
    ("I have two sons", "I have two daughters"),
    ("My meeting is before lunch", "My meeting is after lunch"),
    ("I left my keys at work", "I left my bag at work"),
    ("My first child was born in 2015", "My second child was born in 2015"),
    ("I like all vegetables", "I like all vegetables except broccoli"),
    ("I can swim", "I can't swim"),
    ("I often eat out", "I rarely eat out"),
    ("I am always late", "I am never late"),
    ("I work from home on Mondays", "I work from home on Mondays and Fridays"),
    ("I have a peanut allergy", "I have a pollen allergy"),
    ("My wife is a doctor", "My wife is a lawyer"),
    ("I love my job", "I love my new job at Globex"),
    ("The API deadline is Friday", "The report deadline is Friday"),
    ("I moved to Boston", "I moved from Boston"),
    ("I own a cat", "I owned a cat"),
    ("I want to learn Polish", "I learned Polish"),
    ("I have diabetes type 1", "I have diabetes type 2"),
    ("My mother is married to Tom", "My mother was married to Tom"),
    ("I like swimming in the sea", "I like swimming in the pool"),
    ("I gave Tom the book", "Tom gave me the book"),
    ("Please answer in short sentences", "Please answer in long sentences"),
    ("I am going to Rome", "I have been to Rome"),
    ("I'm getting married in June", "I got married in June"),
    ("I got a new job", "I am getting a new job"),
    ("I have to quit smoking", "I quit smoking"),
    ("I can work on Saturdays", "I work on Saturdays"),
    ("My sister is a doctor", "My sister has a doctor"),
    ("I am a nurse", "I have a nurse"),
    ("I had surgery", "I did surgery"),
    ("We are vegan", "They are vegan"),
    ("I am vegan", "They are vegan"),
    ("I love my mother", "My mother loves me"),
    ("Anna loves Bob", "Bob loves Anna"),
    ("My dog bit a man", "A man bit my dog"),
    ("The company sued my brother", "My brother sued the company"),
    ("My brother is my boss", "My boss is my brother"),
    ("My sister's husband is Tom", "My husband's sister is Tom"),
    ("I eat fish and I don't eat meat", "I eat meat and I don't eat fish"),
    ("I like dogs, not cats", "I like cats, not dogs"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("I prefer tea to coffee", "I prefer coffee to tea"),
    ("I have milk with coffee", "I have coffee with milk"),
    ("I love chocolate milk", "I love milk chocolate"),
    ("Tuesdays I rest and Fridays I work", "Tuesdays I work and Fridays I rest"),
    ("I have a black dog and a white cat", "I have a white dog and a black cat"),
    ("I have two sons and a daughter", "I have two daughters and a son"),
    ("I need 3 of 5", "I need 5 of 3"),
    ("I work with Anna", "I work for Anna"),
    ("My father is in hospital", "My father goes to hospital"),
    ("I know where she works", "I know when she works"),
    ("I don't like all vegetables", "I don't like any vegetables"),
    ("I can't eat meat", "I don't eat meat"),
    ("My child is called Tom", "My child called Tom"),
    ("My birthday is 05/06", "My birthday is 06/05"),
    ("My rating is 4.5", "My rating is 5.4"),
    ("My number is 555-1234", "My number is 1234-555"),
    ("It was -5 degrees", "It was 5 degrees"),
    ("The balance is $500", "The balance is €500"),
    ("My shift is from 9 to 5", "My shift is from 5 to 9"),
    ("I program in C++", "I program in C#"),
    ("My blood type is A+", "My blood type is A-"),
    ("My blood type is A", "My blood type is"),
    ("I work in IT", "I work"),
    ("I live in the US", "I live"),
]
"""Pairs that look alike and say different things."""


@pytest.mark.parametrize("group", SAME, ids=lambda group: group[0])
def test_statements_in_other_words_are_the_same(group: list[str]) -> None:
    for one, other in combinations(group, 2):
        assert same_statement(one, other)
        assert same_statement(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_statements_that_only_look_alike_are_not(one: str, other: str) -> None:
    assert not same_statement(one, other)
    assert not same_statement(other, one)


def test_of_all_examples_only_those_of_a_group_are_the_same() -> None:
    told = [(place, text) for place, group in enumerate(SAME) for text in group]
    for (one, text), (other, said) in combinations(told, 2):
        assert same_statement(text, said) == (one == other), (text, said)


@given(st.text(max_size=400))
def test_a_text_with_words_is_the_same_as_itself_and_none_as_nothing(text: str) -> None:
    assert same_statement(text, text) or not same_statement(text, "")
    assert not same_statement("", text)


def test_long_texts_are_the_same_only_word_by_word() -> None:
    long = "I love sushi. " * 30
    assert same_statement(long, long.upper())
    assert not same_statement(long, long.replace("love", "really love"))
