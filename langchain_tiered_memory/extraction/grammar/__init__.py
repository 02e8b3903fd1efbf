"""The grammar of the extractor by rules, as tables, and the small machine that reads a text with them.

`words.py` holds what words there are, `fragments.py` the parts that patterns are made of, `oneself.py`, `people.py`,
`tastes.py`, `dated.py` and `measured.py` the rules. `clauses.py` takes a text apart, `moments.py` reads times,
`values.py` folds slots and values, `reading.py` applies the rules. English.
"""
