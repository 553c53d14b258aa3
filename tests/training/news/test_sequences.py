import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from copydesk.training.news.sequences import Sequences, tokenise


def test_batches_are_padded_on_the_right() -> None:
    sequences = Sequences([np.array([1, 2, 3]), np.array([4])])
    tokens, lengths = sequences.batch(np.array([1, 0]), torch.device("cpu"))
    assert tokens.tolist() == [[4] + [0] * 7, [1, 2, 3] + [0] * 5]
    assert lengths.tolist() == [1, 3]


def test_batches_by_length_cover_every_row_once() -> None:
    sequences = Sequences(np.ones(length, np.int32) for length in (5, 1, 90, 7, 7, 30, 2))
    batches = list(sequences.batches_by_length(32))
    assert sorted(np.concatenate(batches).tolist()) == list(range(7))
    assert all(len(batch) == 1 or len(batch) * sequences.lengths[batch].max() <= 32 for batch in batches)


def test_long_texts_are_cut_and_keep_their_ends() -> None:
    tokenizer = Tokenizer(models.WordLevel({"[S]": 0, "a": 1, "b": 2, "[E]": 3}, unk_token="b"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    wrapped = tokenise(tokenizer, ["a b a b a", "a"], limit=4, wrap=0)
    assert [array.tolist() for array in wrapped.arrays] == [[0, 1, 2, 0], [0, 1, 0]]
    tokenizer.post_processor = processors.TemplateProcessing("[S] $A [E]", special_tokens=[("[S]", 0), ("[E]", 3)])
    own = tokenise(tokenizer, ["a b a b a", "a"], limit=4)
    assert [array.tolist() for array in own.arrays] == [[0, 1, 2, 3], [0, 1, 3]]
