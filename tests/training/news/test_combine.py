import numpy as np
import pytest

from copydesk.training.news.combine import Combination, fit_combination, macro_f1


def test_a_lone_teacher_stays_as_it_is() -> None:
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(Combination((1.0,)).probabilities(np.log(probabilities)[None]), probabilities)


def test_the_teacher_that_knows_gets_the_say_and_is_calibrated() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, 4000)
    informed = random.normal(size=(4000, 4)) * 0.5
    informed[np.arange(4000), labels] += 1.5
    verdicts = np.stack([3 * informed, random.normal(size=(4000, 4))])
    verdicts -= np.log(np.exp(verdicts).sum(-1, keepdims=True))
    combination = fit_combination(verdicts, labels)
    assert combination.powers[0] > 5 * abs(combination.powers[1])
    probabilities = combination.probabilities(verdicts)
    accuracy = (probabilities.argmax(1) == labels).mean()
    assert abs(probabilities.max(1).mean() - accuracy) < 0.02


def test_macro_f1() -> None:
    labels = np.array([0, 0, 1, 1])
    assert macro_f1(labels, labels, 2) == 1.0
    assert macro_f1(np.array([0, 0, 0, 1]), labels, 2) == pytest.approx((0.8 + 2 / 3) / 2)
