"""The turns of a chat as the model takes them: plain texts of the system, the user and the assistant.

Knows the wire's messages and the sizes that are taken, no template.
"""

from __future__ import annotations

from collections.abc import Sequence

from copydesk.serving.errors import ApiError
from copydesk.serving.measures import check_text
from copydesk.serving.settings import Limits
from copydesk.serving.wire.chat import Message, Part

_ROLES = {"developer": "system", "tool": "user", "function": "user"}
"""What the model knows of the others: a tool's result is something it is told."""


def turns(messages: Sequence[Message], limits: Limits) -> list[dict[str, str]]:
    """Errors: `ApiError` 400 for contents other than text, and for too much of it."""
    if len(messages) > limits.max_messages:
        raise ApiError(
            400, f"{len(messages)} messages are too many; at most {limits.max_messages} are taken.", param="messages"
        )
    return [
        {"role": _ROLES.get(message.role, message.role), "content": _content(message, f"messages[{number}]", limits)}
        for number, message in enumerate(messages)
    ]


def text_of(content: str | Sequence[Part], param: str, limits: Limits) -> str:
    """A content's text, its parts one after the other. Errors: as `turns`."""
    if not isinstance(content, str):
        content = "".join(_part(part, f"{param}[{number}]") for number, part in enumerate(content))
    check_text(content, limits, param)
    return content


def _content(message: Message, param: str, limits: Limits) -> str:
    if message.content is None and message.role != "assistant":
        raise ApiError(400, f"{param}.content: a {message.role} message needs a content.", param=f"{param}.content")
    text = text_of(message.content or "", f"{param}.content", limits)
    calls = [call.function.arguments for call in message.tool_calls or () if call.function]
    for arguments in calls:
        check_text(arguments, limits, f"{param}.tool_calls")
    return "\n".join(filter(None, [text, *calls]))


def _part(part: Part, param: str) -> str:
    text = part.refusal if part.type == "refusal" else part.text
    if part.type not in ("text", "refusal") or text is None:
        raise ApiError(
            400,
            f"{param}: only parts of type text are understood, not {part.type!r}.",
            param=param,
            code="unsupported_content",
        )
    return text
