"""A page as the tests read it: its tags, its text, and what in it could ask for something from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "hr", "input"}
LOADS = {"src", "href", "xlink:href", "srcset", "action", "formaction", "data", "poster", "background", "ping"}


class Page(HTMLParser):
    """Every tag with its attributes, the text by tag, and whether tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.pieces: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if data.strip():
            self.pieces.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(piece for tag, piece in self.pieces if tag != "style"))

    def count(self, tag: str, class_: str | None = None) -> int:
        return sum(
            name == tag and (class_ is None or class_ in (a.get("class") or "").split()) for name, a in self.tags
        )

    def outside(self) -> list[str]:
        """Whatever would be fetched or run."""
        found = []
        for tag, attributes in self.tags:
            if tag in ("script", "iframe", "object", "embed", "base", "form", "img", "video", "audio"):
                found.append(tag)
            for name, value in attributes.items():
                if name.startswith("on") or (name in LOADS and not (value or "").startswith(("#", "data:,"))):
                    found.append(f"{tag} {name}={value}")
                if name == "style" and "url(" in (value or "").replace("url(#", ""):
                    found.append(f"{tag} {name}={value}")
        return found
