"""What is said to a model."""

from __future__ import annotations

import pytest

from copydesk.bench.engines import asking
from copydesk.bench.engines.questions import Job
from copydesk.tasks.builtin import ADDRESS


def test_short_is_what_our_tasks_say() -> None:
    system, user = asking.short("address", "天津市")
    assert (system["role"], system["content"]) == ("system", ADDRESS.instruction)
    assert user == {"role": "user", "content": "天津市"}
    assert asking.short("chat", "Hello") == [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize("job", ["address", "news", "chat"])
def test_long_is_one_message(job: Job) -> None:
    (message,) = asking.long(job, "天津市")
    assert message["content"].endswith("\n\n天津市")
    assert len(message["content"]) > 5 * len(asking.short(job, "天津市")[0]["content"])
