"""The page's files: how they are served, and that nothing in them reaches for what is not there."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from copydesk.serving.playground import PREFIX, page_routes
from serving.page.scripts import FOLDER, complaint

SOURCES = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
SCRIPTS = {name: source for name, source in SOURCES.items() if name.endswith(".js")}


class Read(HTMLParser):
    """The tags of a document with their attributes."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def values(self, attribute: str) -> list[str]:
        return [value for _, given in self.tags if (value := given.get(attribute))]


PAGE = Read(SOURCES["index.html"])


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=page_routes()))


def paths() -> list[str]:
    return [route.path for route in page_routes() if isinstance(route, Route)]


def test_every_file_is_served_as_what_it_is(client: TestClient) -> None:
    assert set(paths()) == {"/", *(PREFIX + name for name in SOURCES if name != "index.html")}
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"
    for name, source in SOURCES.items():
        if name != "index.html":
            answer = client.get(PREFIX + name)
            assert (answer.status_code, answer.text) == (200, source)
            assert answer.headers["content-type"] == kinds[name.rpartition(".")[2]]


def test_nothing_else_is_served(client: TestClient) -> None:
    for path in ("/page/", "/page/index.html", "/page/..%2fplayground.py", "/page/../playground.py", "/page/none.js"):
        assert client.get(path).status_code == 404
    assert client.post("/").status_code == 405


def test_headers_let_nothing_in_that_is_not_the_pages_own(client: TestClient) -> None:
    for path in paths():
        headers = client.get(path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert {policy[name] for name in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
        assert {policy[name] for name in ("base-uri", "form-action", "frame-ancestors")} == {"'none'"}
        assert policy["require-trusted-types-for"] == "'script'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_a_browser_asks_again_and_is_told_that_nothing_changed(client: TestClient) -> None:
    tags = set()
    for path in paths():
        first = client.get(path)
        assert first.headers["cache-control"] == "no-cache"
        tags.add(first.headers["etag"])
        for known in (first.headers["etag"], f'"x", W/{first.headers["etag"]}', "*"):
            again = client.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == first.headers["etag"]
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    assert len(tags) == len(paths())


def test_the_head_of_a_file_can_be_asked_for(client: TestClient) -> None:
    answer = client.head("/")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(SOURCES["index.html"].encode())


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    for tag, given in PAGE.tags:
        assert not {name for name in given if name.startswith("on") or name == "style"}, tag
        if tag == "script":
            assert set(given) == {"type", "src"}
    assert "<style" not in SOURCES["index.html"]
    known = {f"page/{name}" for name in SOURCES}
    assert set(PAGE.values("src")) | set(PAGE.values("href")) <= known
    for name, source in SOURCES.items():
        found = set(re.findall(r"(?:https?:)?//[\w.]+", source)) - {"http://www.w3.org"}
        assert not {each for each in found if "." in each}, name
    assert "url(" not in SOURCES["page.css"]
    assert "@import" not in SOURCES["page.css"]


def test_scripts_make_no_markup_of_text() -> None:
    markup = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc", "eval(", "new Function")
    for name, source in SCRIPTS.items():
        assert not [word for word in markup if word in source], name


def test_scripts_can_be_read() -> None:
    for name, source in SCRIPTS.items():
        assert complaint(source) == "", name
    assert complaint("export const a = ;")


def test_scripts_import_what_there_is() -> None:
    exported = {
        name: set(re.findall(r"^export (?:async )?(?:function|const|class) (\w+)", source, re.M))
        for name, source in SCRIPTS.items()
    }
    for source in SCRIPTS.values():
        for names, file in re.findall(r'^import \{ ([^}]+) \} from "\./([\w.]+)";', source, re.M):
            assert set(names.split(", ")) <= exported[file]


def test_ids_are_there_once_and_all_that_are_spoken_of_exist() -> None:
    ids = PAGE.values("id")
    assert len(ids) == len(set(ids))
    wanted = {
        name
        for attribute in ("for", "aria-controls", "aria-labelledby", "aria-describedby")
        for name in PAGE.values(attribute)
    }
    wanted |= {name for source in SCRIPTS.values() for name in re.findall(r'byId\("([\w-]+)"\)', source)}
    assert wanted <= set(ids)
    assert len(wanted) > 20


def test_everything_that_can_be_filled_in_is_labelled() -> None:
    labelled = set(PAGE.values("for"))
    wrapped = re.findall(
        r'<label[^>]*>(?:<span[^>]*>[^<]*</span>)?\s*<(?:input|select) id="([\w-]+)"', SOURCES["index.html"]
    )
    for tag, given in PAGE.tags:
        if tag in ("input", "select", "textarea"):
            assert given["id"] in labelled or given["id"] in wrapped or given.get("aria-label"), given["id"]


def test_files_stay_small() -> None:
    assert sum(len(source.encode()) for source in SOURCES.values()) < 80_000
