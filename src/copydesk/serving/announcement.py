"""What a server prints when it starts: where it is, its key if it made one, and what to paste to try it.

Knows no routes beyond those it shows.
"""

from __future__ import annotations

from copydesk import __version__

_SAMPLE = "长沙市岳麓区桃花岭路189号润丰园B座1202室 江雨桐 021-17613435"
_STORED = "$COPYDESK_KEY"


def address(host: str, port: int) -> str:
    """The URL under which a server that listens on `host` is reached from the same machine."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def announcement(url: str, model: str, key: str | None) -> str:
    """The text. `key` is the one made for this run; None where the caller has keys of their own."""
    if key is None:
        shown, python = _STORED, 'os.environ["COPYDESK_KEY"]'
        about = "Keys are those that were set up; put yours in COPYDESK_KEY."
    else:
        shown, python = key, f'"{key}"'
        about = f"API key, made for this run and kept nowhere: {key}"
    fragment = "" if key is None else f"#key={key}"
    imports = "import os\n\nfrom openai import OpenAI" if key is None else "from openai import OpenAI"
    return f"""\
copydesk {__version__} serves {model} at {url}
{about}
A page to try it: {url}/{fragment}

# curl
curl {url}/v1/extract -H "Authorization: Bearer {shown}" -H "Content-Type: application/json" \\
  -d '{{"text": "{_SAMPLE}"}}'

# Python
{imports}  # pip install openai

client = OpenAI(base_url="{url}/v1", api_key={python})
fields = ["province", "city", "district", "specific_location", "name", "phone"]
schema = {{"type": "object", "properties": {{field: {{"type": "string"}} for field in fields}}}}
completion = client.chat.completions.create(
    model="{model}",
    messages=[{{"role": "user", "content": "{_SAMPLE}"}}],
    response_format={{"type": "json_schema", "json_schema": {{"name": "recipient", "schema": schema}}}},
)
print(completion.choices[0].message.content)
"""
