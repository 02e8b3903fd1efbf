"""The grammar of the extractor by rules, as tables, and the small machine that reads a text with them.

`words.py` holds what words there are, `fragments.py` the parts that patterns are made of. Rules of what is known by
name stand in `oneself.py`, `people.py`, `relations.py`, `tastes.py`, `habits.py`, `states.py`, `dated.py` and
`measured.py`; rules of any noun in `attributes.py`, `turns.py` and `others.py`, of any verb in `frames.py` and
`counted.py`. `clauses.py` takes a text apart, `moments.py` reads times, `numerals.py` numbers in words, `phrases.py`
what the words before a value tell, `values.py` folds slots and values, `reading.py` applies the rules. English.
"""
