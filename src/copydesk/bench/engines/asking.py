"""What is said to a model in each job, long as guides start and short, and how long it may answer. Knows no models."""

from __future__ import annotations

from collections.abc import Mapping

from copydesk.bench.engines.questions import Job
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.named_prompts import instruction
from copydesk.types import Task

Message = dict[str, str]
MOST_TOKENS: Mapping[Job, int] = {"address": 128, "news": 8, "chat": 64}
"""Longest answer, fitted to the job."""
TASKS: Mapping[Job, Task] = {"address": ADDRESS, "news": AGNEWS}
"""The jobs that are tasks of ours."""
_CHAT_GUIDE = """You are a professional, friendly and knowledgeable assistant. Please follow these principles:
1. Understand what the user really wants to know before you answer, and think step by step.
2. Answer accurately; when you are not sure, say so rather than make something up.
3. Keep a polite tone, use clear and complete sentences, and structure longer answers with lists.
4. Do not discuss illegal, violent or otherwise harmful topics.
5. Reply in the language of the user."""


def long(job: Job, text: str) -> list[Message]:
    """All in one message of the user's, as guides start."""
    said = instruction(TASKS[job], "guide") if job in TASKS else _CHAT_GUIDE
    return [{"role": "user", "content": f"{said}\n\n{text}"}]


def short(job: Job, text: str) -> list[Message]:
    """What a task of ours says, as the system message, and the text alone as the user's; a chat is the text alone."""
    system = [{"role": "system", "content": TASKS[job].instruction}] if job in TASKS else []
    return [*system, {"role": "user", "content": text}]
