"""The page's words."""

from __future__ import annotations

import re

from serving.page.scripts import FOLDER, run

WORDS = run("import { WORDS } from './i18n.js';\nreturn WORDS;")
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir() if path.suffix in (".js", ".html")}
FIRST = "import { firstLanguage } from './i18n.js';"


def test_both_languages_have_the_same_words_with_the_same_gaps() -> None:
    assert list(WORDS["en"]) == list(WORDS["zh"])
    for word, english in WORDS["en"].items():
        chinese = WORDS["zh"][word]
        assert english.strip()
        assert chinese.strip()
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), word


def test_each_word_is_said_somewhere_and_no_other() -> None:
    others = "\n".join(source for name, source in SOURCES.items() if name != "i18n.js")
    unsaid = [word for word in WORDS["en"] if f'"{word}"' not in others]
    assert unsaid == []
    before = (r"data-say(?:-label|-hint)?=", r"\b(?:say|label|word): \[?", r'tell\([\w.#()"-]+, ', r"hint\(\w+, ")
    said = re.findall(f'(?:{"|".join(before)})"(\\w+)"', others)
    assert set(said) <= set(WORDS["en"])
    assert len(said) > 50


def test_the_page_without_scripts_is_in_english() -> None:
    for word, text in re.findall(r'data-say="(\w+)"[^>]*>([^<]*)<', SOURCES["index.html"]):
        assert text == WORDS["en"][word]
    for word, text in re.findall(r'data-say-label="(\w+)" aria-label="([^"]*)"', SOURCES["index.html"]):
        assert text == WORDS["en"][word]


def test_the_first_language_is_the_one_chosen_before_else_the_browsers() -> None:
    def first(kept: str, languages: str) -> str:
        return str(
            run(
                f"{FIRST}\nglobalThis.localStorage = {{ getItem: () => {kept} }};\n"
                f"Object.defineProperty(globalThis, 'navigator', {{ value: {{ languages: {languages} }} }});\n"
                "return firstLanguage();"
            )
        )

    assert first("null", "['de-DE', 'zh-TW', 'en']") == "zh"
    assert first("null", "['de-DE']") == "en"
    assert first("null", "[]") == "en"
    assert first("'zh'", "['en-GB']") == "zh"
    assert first("'constructor'", "['en-GB']") == "en"
    assert first("(() => { throw new Error(); })()", "['zh']") == "zh"
