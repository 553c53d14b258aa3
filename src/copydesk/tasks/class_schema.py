"""The JSON Schema of a pydantic class, without what its instances would drop or refuse again.

Knows nothing of tasks. pydantic describes what it reads; an answer should hold only what the class keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from copydesk.errors import SchemaError
from copydesk.types import Json

if TYPE_CHECKING:
    from pydantic_core import core_schema


def class_schema(model: type[BaseModel]) -> Json:
    """The schema that answers for `model` are held to. Errors: `SchemaError` `invalid_schema` when it has none."""
    try:
        return model.model_json_schema(schema_generator=_Generator)
    except PydanticUserError as error:
        raise SchemaError(
            f"{model.__name__} cannot be written as a JSON Schema: {error.message}", code="invalid_schema"
        ) from error


class _Generator(GenerateJsonSchema):
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """A class without fields is an empty object, not one of any keys, unless it keeps those."""
        written = super().model_schema(schema)
        return written if written.get("properties") else {"additionalProperties": False, **written}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """A number: the text that pydantic takes as well would be any text, of which it refuses most."""
        written = super().decimal_schema(schema)
        numbers = [branch for branch in written.get("anyOf", ()) if branch.get("type") == "number"]
        return numbers[0] if numbers else written
