from copydesk.training.news.novelty import Novelty
from copydesk.training.news.rows import NewsRow

TRAIN = NewsRow("The committee met on Monday to discuss " + "budgets and " * 8 + "taxes for the coming year.", 0, "k")
KEPT = NewsRow("A striker from the second league has signed for " + "a club and " * 8 + "a large fee.", 1, "k")
NEW = "Shares of the carmaker fell sharply on Tuesday after it cut its outlook for the rest of the year."


def test_a_new_text_is_admitted_once() -> None:
    novelty = Novelty([TRAIN], [KEPT])
    assert novelty.admit(NEW)
    assert not novelty.admit(NEW.upper())


def test_a_training_row_is_no_news_but_its_start_may_recur() -> None:
    novelty = Novelty([TRAIN], [KEPT])
    assert not novelty.admit(TRAIN.text)
    assert novelty.admit(TRAIN.text[:-30] + "and adjourned without a vote after ten hours of talks.")


def test_nothing_of_a_kept_back_row() -> None:
    novelty = Novelty([TRAIN], [KEPT])
    assert not novelty.admit(KEPT.text[:-12] + "an undisclosed fee, his agent told reporters late on Friday.")


def test_short_and_broken_texts_are_refused() -> None:
    novelty = Novelty([], [])
    assert not novelty.admit("Too short.")
    assert not novelty.admit(NEW + "\ufffd")
