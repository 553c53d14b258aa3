"""Our engines in this process give what the model's own calls give."""

from __future__ import annotations

import json
import time
from pathlib import Path

import copydesk
from copydesk.bench.engines.ours import Ours

TEXTS = ["天津市河西区珠江道21号", "上海市"]


def test_answers_are_the_models_own(tiny_model: Path) -> None:
    with copydesk.load(tiny_model, engine="openvino", draft=False) as model:
        records = [model.extract(text).value for text in TEXTS]
        labels = [model.classify(text).value for text in TEXTS]
    ours = Ours(str(tiny_model), "openvino")
    assert [json.loads(answer) for answer in ours.answer_all("address", TEXTS)] == records
    assert ours.answer_all("news", TEXTS) == labels
    assert json.loads(ours.answer("address", TEXTS[0]).text) == records[0]
    assert ours.answer("news", TEXTS[1]).text == labels[1]
    begun = time.perf_counter()
    reply = ours.answer("chat", TEXTS[0])
    assert begun < reply.first_at < time.perf_counter()
    assert ours.answer_all("chat", TEXTS)[0] == reply.text
    ours.close()
