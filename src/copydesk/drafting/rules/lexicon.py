"""All words that the rules look for, found in one pass over a text.

One automaton (Aho-Corasick) holds the divisions in all their forms, the labels, and the words of idle talk. Knows
nothing of what the words mean together.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from ahocorasick_rs import AhoCorasick

from copydesk.drafting.rules.folding import fold
from copydesk.drafting.rules.gazetteer import Form, gazetteer
from copydesk.drafting.rules.labels import Word
from copydesk.drafting.rules.wordings import Kind, wordings


@dataclass(slots=True)
class Words:
    """What stands where in one text. Ranges are half-open."""

    forms: dict[int, list[tuple[int, Form]]] = field(default_factory=dict)
    """Start -> ends and written forms of divisions, longest first."""
    sure: list[Word] = field(default_factory=list)
    unsure: list[Word] = field(default_factory=list)
    chatter: list[int] = field(default_factory=list)
    """Starts of words of idle talk, in order."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The automaton, and what its patterns mean."""

    automaton: AhoCorasick
    meanings: tuple[Form | tuple[bool, Kind] | None, ...]
    """A division's form; whether a label is sure, and its kind; None for idle talk."""

    def find(self, plain: str) -> Words:
        """The words of a folded text."""
        words = Words()
        forms = words.forms
        for pattern, start, end in self.automaton.find_matches_as_indexes(plain, overlapping=True):
            meaning = self.meanings[pattern]
            if meaning is None:
                words.chatter.append(start)
            elif isinstance(meaning, Form):
                if start in forms:
                    forms[start].insert(0, (end, meaning))
                else:
                    forms[start] = [(end, meaning)]
            elif meaning[0]:
                words.sure.append(Word(start, end, meaning[1]))
            else:
                words.unsure.append(Word(start, end, meaning[1]))
        words.chatter.sort()
        return words


@functools.cache
def lexicon() -> Lexicon:
    """The one lexicon, made at its first use."""
    forms = gazetteer().forms
    patterns = fold("\n".join(forms)).split("\n")
    meanings: list[Form | tuple[bool, Kind] | None] = list(forms.values())
    for table, sure in ((wordings().sure, True), (wordings().unsure, False)):
        for kind, some in table.items():
            patterns += some
            meanings += [(sure, kind)] * len(some)
    patterns += wordings().chatter
    meanings += [None] * len(wordings().chatter)
    return Lexicon(AhoCorasick(patterns), tuple(meanings))
