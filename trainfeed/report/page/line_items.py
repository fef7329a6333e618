"""What a run costs, line by line, each price with its date and source."""

from trainfeed.decide import Option, Recommendation
from trainfeed.decide.words import money
from trainfeed.estimate.cost import LineItem
from trainfeed.report.answer import price
from trainfeed.report.page.markup import Markup, element

_HEADINGS = ("", "Quantity", "Rate", "Amount", "Price of")


def line_items(option: Option, answer: Recommendation) -> Markup:
    """The bill of one way, unfolded for the one that was chosen."""
    chosen = option is answer.chosen
    head = element("tr", *(element("th", heading) for heading in _HEADINGS))
    rows = (_row(item, answer) for item in option.cost.line_items)
    total = element(
        "tr",
        element("td", "In all"),
        element("td"),
        element("td"),
        element("td", price(option)),
        element("td"),
    )
    return element(
        "details",
        element("summary", element("span", option.title), element("b", price(option))),
        element(
            "div",
            element("table", element("thead", head), element("tbody", *rows), element("tfoot", total)),
            class_="scroll",
        ),
        open="" if chosen else None,
    )


def _row(item: LineItem, answer: Recommendation) -> Markup:
    share = [element("small", " a run's share of a month")] if item.monthly else []
    return element(
        "tr",
        element("td", item.name, *share),
        element("td", _quantity(item)),
        element("td", "unknown" if item.rate is None else f"${item.rate.normalize():f}"),
        element("td", "unknown" if item.amount is None else money(item.amount)),
        _seen(item, answer),
    )


def _quantity(item: LineItem) -> str:
    # "1.53 times 1,000 requests", for the unit begins with a number of its own.
    times = "\N{MULTIPLICATION SIGN} " if item.unit[0].isdigit() else ""
    return f"{float(item.quantity):,.4g} {times}{item.unit}"


def _seen(item: LineItem, answer: Recommendation) -> Markup:
    if item.price is None:
        return element("td", "")
    record = item.price
    age = {"class_": "stale"} if record.stale(answer.on) else {}
    source = element("a", record.source, href=record.url) if record.url else record.source
    return element("td", element("span", str(record.date), **age), " ", element("small", source))
