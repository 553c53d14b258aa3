import numpy as np
import torch

from copydesk.training.news.fine_tune import FineTuning
from copydesk.training.news.llama import Llama, LlamaShape
from copydesk.training.news.sequences import Sequences
from copydesk.training.news.writer import train_writer, write

SHAPE = LlamaShape(16, 24, layers=1, attention_heads=2, key_value_heads=1, vocabulary=12, rope_theta=1e4, epsilon=1e-6)
SENTENCES = ([3, 4, 5], [6, 7])


def test_it_learns_to_write_what_it_read() -> None:
    torch.manual_seed(0)
    sequences = Sequences(np.array([0, *SENTENCES[number % 2], 0]) for number in range(64))
    plan = FineTuning(15, 60, 16, 0.02, dtype=torch.float32)
    network = train_writer(Llama(SHAPE), sequences, plan, torch.device("cpu"))
    written = write(network, batch=40, end=0, limit=12, temperature=1.0, top_p=0.9, top_k=8)
    right = [array.tolist() in SENTENCES for array in written]
    assert len(written) >= 36
    assert sum(right) >= 0.9 * len(written)
    assert {len(array) for array in written} >= {2, 3}


def test_seeded_writing_repeats_and_unended_texts_are_left_out() -> None:
    torch.manual_seed(1)
    network = Llama(SHAPE).eval()
    runs = []
    for _ in range(2):
        torch.manual_seed(5)
        written = write(network, batch=64, end=0, limit=20, temperature=1.0, top_p=1.0, top_k=12)
        runs.append([array.tolist() for array in written])
    assert runs[0] == runs[1]
    assert 0 < len(runs[0]) < 64
    assert all(0 not in array and len(array) < 19 for array in runs[0])
