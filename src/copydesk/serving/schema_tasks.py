"""The tasks of schemas that callers send. The same schema is the same task, so that what is made of a task once, such
as its shape, need not be made for every request. Knows no route; schemas were checked before.
"""

from __future__ import annotations

from functools import lru_cache

import orjson

from copydesk.tasks.task import extraction
from copydesk.types import Json, Task

_REMEMBERED = 64


def schema_task(schema: Json) -> Task:
    """As `extraction`. Errors: as there."""
    return _task(orjson.dumps(schema))


@lru_cache(maxsize=_REMEMBERED)
def _task(written: bytes) -> Task:
    return extraction(orjson.loads(written))
