"""What of a reply is handed out when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.chat.outgoing import Outgoing
from copydesk.desk.chat.state import Course, ReplyState
from copydesk.desk.chat.vocabulary import ReplyVocabulary
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Delta, TokenLogprob


def begun(tokenizer: Tokenizer, *, reasons: bool = False, stop: tuple[bytes, ...] = ()) -> ReplyState:
    return ReplyState(Course(ReplyVocabulary(tokenizer, tokenizer.vocab_size), reasons=reasons, stop=stop))


def handed_out(tokenizer: Tokenizer, state: ReplyState, text: str, outgoing: Outgoing) -> list[Delta | None]:
    """What comes out after each token of a text, and in the end."""
    deltas = []
    for token in tokenizer.encode_control(text):
        assert state.accept(token)
        deltas.append(outgoing.next(state))
    return [*deltas, outgoing.next(state, last=True)]


def bytes_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """A text as single bytes."""
    return [
        next(id for id in range(tokenizer.vocab_size) if tokenizer.token_bytes(id) == bytes([byte]))
        for byte in text.encode()
    ]


def test_only_whole_characters_are_handed_out(thinking: Tokenizer) -> None:
    state, outgoing = begun(thinking), Outgoing()
    deltas = []
    for token in bytes_of(thinking, "猫a"):
        state.accept(token)
        deltas.append(outgoing.next(state))
    assert deltas == [None, None, Delta("猫"), Delta("a")]
    state.accept(bytes_of(thinking, "猫")[0])
    assert outgoing.next(state, last=True) is None
    assert outgoing.content == "猫a"


def test_what_may_become_a_stop_text_waits(thinking: Tokenizer) -> None:
    state, outgoing = begun(thinking, stop=(b"12",)), Outgoing((b"12",))
    assert handed_out(thinking, state, "a1", outgoing) == [Delta("a"), None, Delta("1")]
    state, outgoing = begun(thinking, stop=(b"12",)), Outgoing((b"12",))
    tokens = [*bytes_of(thinking, "a1b12")]
    found = []
    for token in tokens:
        state.accept(token)
        found.append(outgoing.next(state))
    assert found == [Delta("a"), None, Delta("1b"), None, None]
    assert state.finished
    assert outgoing.content == "a1b"


def test_reasoning_comes_apart_and_without_space_around_it(thinking: Tokenizer) -> None:
    state, outgoing = begun(thinking, reasons=True), Outgoing()
    handed_out(thinking, state, "\n\nhm 1\n\n2 \n</think>\n\n yes \n", outgoing)
    assert (outgoing.reasoning, outgoing.content) == ("hm 1\n\n2", "yes \n")


def test_logprobs_go_with_the_text_of_their_tokens(thinking: Tokenizer) -> None:
    state, outgoing = begun(thinking, reasons=True, stop=(b"21",)), Outgoing((b"21",))
    deltas, length = [], 0
    for token in [*thinking.encode_control("1</think>\n\n"), *bytes_of(thinking, "a2b21")]:
        state.accept(token)
        text = thinking.token_bytes(token)
        outgoing.add(length, length + len(text), TokenLogprob(text, -1.0))
        length += len(text)
        deltas.append(outgoing.next(state))
    deltas.append(outgoing.next(state, last=True))
    found = [(delta.content, [one.text for one in delta.logprobs]) for delta in deltas if delta and delta.content]
    assert found == [("a", [b"a"]), ("2b", [b"2", b"b"])]
    assert [one.text for one in outgoing.logprobs] == [b"a", b"2", b"b"]


def test_what_was_taken_back_is_forgotten() -> None:
    outgoing = Outgoing()
    outgoing.add(0, 2, TokenLogprob(b"ab", -1.0))
    outgoing.add(2, 3, TokenLogprob(b"c", -1.0))
    outgoing.retract(2)
    assert [entry[0] for entry in outgoing._logprobs] == [0]


@given(data=st.data(), reasons=st.booleans())
def test_pieces_join_to_the_whole(thinking: Tokenizer, data: st.DataObject, reasons: bool) -> None:
    stop = (b"ab", "津\n".encode())
    whole, piecewise = begun(thinking, reasons=reasons, stop=stop), begun(thinking, reasons=reasons, stop=stop)
    at_once, outgoing = Outgoing(stop), Outgoing(stop)
    deltas = []
    plain = [id for id in range(thinking.vocab_size) if id not in thinking.control_ids]
    marks = thinking.encode_control("</think>")
    for token in data.draw(st.lists(st.sampled_from([*plain, *marks * 40]), max_size=40)):
        assert whole.accept(token) == piecewise.accept(token)
        deltas.append(outgoing.next(piecewise))
    at_once.next(whole, last=True)
    deltas.append(outgoing.next(piecewise, last=True))
    assert (outgoing.content, outgoing.reasoning) == (at_once.content, at_once.reasoning)
    assert "".join(delta.content for delta in deltas if delta) == outgoing.content
    assert "".join(delta.reasoning for delta in deltas if delta) == outgoing.reasoning
