"""The filter above the index of the format: rows without the typed words are hidden, all come back when it is emptied."""

from pathlib import Path

import pytest
from browser import browser, needs_browser

DOCS = Path(__file__).parents[2] / "docs"


@needs_browser
@pytest.mark.slow
def test_filter_leaves_rows_with_all_words(tmp_path: Path):
    markdown = pytest.importorskip("markdown")
    text = (DOCS / "format.md").read_text(encoding="utf-8")
    body = markdown.markdown(text, extensions=["attr_list", "md_in_html", "tables", "toc"])
    script = (DOCS / "filter.js").read_text(encoding="utf-8")
    page = f"<html><head><meta charset='utf-8'><script>{script}</script></head><body>{body}</body></html>"
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    shown = (
        "[...document.querySelectorAll('.filtered tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].innerText)"
    )  # fmt: skip
    with browser() as opened:
        view = opened.new_page()
        view.goto((tmp_path / "index.html").as_uri())
        every = view.evaluate(shown)
        view.fill("input.filter", "stiffness ground")
        left = view.evaluate(shown)
        assert 'kind = "contact"' in left and len(left) < len(every) / 10
        assert view.inner_text(".filter-left") == f"{len(left)} of {len(every)}"
        view.fill("input.filter", "")
        assert view.evaluate(shown) == every
