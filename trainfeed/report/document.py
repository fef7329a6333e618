"""A recommendation for programs: plain values, in a form that docs/recommendation.md describes."""

from dataclasses import asdict
from decimal import Decimal
from typing import Any

from trainfeed.decide import Flip, Option, Packing, Recommendation, Verdict
from trainfeed.decide.chart import Step
from trainfeed.estimate.cost import LineItem
from trainfeed.report import answer as say

#: Grows when a field changes its meaning or goes; a field that is added does not change it.
VERSION = 1

_CENTS = Decimal("0.000001")


def document(answer: Recommendation) -> dict[str, Any]:
    """The whole recommendation as JSON would have it. Sizes are bytes, times seconds, money USD as text."""
    return {
        "version": VERSION,
        "headline": say.headline(answer),
        "prefer": answer.prefer.value,
        "prices_on": answer.on.isoformat(),
        "workload": _plain(asdict(answer.workload)),
        "chosen": _option(answer.chosen) if answer.chosen else None,
        "close": [option.title for option in answer.close],
        "ranking": [_option(option) for option in answer.ranking],
        "sources": [_verdict(verdict) for verdict in answer.verdicts],
        "chart": {
            "path": [_step(step) for step in answer.path],
            "ends": [node.value for node in answer.ends],
            "source": answer.chart.value,
            "disagreement": answer.disagreement or None,
        },
        "packing": _packing(answer.packing) if answer.packing else None,
        "flips": [_flip(flip) for flip in answer.flips],
        "warnings": list(answer.warnings),
        "assumptions": list(answer.assumptions),
    }


def _option(option: Option) -> dict[str, Any]:
    lustre, plan = option.estimate.usage.lustre, option.plan
    return {
        "title": option.title,
        "source": option.source.value,
        "packed": option.packed,
        "lustre": {"capacity_gib": lustre.capacity_gib, "kept": plan.kept, "preload": plan.preload}
        if lustre and plan
        else None,
        "total_seconds": round(option.estimate.total_seconds, 1),
        "billable_seconds": round(option.estimate.billable_seconds, 1),
        "phases": [
            {
                "name": phase.name.value,
                "seconds": round(phase.seconds, 1),
                "billed": phase.billed,
                "note": phase.note,
            }
            for phase in option.estimate.phases
        ],
        "cost": {
            "total": _money(option.cost.total),
            "at_least": option.cost.at_least,
            "compared_at": _money(option.price),
            "items": [_item(item) for item in option.cost.line_items],
            "not_included": list(option.cost.not_included),
        },
    }


def _item(item: LineItem) -> dict[str, Any]:
    record = item.price
    return {
        "name": item.name,
        "quantity": float(item.quantity),
        "unit": item.unit.value,
        "rate": None if item.rate is None else _money(item.rate),
        "amount": None if item.amount is None else _money(item.amount),
        "monthly": item.monthly,
        "price": record
        and {
            "key": record.key,
            "date": record.date.isoformat(),
            "confidence": record.confidence.value,
            "source": record.source,
            "url": record.url,
        },
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "source": verdict.source.value,
        "eligible": not verdict.ruled_out,
        "ruled_out": [
            {"rule": found.rule.id, "message": found.message, "page": found.rule.source}
            for found in verdict.ruled_out
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "question": step.question,
        "answer": step.answer,
        "threshold": step.threshold or None,
        "why": step.why,
        "taken": [edge.answer for edge in step.taken],
    }


def _packing(packing: Packing) -> dict[str, Any]:
    return {
        "files": packing.files,
        "option": _option(packing.option),
        "saved": _money(packing.saved),
        "saved_seconds": round(packing.saved_seconds, 1),
    }


def _flip(flip: Flip) -> dict[str, Any]:
    return {
        "dimension": flip.dimension.value,
        "direction": "up" if flip.up else "down",
        "at": flip.at,
        "source": flip.to.value,
        "title": flip.title,
    }


def _money(value: Decimal) -> str:
    return f"{value.quantize(_CENTS).normalize():f}"


def _plain(value: Any) -> Any:
    """Enumerations as their text, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
