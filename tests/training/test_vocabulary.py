"""A reduced vocabulary is closed, clean, of the size asked for, and gives up what is used least."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.errors import UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.training.vocabulary import CONTROL_TOKENS, PROMPT_TEXTS, Vocabulary, cut, excess, is_clean, write_folder
from models.small_tokenizer import CONTROL, SAMPLES, write_like_qwen3

SIZE = 384


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_like_qwen3(tmp_path_factory.mktemp("qwen3"))


@pytest.fixture(scope="module")
def source(folder: Path) -> Vocabulary:
    return Vocabulary.read(folder)


@pytest.fixture(scope="module")
def reduced(source: Vocabulary) -> Vocabulary:
    return cut(source, SAMPLES, SIZE)


@pytest.fixture(scope="module")
def tokenizer(folder: Path, reduced: Vocabulary, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    written = tmp_path_factory.mktemp("reduced")
    write_folder(reduced, folder, written)
    return Tokenizer(written)


def by_hand(merges: Sequence[str]) -> Vocabulary:
    """All bytes and the given merges (`a b`), split nowhere."""
    from tokenizers import pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = [*alphabet, *(merge.replace(" ", "") for merge in merges)]
    added = [{"content": token, "special": True, "normalized": False} for token in CONTROL]
    added = [{**token, "single_word": False, "lstrip": False, "rstrip": False} for token in added]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    definition: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": byte_level,
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": {token: id for id, token in enumerate(tokens)}, "merges": list(merges)},
    }
    return Vocabulary(definition)


def merged(vocabulary: Vocabulary) -> set[str]:
    return {token.decode() for token in vocabulary.tokens if len(token) > 1}


@given(text=st.one_of(st.text(), st.lists(st.sampled_from([*SAMPLES, *CONTROL, '"', "市", " "])).map("".join)))
def test_any_text_survives_without_control_ids(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert not tokenizer.control_ids.intersection(ids)


def test_ids_are_dense_and_control_tokens_last(reduced: Vocabulary, tokenizer: Tokenizer) -> None:
    assert tokenizer.vocab_size == SIZE
    assert sorted(reduced.definition["model"]["vocab"].values()) == list(range(SIZE - 5))
    assert [tokenizer.id_of(token) for token in CONTROL_TOKENS] == list(range(SIZE - 5, SIZE))


def test_bytes_are_kept_and_every_merge_has_its_parents(source: Vocabulary, reduced: Vocabulary) -> None:
    assert {bytes([byte]) for byte in range(256)} <= set(reduced.tokens)
    assert len(reduced.parents) == SIZE - 5 - 256
    whole = [reduced.tokens[left] + reduced.tokens[right] for left, right in reduced.parents.values()]
    assert whole == [reduced.tokens[id] for id in reduced.parents]
    order = [source.tokens[id] for id in source.parents]
    assert whole == [token for token in order if token in set(whole)]


def test_every_token_is_clean(source: Vocabulary, reduced: Vocabulary) -> None:
    assert not all(map(is_clean, source.tokens))
    assert all(map(is_clean, reduced.tokens))


@pytest.mark.parametrize(
    "token", ["市", "天津市", " the", "  ", "\n\n", "é", "😀", '"', ' "', '{"', '":', '",', ' ""', ' "",', '"}', '""']
)
def test_whole_characters_and_json_are_clean(token: str) -> None:
    assert is_clean(token.encode())


@pytest.mark.parametrize(
    "token", [b"\xe5", b"\xe5\xa4", b"\xa4", b"\xa4\xa9", b"\xf0\x9f\x98", b"\x9f\x98\x80", b"\xc3"]
)
def test_parts_of_one_character_are_clean(token: bytes) -> None:
    assert is_clean(token)


@pytest.mark.parametrize(
    "token",
    [
        b" \xe5",
        b" \xe5\xa4",
        b"\xa4\xa9\xe6",
        "天".encode() + b"\xe6",
        b"\xa9" + "天".encode(),
        b"\xa4\xa9\xa4\xa9",
        b"a\xc3",
    ]
    + [text.encode() for text in ('."', '"a', ',"', '="', '";', '"(', '""a', '"\n')],
)
def test_mixtures_and_other_quotes_are_not(token: bytes) -> None:
    assert not is_clean(token)


def test_a_token_made_from_an_unclean_one_goes_too() -> None:
    source = by_hand(["a .", 'a. "', 'a." b', "b c"])
    assert merged(_cut_to(source, ['a."b' * 9 + "bc"], 2)) == {"a.", "bc"}


def test_the_least_used_goes_first_and_its_parents_inherit() -> None:
    source = by_hand([f"{left} {right}" for left, right in zip("acegikmo", "bdfhjlnp", strict=True)] + ["ab cd"])
    texts = ["abcd"] * 3 + ["ef"] * 2 + ["gh"] * 9
    smaller = _cut_to(source, texts, 3)
    assert merged(smaller) == {"ab", "cd", "gh"}  # abcd, used 3 times, goes before its parents, which then stand for it
    assert merged(_cut_to(source, texts, 4)) == {"ab", "cd", "abcd", "gh"}
    assert merged(_cut_to(source, texts, 1)) == {"gh"}


def test_a_token_of_two_equal_halves_frees_its_half() -> None:
    source = by_hand(["a a", "aa aa", "b c"])
    assert merged(_cut_to(source, ["aaaa", "bc", "bc", "bc", "bc"], 1)) == {"bc"}
    assert merged(_cut_to(source, ["aaaa", "aa", "bc", "bc"], 2)) == {"aa", "bc"}


def _cut_to(source: Vocabulary, texts: list[str], merges: int) -> Vocabulary:
    """`cut` without the rounding to multiples of 64."""
    from copydesk.training import vocabulary

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "MULTIPLE", 1)
        return cut(source, texts, 256 + merges + len(CONTROL_TOKENS))


def test_kept_texts_stay_as_short_as_they_were(source: Vocabulary) -> None:
    kept, others = "specific_location", [SAMPLES[3]] * 20
    without, with_it = cut(source, others, 320), cut(source, others, 320, keep=[kept])
    assert excess(source, without, [kept]) > 0
    assert excess(source, with_it, [kept]) == 0


def test_excess_falls_with_size(source: Vocabulary) -> None:
    shares = [excess(source, cut(source, SAMPLES, size), SAMPLES) for size in (320, 384)]
    assert shares[0] > shares[1]


def test_sizes_that_cannot_be_are_refused(source: Vocabulary) -> None:
    with pytest.raises(UsageError, match="take 384"):
        cut(source, SAMPLES, 350)
    with pytest.raises(UsageError, match="no room"):
        cut(source, SAMPLES, 320, keep=SAMPLES)
    with pytest.raises(UsageError, match="ask for fewer"):
        cut(source, SAMPLES, 6400)


def test_the_same_texts_give_the_same_files(folder: Path, source: Vocabulary, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_folder(cut(source, iter(SAMPLES), SIZE), folder, tmp_path / name)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert one.keys() == {"tokenizer.json.gz", "tokenizer_config.json", "generation_config.json"}
    assert json.loads(gzip.decompress(one["tokenizer.json.gz"]))["normalizer"] is None


def test_the_answers_layout_is_among_the_kept_texts() -> None:
    assert (
        '{"province": "", "city": "", "district": "", "specific_location": "", "name": "", "phone": ""}' in PROMPT_TEXTS
    )
    assert {"World", "Sports", "Business", "Sci/Tech"} <= set(PROMPT_TEXTS)
