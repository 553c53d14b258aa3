import torch

from copydesk.training.news.llama import Cache, Llama, LlamaShape

SHAPE = LlamaShape(16, 24, layers=2, attention_heads=4, key_value_heads=2, vocabulary=11, rope_theta=1e4, epsilon=1e-6)


def model() -> Llama:
    torch.manual_seed(3)
    return Llama(SHAPE).eval()


def test_steps_agree_with_one_pass() -> None:
    network, tokens = model(), torch.tensor([[1, 5, 7, 2], [4, 4, 0, 9]])
    with torch.no_grad():
        whole = network(tokens)
        cache = Cache(SHAPE, 2, 8, network.embedding)
        steps = [network.step(tokens[:, at], cache, at) for at in range(4)]
    torch.testing.assert_close(torch.stack(steps, 1), whole, atol=1e-5, rtol=1e-4)


def test_kept_rows_go_on_as_before() -> None:
    network, tokens = model(), torch.tensor([[1, 5, 7], [4, 4, 0], [2, 3, 9]])
    kept = torch.tensor([0, 2])
    with torch.no_grad():
        cache = Cache(SHAPE, 3, 8, network.embedding)
        for at in range(2):
            network.step(tokens[:, at], cache, at)
        cache.keep(kept)
        last = network.step(tokens[kept, 2], cache, 2)
        torch.testing.assert_close(last, network(tokens)[kept, 2], atol=1e-5, rtol=1e-4)


def test_padding_on_the_right_changes_nothing() -> None:
    network = model()
    with torch.no_grad():
        short, long = network(torch.tensor([[1, 5]])), network(torch.tensor([[1, 5, 0, 0]]))
    torch.testing.assert_close(short, long[:, :2], atol=1e-5, rtol=1e-4)
