"""What servers are and can do is found out by asking them."""

from __future__ import annotations

import asyncio

import pytest

from copydesk.engines.remote.client import Client
from copydesk.engines.remote.dialect import Dialect
from copydesk.engines.remote.patience import Patience
from copydesk.engines.remote.probe import Served, probe
from copydesk.errors import CopydeskError, EngineError, ModelError
from engines.remote.odd_server import Answer, Asked, FakeModel, OddServer, Sent

PATIENCE = Patience(request=5.0, attempts=2, first_wait=0.01)


def probed(answer: Answer, model: str | None = None, paths: tuple[str, ...] = ("/v1", "")) -> Served:
    with OddServer(answer) as server:

        async def run() -> Served:
            client = Client(server.url, patience=PATIENCE)
            try:
                return await probe(client, server.url, paths, model)
            finally:
                await client.close()

        return asyncio.run(run())


def test_a_server_of_vllm() -> None:
    assert probed(FakeModel()) == Served(
        path="/v1",
        model="fake",
        context_length=512,
        dialect=Dialect(
            kind="vllm",
            schema="response_format",
            choice="structured_outputs",
            regex="structured_outputs",
            most_top=20,
            template=True,
        ),
    )


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        (
            FakeModel(ways=("guided",), most_top=5),
            Dialect("vllm", schema="guided", choice="guided", regex="guided", most_top=5, template=True),
        ),
        (
            FakeModel("llamacpp", ways=("response_format", "grammar")),
            Dialect("llamacpp", schema="response_format", choice="grammar", most_top=20, template=True),
        ),
        (
            FakeModel("sglang", ways=("response_format", "regex")),
            Dialect("sglang", schema="response_format", choice="regex", regex="regex", most_top=20, template=True),
        ),
        (
            FakeModel("someone", ways=("regex",), most_top=0, refuses=("chat_template_kwargs",)),
            Dialect("unknown", choice="regex", regex="regex"),
        ),
        (
            FakeModel("openai", ways=(), refuses=("structured_outputs", "guided_json")),
            Dialect(most_top=20, template=True),
        ),
        (
            FakeModel("copydesk", refuses=("reasoning_effort",)),
            Dialect(
                "copydesk",
                schema="response_format",
                choice="structured_outputs",
                regex="structured_outputs",
                most_top=20,
                template=True,
            ),
        ),
    ],
)
def test_each_keeps_to_what_it_keeps_to(model: FakeModel, dialect: Dialect) -> None:
    assert probed(model).dialect == dialect


def test_ollama_is_known_by_its_version() -> None:
    def instead(asked: Asked) -> Sent | None:
        return Sent({"version": "0.9"}) if asked.path == "/api/version" else None

    model = FakeModel("library", instead=instead)
    assert probed(model).dialect.kind == "ollama"
    assert probed(FakeModel("a-user", instead=instead)).dialect.kind == "ollama"


def test_thinking_is_switched_off_as_the_server_has_it() -> None:
    assert probed(FakeModel(thinks=True)).dialect.template
    by_effort = probed(FakeModel(thinks=True, refuses=("chat_template_kwargs",))).dialect
    assert (by_effort.template, by_effort.effort, by_effort.thinks) == (False, True, False)
    refuses = ("chat_template_kwargs", "reasoning_effort")
    assert probed(FakeModel(thinks=True, refuses=refuses)).dialect.thinks
    assert probed(FakeModel("x", text="<think> Hm", refuses=refuses)).dialect.thinks


def test_whether_drafts_are_verified() -> None:
    assert probed(FakeModel(verifies=True)).dialect.verifies
    assert not probed(FakeModel()).dialect.verifies
    assert not probed(FakeModel("someone", verifies=True)).dialect.verifies


def test_sampling_that_the_openai_api_has_not() -> None:
    assert probed(FakeModel("someone")).dialect.extended
    assert not probed(FakeModel("someone", refuses=("top_k",))).dialect.extended
    assert probed(FakeModel("vllm", refuses=("top_k",))).dialect.extended


def test_objects_alone() -> None:
    """A server that writes no value but objects, as OpenAI's own."""

    def instead(asked: Asked) -> Sent | None:
        form = asked.body.get("response_format")
        if form and form["json_schema"]["schema"].get("type") != "object":
            return Sent({"error": {"message": "Invalid schema: must be an object"}}, 400)
        return None

    assert probed(FakeModel("openai", ways=("response_format",), instead=instead)).dialect.schema == "response_format"


def test_the_model_that_is_meant() -> None:
    models = tuple({"id": name, "owned_by": "vllm"} for name in ("a", "b"))
    assert probed(FakeModel(models=models), "b").model == "b"
    assert probed(FakeModel(models=({"id": "a:latest"},)), "a").model == "a:latest"
    with pytest.raises(ModelError, match=r"several models: a, b; name one \(--model NAME\)"):
        probed(FakeModel(models=models))
    with pytest.raises(ModelError, match="no model 'c'; it has a, b"):
        probed(FakeModel(models=models), "c")
    with pytest.raises(ModelError, match="has no model"):
        probed(lambda asked: Sent({"data": []}))


def test_adapters_are_not_meant_unless_named() -> None:
    models = ({"id": "base", "parent": None}, {"id": "tuned", "parent": "base"})
    assert probed(FakeModel(models=models)).model == "base"
    assert probed(FakeModel(models=models), "tuned").model == "tuned"


@pytest.mark.parametrize(
    ("entry", "length"),
    [
        ({"max_model_len": 8}, 8),
        ({"meta": {"n_ctx": 4, "n_ctx_train": 9}}, 4),
        ({"meta": {"n_ctx_train": 9}}, 9),
        ({"max_model_len": "many", "meta": None}, None),
    ],
)
def test_the_context_where_it_is_told(entry: dict[str, object], length: int | None) -> None:
    assert probed(FakeModel(models=({"id": "a", **entry},))).context_length == length


def test_the_second_path() -> None:
    def instead(asked: Asked) -> Sent | None:
        return Sent({}, 404) if asked.path.startswith("/x/v1") else None

    model = FakeModel(instead=instead)
    assert probed(model, paths=("/x/v1", "/v1")).path == "/v1"


@pytest.mark.parametrize(
    ("sent", "error", "says"),
    [
        (Sent("<html></html>", kind="text/html"), EngineError, "web page"),
        (Sent("<html></html>", 404, kind="text/html"), EngineError, "web page"),
        (Sent({"detail": "Not Found"}, 404), EngineError, "is not there"),
        (Sent({"error": {"message": "who?"}}, 401), EngineError, "refuses the key"),
        (Sent("Loading model", 503), EngineError, "Loading model"),
        (Sent("{broken"), EngineError, "lists no models"),
        (Sent({"data": [{"name": "x"}]}), EngineError, "lists no models"),
    ],
)
def test_what_is_no_server_is_told_in_one_line(sent: Sent, error: type[CopydeskError], says: str) -> None:
    with pytest.raises(error, match=says) as raised:
        probed(lambda asked: sent)
    assert "\n" not in str(raised.value)


def test_a_server_whose_model_answers_nothing() -> None:
    def instead(asked: Asked) -> Sent | None:
        return Sent({"error": "no chat template"}, 400) if asked.body else None

    with pytest.raises(EngineError, match="no chat template"):
        probed(FakeModel(instead=instead))


def test_a_server_that_stumbles_over_a_constraint() -> None:
    def instead(asked: Asked) -> Sent | None:
        return Sent("Internal error", 500) if "response_format" in asked.body else None

    assert probed(FakeModel(instead=instead)).dialect.schema == "structured_outputs"
