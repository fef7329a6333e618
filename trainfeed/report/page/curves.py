"""Cost against something that varies: a line for each way, and where the cheapest changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from trainfeed.report.page.markup import Markup, element

#: Points of a line.
_POINTS = 61
#: A line that ends so many times above the lowest is let run out of the picture.
_IN_SIGHT = 4
#: How often the stretch between two points is halved to find a turn in it.
_HALVINGS = 7
_STEPS_OF_TEN = (1, 2, 5)

Costs = Callable[[float], Mapping[str, float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """An axis from low to high.

    Attributes:
        low: where it begins.
        high: where it ends.
        logarithmic: equal factors are equal steps.
        whole: only whole numbers are values.
    """

    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        if self.logarithmic:
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def value(self, at: float) -> float:
        """The value at a place from 0 to 1."""
        if self.logarithmic:
            return self.low * (self.high / self.low) ** at
        return self.low + at * (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values, about five."""
        if self.logarithmic:
            decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
            steps = (1,) if len(decades) > 3 else _STEPS_OF_TEN
            marks = [step * 10.0**decade for decade in decades for step in steps]
        else:
            rough = (self.high - self.low) / 5
            decade = 10.0 ** floor(log10(rough))
            step = min((each * decade for each in (*_STEPS_OF_TEN, 10)), key=lambda each: abs(each - rough))
            marks = [step * index for index in range(ceil(self.low / step), floor(self.high / step) + 1)]
        return [mark for mark in marks if self.low <= mark <= self.high]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """Where another way becomes the cheapest.

    Attributes:
        at: where.
        cost: what both cost there.
        to: the way that is cheapest from there on.
    """

    at: float
    cost: float
    to: str


def sample(axis: Axis, costs: Costs) -> tuple[dict[str, list[tuple[float, float]]], list[Turn]]:
    """Lines, point by point, and the turns between them."""
    places = [axis.value(index / (_POINTS - 1)) for index in range(_POINTS)]
    if axis.whole:
        places = [float(place) for place in dict.fromkeys(map(round, places))]
    rows = [costs(place) for place in places]
    lines: dict[str, list[tuple[float, float]]] = {}
    for place, row in zip(places, rows, strict=True):
        for name, cost in row.items():
            lines.setdefault(name, []).append((place, cost))
    turns = [
        _turn(axis, costs, before, after)
        for before, after, low, high in zip(places, places[1:], rows, rows[1:], strict=False)
        if low and high and _cheapest(low) != _cheapest(high)
    ]
    return lines, turns


def _turn(axis: Axis, costs: Costs, before: float, after: float) -> Turn:
    first = _cheapest(costs(before))
    for _ in range(_HALVINGS):
        middle = (before + after) / 2
        if axis.whole:
            middle = round(middle)
            if middle in (before, after):
                break
        if _cheapest(costs(middle)) == first:
            before = middle
        else:
            after = middle
    found = costs(after)
    to = _cheapest(found)
    return Turn(at=after, cost=found[to], to=to)


def _cheapest(row: Mapping[str, float]) -> str:
    return min(row, key=lambda name: row[name])


@dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """What a drawing needs beside its numbers.

    Attributes:
        label: what the horizontal axis is.
        here: where the workload stands.
        x: how a value of the horizontal axis is written.
        y: how a cost is written.
        kind: the CSS class of a line's colour, by its name.
    """

    label: str
    here: float
    x: Callable[[float], str]
    y: Callable[[float], str]
    kind: Callable[[str], str]


def curves(axis: Axis, costs: Costs, plot: Plot, *, logarithmic: bool = False) -> Markup:
    """The drawing: lines are stretched with the page, text is not."""
    lines, turns = sample(axis, costs)
    here = costs(plot.here)
    vertical = _vertical(lines, logarithmic=logarithmic)
    return element(
        "figure",
        element(
            "div",
            _lines(lines, axis, vertical, plot),
            *(_x_tick(tick, axis, plot) for tick in axis.ticks()),
            *(_y_tick(tick, vertical, plot) for tick in vertical.ticks()),
            _marker(plot, axis),
            *(_turn_mark(turn, axis, vertical, plot) for turn in turns),
            class_="plot",
        ),
        element("div", plot.label, class_="axis-label"),
        _legend(here, lines, vertical, plot),
        *([_turns(turns, plot)] if turns else []),
    )


def _vertical(lines: Mapping[str, Sequence[tuple[float, float]]], *, logarithmic: bool) -> Axis:
    costs = [cost for line in lines.values() for _, cost in line if cost > 0]
    if logarithmic:
        return Axis(low=min(costs) * 0.8, high=max(costs) * 1.25, logarithmic=True)
    lowest_end = min(line[-1][1] for line in lines.values())
    seen = [max(cost for _, cost in line) for line in lines.values() if line[-1][1] <= _IN_SIGHT * lowest_end]
    return Axis(low=0, high=1.08 * max(seen))


def _lines(
    lines: Mapping[str, Sequence[tuple[float, float]]], axis: Axis, vertical: Axis, plot: Plot
) -> Markup:
    grid = [element("path", d=f"M0 {_y(tick, vertical):.2f}H100", class_="grid") for tick in vertical.ticks()]
    # The cheapest lie on top, and of lines that cover each other the one that was named first.
    given = list(lines)
    order = sorted(given, key=lambda name: (-lines[name][-1][1], -given.index(name)))
    drawn = [
        element("path", d=_path(lines[name], axis, vertical), class_=f"line {plot.kind(name)}")
        for name in order
    ]
    return element(
        "svg", *grid, *drawn, viewBox="0 0 100 100", preserveAspectRatio="none", aria_hidden="true"
    )


def _path(line: Sequence[tuple[float, float]], axis: Axis, vertical: Axis) -> str:
    points = (f"{100 * axis.at(x):.2f} {_y(cost, vertical):.2f}" for x, cost in line)
    return "M" + "L".join(points)


def _y(cost: float, vertical: Axis) -> float:
    return 100 - 100 * vertical.at(max(cost, vertical.low))


def _x_tick(tick: float, axis: Axis, plot: Plot) -> Markup:
    return element("span", plot.x(tick), class_="tick x", style=f"left:{100 * axis.at(tick):.2f}%")


def _y_tick(tick: float, vertical: Axis, plot: Plot) -> Markup:
    return element("span", plot.y(tick), class_="tick y", style=f"top:{_y(tick, vertical):.2f}%")


def _marker(plot: Plot, axis: Axis) -> Markup:
    at = axis.at(plot.here)
    side = " left" if at > 0.7 else ""
    return element("div", element("span", "as stated"), class_=f"here{side}", style=f"left:{100 * at:.2f}%")


def _turn_mark(turn: Turn, axis: Axis, vertical: Axis, plot: Plot) -> Markup:
    place = f"left:{100 * axis.at(turn.at):.2f}%;top:{_y(turn.cost, vertical):.2f}%"
    return element("b", class_="turn", style=place, title=_says(turn, plot))


def _says(turn: Turn, plot: Plot) -> str:
    return f"from {plot.x(turn.at)} on: {turn.to}"


def _turns(turns: Sequence[Turn], plot: Plot) -> Markup:
    items = (element("li", element("b", class_="turn"), f"Cheapest {_says(turn, plot)}") for turn in turns)
    return element("ul", *items, class_="turns")


def _legend(
    here: Mapping[str, float],
    lines: Mapping[str, Sequence[tuple[float, float]]],
    vertical: Axis,
    plot: Plot,
) -> Markup:
    def item(name: str) -> Markup:
        hidden = min(cost for _, cost in lines[name]) > vertical.high
        cost = element("b", plot.y(here[name])) if name in here else ""
        out = " (above the picture)" if hidden else ""
        return element("li", element("i", class_=f"swatch {plot.kind(name)}"), f"{name} ", cost, out)

    order = sorted(lines, key=lambda name: here.get(name, float("inf")))
    return element("ul", *map(item, order), class_="legend")
