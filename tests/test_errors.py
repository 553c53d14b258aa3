from __future__ import annotations

import pytest

from copydesk import errors


@pytest.mark.parametrize(
    "kind", [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
)
def test_every_error_is_ours_with_a_stable_code_that_may_be_narrowed(kind: type[errors.CopydeskError]) -> None:
    assert issubclass(kind, errors.CopydeskError)
    assert kind("why and what to do").code == kind.code
    assert str(kind("why and what to do")) == "why and what to do"
    assert kind("x", code="narrower").code == "narrower"
    assert kind.code.isidentifier()
