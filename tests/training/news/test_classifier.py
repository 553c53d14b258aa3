import numpy as np
import pytest
import torch

from copydesk.training.news.classifier import Labelled, log_probabilities, train_classifier
from copydesk.training.news.fine_tune import FineTuning
from copydesk.training.news.llama import Llama, LlamaShape
from copydesk.training.news.minilm import Encoder
from copydesk.training.news.sequences import Sequences

CPU = torch.device("cpu")


def networks() -> list[Llama | Encoder]:
    torch.manual_seed(0)
    shape = LlamaShape(
        32, 48, layers=1, attention_heads=2, key_value_heads=1, vocabulary=20, rope_theta=1e4, epsilon=1e-6
    )
    return [Llama(shape), Encoder(20, 32, 48, 1, 16)]


@pytest.mark.parametrize("network", networks(), ids=["causal", "encoder"])
def test_it_learns_which_word_stands_in_a_text(network: Llama | Encoder) -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 240)
    arrays = []
    for label in labels:
        array = random.integers(5, 20, random.integers(3, 9))
        array[random.integers(len(array))] = label + 1
        arrays.append(array)
    examples = Labelled(Sequences(arrays), labels)
    plan = FineTuning(20, 60, 16, 0.01, dtype=torch.float32)
    model = train_classifier(network, examples.take(np.arange(200)), plan, 3, CPU)
    unseen = examples.take(np.arange(200, 240))
    verdicts = log_probabilities([model, model], unseen.sequences, CPU, tokens_per_batch=64)
    assert verdicts.shape == (2, 40, 3)
    np.testing.assert_allclose(np.exp(verdicts).sum(-1), 1, atol=1e-5)
    assert (verdicts[0].argmax(1) == unseen.labels).mean() > 0.8
