"""Stacked bars of how long each way takes, stage by stage."""

from collections.abc import Sequence

from trainfeed.decide import Option
from trainfeed.decide.words import seconds
from trainfeed.report.answer import STAGES, price, stages
from trainfeed.report.page.markup import Markup, element

_SAYS = {
    "prepare": "copy the data, or make and fill the file system",
    "start": "SageMaker finds instances (not billed)",
    "load": "download, list or mount; start the container",
    "train": "train",
    "finish": "upload the model, delete the file system",
}
assert _SAYS.keys() == STAGES.keys()  # noqa: S101


def bars(ranking: Sequence[Option]) -> Markup:
    """A bar for each way, all to one scale, the best first."""
    longest = max(option.estimate.total_seconds for option in ranking)
    return element(
        "div",
        element(
            "ul",
            *(element("li", element("i", class_=f"stage {stage}"), text) for stage, text in _SAYS.items()),
            class_="legend",
        ),
        *(_row(option, longest, best=index == 0) for index, option in enumerate(ranking)),
        class_="bars",
    )


def _row(option: Option, longest: float, *, best: bool) -> Markup:
    figures = element(
        "span",
        element("b", seconds(option.estimate.total_seconds)),
        f" in all, {seconds(option.estimate.billable_seconds)} billed, {price(option)}",
        class_="figures",
    )
    parts = (
        element(
            "i",
            class_=f"stage {stage}",
            style=f"width:{100 * length / longest:.3f}%",
            title=f"{stage}: {seconds(length)}",
        )
        for stage, length in stages(option).items()
        if length > 0
    )
    return element(
        "div",
        element("div", element("span", option.title, class_="name"), figures, class_="bar-head"),
        element("div", *parts, class_="bar"),
        class_=f"bar-row{' best' if best else ''}",
    )
