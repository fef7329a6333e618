"""The page about choosing, which is written from the chart, the rules and the constants."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def test_the_page_about_choosing_is_up_to_date():
    loader = SourceFileLoader("docs_choosing", str(_ROOT / "scripts" / "docs-choosing"))
    spec = importlib.util.spec_from_loader("docs_choosing", loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)
    assert (_ROOT / "docs" / "choosing.md").read_text() == script.page(), "run scripts/docs-choosing"
