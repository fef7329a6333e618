"""HTML and SVG as text: elements that nest, and text that is escaped."""

from html import escape


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str | float | None) -> Markup:
    """An element. Plain text in it is escaped; `class_` is `class`, and `_` in names is `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(each if isinstance(each, Markup) else escape(each, quote=False) for each in content)
    return Markup(f"<{name}{given}>{inner}</{name}>")


def join(*content: str) -> Markup:
    """Elements one after another."""
    return Markup(
        "".join(each if isinstance(each, Markup) else escape(each, quote=False) for each in content)
    )


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
