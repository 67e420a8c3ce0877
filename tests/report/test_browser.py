"""The page in a real browser: what it asks for, what it shows, and how it is used."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from prevalence.cli.pages import write_report
from prevalence.records import Product, Review, Summary, input_digest
from prevalence.report.contents import Contents
from prevalence.report.page import render

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (apt-get install chromium)")

PATIENCE = 180_000
"""Milliseconds that a busy machine may take for one step."""
REVIEWS = ("Nice box. It is bright!", "It is dim.", "Bright enough. Cheap.")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=flags, timeout=PATIENCE)
        yield chromium
        chromium.close()


def contents_of(rows, records=()):
    contents = Contents()
    for one in rows:
        contents.add(one)
    contents.attach(records)
    return contents


@pytest.fixture
def visit(browser):
    """Opens a page; afterwards only it and pages beside it were asked for, and nothing was said."""
    contexts, said = [], []

    def opened(path, *, fragment="", width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        own = {one.as_uri() for one in path.parent.glob("*.html")}
        page.on("request", lambda r: None if r.url.partition("#")[0] in own else said.append(r.url))
        page.goto(path.as_uri() + fragment)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture
def show(visit, tmp_path):
    """Opens the page of rows and records."""

    def opened(rows, records=(), **options):
        path = tmp_path / "report.html"
        path.write_text(render(contents_of(rows, records)), encoding="utf-8")
        return visit(path, **options)

    return opened


@pytest.fixture
def lamp(rows):
    """The two products, the first with its record, ratings and passages."""
    reviews = (Review(REVIEWS[0], "r0", {"rating": 5}), Review(REVIEWS[1], "r1", {"rating": 1}),
               Review(REVIEWS[2], "r2", {"rating": 5}))  # fmt: skip
    record = Product("p/1", reviews, (Summary("good", "x"), Summary("bad", "y")), name="desk lamp")
    for one, summary in zip(rows, record.summaries, strict=False):
        one["input_digest"] = input_digest(record, summary)
    rows[1]["sentences"][1]["evidence"] = [
        {"review": 0, "start": 10, "end": 23, "text": "It is bright!", "entailment": 0.97,
         "contradiction": 0.01},
        {"review": 1, "start": 0, "end": 10, "text": "It is dim.", "entailment": 0.02,
         "contradiction": 0.91},
    ]  # fmt: skip
    rows[1]["sentences"][1]["contradiction"] = [0.05, 0.8, 0.2]
    return rows, [record]


def visible_rows(page):
    return page.locator("tbody tr[id]:visible").evaluate_all("rows => rows.map(row => row.id)")


def test_cells_tell_their_state_by_glyph_colour_and_name(show, lamp):
    page = show(*lamp)
    row = page.locator('[id="p%2F1/bad/1"]')
    cells = row.locator("button.cell")
    assert cells.all_inner_texts() == ["✓", "✗", "·"]
    names = cells.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert names == [
        "review 0 (r0), rated 5: supports",
        "review 1 (r1), rated 1: contradicts",
        "review 2 (r2), rated 5: silent, doubtful",
    ]
    looks = cells.evaluate_all(
        "all => all.map(one => getComputedStyle(one)).map(s => "
        "[s.backgroundColor, s.backgroundImage])"
    )
    assert len({colour for colour, _ in looks}) == 3
    assert ["gradient" in hatch for _, hatch in looks] == [False, False, True]
    masked = page.locator('[id="p%2F1/bad/2"]')
    assert masked.locator("button.cell").all_inner_texts() == ["–", "–", "–"]
    assert "repeats sentence 1" in masked.inner_text()


def test_a_cell_opens_its_review_with_the_passage_marked(show, lamp):
    page = show(*lamp)
    cell = page.locator('[id="p%2F1/bad/1"] button.cell').first
    cell.click()
    panel = page.locator("#panel")
    assert panel.locator("blockquote").inner_text() == REVIEWS[0]
    assert panel.locator("mark").all_inner_texts() == ["It is bright!"]
    answer = panel.locator(".answer").inner_text()
    assert "P(entailment) 0.90" in answer
    assert "P(contradiction) 0.05" in answer
    assert "passage alone: entailment 0.97, contradiction 0.01" in answer
    assert "threshold 0.5" in answer
    sides = panel.locator(".sides section")
    assert [side.locator("li").count() for side in sides.all()] == [1, 1]
    assert "It is dim." in sides.nth(1).inner_text()
    panel.get_by_label("Next review").click()
    assert panel.locator("mark").all_inner_texts() == ["It is dim."]
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert cell.evaluate("one => document.activeElement === one")


def test_a_button_of_the_panel_keeps_the_focus(show, lamp):
    page = show(*lamp)
    focused = "(e => e.getAttribute('aria-label') || e.innerText)(document.activeElement)"
    page.locator('[id="p%2F1/bad/1"] button.cell').first.click()
    page.get_by_label("Next review").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "Next review"
    page.keyboard.press("Enter")
    assert page.inner_text("#panel h3 >> nth=0") == "review 2 (r2), rated 5"
    # The last review has no next one.
    assert page.evaluate(focused) == "Close"
    page.locator(".sides button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
    assert "It is dim." in page.evaluate(focused)


def test_the_keyboard_alone_is_enough(show, lamp):
    page = show(*lamp)
    stops = page.locator('[id="p%2F1/bad"] button.cell[tabindex="0"]')
    assert stops.count() == 1
    stops.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("review 1")
    assert page.evaluate("document.activeElement.closest('tr').id") == "p%2F1/bad/1"
    assert stops.count() == 1
    page.keyboard.press("Enter")
    assert page.locator("#panel mark").inner_text() == "It is dim."


def test_the_keyboard_reaches_what_a_filter_leaves(show, lamp):
    page = show(*lamp)
    stops = page.locator('[id="p%2F1/bad"] button.cell[tabindex="0"]')
    stops.wait_for()
    page.click("button[data-kind=contradicted]")
    assert stops.evaluate_all("all => all.map(one => one.closest('tr').id)") == ["p%2F1/bad/1"]
    page.click("#clear")
    assert stops.count() == 1


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("unsupported", ["p%2F1/bad/3"]),
        ("contradicted", ["p%2F1/bad/1"]),
        ("trivial", ["p%2F1/bad/0"]),
        ("redundant", ["p%2F1/bad/2"]),
        ("doubtful", ["p%2F1/bad/1"]),
    ],
)
def test_a_filter_leaves_its_sentences(show, lamp, kind, left):
    page = show(*lamp)
    everything = visible_rows(page)
    page.click(f"button[data-kind={kind}]")
    assert visible_rows(page) == left
    assert page.inner_text("#found") == "1 sentence, 1 product"
    page.click("#clear")
    assert visible_rows(page) == everything


def test_wrong_quantities_can_be_found(show, lamp):
    rows, records = lamp
    said = rows[1]["sentences"][1]
    said["quantity"] = {"text": "Most", "low": 0.5, "high": 1.0, "agrees": False}
    page = show(rows, records)
    page.click("button[data-kind=wrong-quantity]")
    assert visible_rows(page) == ["p%2F1/bad/1"]


def test_failed_summaries_can_be_found(show, lamp, row):
    rows, records = lamp
    failed = row("p3", "good", [], prevalence=None, error="in.jsonl:3: no reviews")
    page = show([*rows, failed], records)
    assert page.locator(".product").first.get_attribute("id") == "p3"
    page.click("button[data-kind=failed]")
    assert page.locator("article:visible").count() == 1
    assert "no reviews" in page.locator("article:visible").inner_text()
    page.fill("#find", "nowhere")
    playwright.expect(page.locator("#found")).to_contain_text("0 products", timeout=PATIENCE)
    assert page.locator("article:visible").count() == 0


def test_search_looks_at_sentences_names_and_reviews(show, lamp):
    page = show(*lamp)
    page.locator('[id="p%2F1/bad"] button.cell').first.wait_for()
    for words, count in (("CHEAP", 6), ("it flies", 1), ("desk", 5), ("nowhere", 0),
                         ("dim", 5), ("against", 0), ("dim", 5), ("✓", 0)):  # fmt: skip
        # "cheap" stands in a sentence of p2 and in a review of p/1, whose sentences all stay.
        page.fill("#find", words)
        page.wait_for_function(
            "([n]) => document.querySelector('#found').textContent.startsWith(`${n} sentence`)",
            arg=[count],
        )
        assert len(visible_rows(page)) == count


def test_ratings_choose_reviews(show, lamp):
    page = show(*lamp)
    page.select_option("#rating", "1")
    # The reviewer who gave 1 contradicts one sentence and supports one.
    assert visible_rows(page) == ["p%2F1/good/0", "p%2F1/bad/1"]
    faded = page.locator('[id="p%2F1/bad/1"] button.cell').evaluate_all(
        "all => all.map(one => one.classList.contains('off'))"
    )
    assert faded == [True, False, True]


def test_two_systems_stand_side_by_side(show, lamp):
    page = show(*lamp)
    page.select_option("#first", "good")
    assert page.locator("article:visible").count() == 2
    page.select_option("#second", "bad")
    boxes = [page.locator(f'[id="p%2F1/{name}"]').bounding_box() for name in ("good", "bad")]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] != boxes[1]["x"]
    # Every cell of the first system stands left of the second.
    last = page.locator('[id="p%2F1/good/0"] button.cell').last.bounding_box()
    assert last["x"] + last["width"] <= boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]


def test_a_page_that_was_left_comes_back_without_filters(show, lamp):
    page = show(*lamp)
    page.select_option("#first", "bad")
    page.fill("#find", "flies")
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("button.cell")
    values = "all => all.map(one => one.value)"
    assert page.locator("#first, #find").evaluate_all(values) == ["", ""]
    assert page.locator("article:visible").count() == 4


def test_products_can_stand_as_in_the_rows(show, lamp):
    rows, records = lamp
    page = show([rows[2], rows[3], rows[0], rows[1]], records)
    ids = "all => all.map(one => one.id)"
    assert page.locator(".product").evaluate_all(ids) == ["p%2F1", "p2"]
    page.select_option("#order", "rows")
    assert page.locator(".product").evaluate_all(ids) == ["p2", "p%2F1"]


def test_a_link_leads_to_its_sentence(show, lamp):
    page = show(*lamp, fragment="#p%2F1/bad/3")
    row = page.locator("tr.here")
    assert row.get_attribute("id") == "p%2F1/bad/3"
    playwright.expect(row).to_be_in_viewport(timeout=PATIENCE)
    page.click("button[data-kind=trivial]")
    assert not row.is_visible()
    page.evaluate("location.hash = '#p2/bad/0'")
    page.wait_for_selector('[id="p2/bad/0"].here:visible')
    link = page.locator('[id="p2/bad/0"] a.link')
    assert link.get_attribute("href") == "#p2/bad/0"


def test_a_folder_of_pages_links_from_page_to_page(visit, lamp, tmp_path):
    folder = tmp_path / "pages"
    write_report(contents_of(*lamp), folder, pages=1, quiet=True)
    page = visit(folder / "index.html")
    assert page.locator(".product").count() == 0
    assert "0.833" in page.inner_text("table.systems")
    page.get_by_role("link", name="desk lamp").click()
    product = page.locator('[id="p%2F1"]')
    playwright.expect(product).to_be_in_viewport(timeout=PATIENCE)
    assert page.url.endswith("/page-1.html#p%2F1")
    page.get_by_role("link", name="2", exact=True).click()
    page.wait_for_url("**/page-2.html")
    assert visible_rows(page) == ["p2/good/0", "p2/bad/0"]
    page.evaluate("location.href = 'page-1.html#p%2F1/bad/3'")
    row = page.locator("tr.here")
    playwright.expect(row).to_be_in_viewport(timeout=PATIENCE)
    assert row.get_attribute("id") == "p%2F1/bad/3"
    assert row.locator("button.cell").count() == 3


def test_a_limit_shows_the_worst_products_and_counts_all(visit, lamp, tmp_path):
    path = tmp_path / "report.html"
    write_report(contents_of(*lamp), path, limit=1, quiet=True)
    page = visit(path, fragment="#p2/bad/0")
    assert page.locator(".product").evaluate_all("all => all.map(one => one.id)") == ["p%2F1"]
    assert "1 of 2 products are shown" in page.inner_text("main")
    # 5/6 is the mean of the better system over both products.
    assert "0.833" in page.inner_text("table.systems")
    assert page.inner_text("#found") == "5 sentences, 1 product"
    assert page.locator("tr.here").count() == 0
    page.click("button[data-kind=unsupported]")
    assert visible_rows(page) == ["p%2F1/bad/3"]


def test_cells_are_drawn_when_their_product_comes_into_view(show, row, sentence):
    page = show([row(f"p{n}", "s", [sentence("It is bright.", [0])]) for n in range(60)])
    drawn = "() => document.querySelectorAll('.product[data-done]').length"
    page.wait_for_function("() => document.querySelector('.product[data-done]')")
    assert page.evaluate(drawn) < 60
    last = page.locator(".product").last
    assert last.locator("button.cell").count() == 0
    last.scroll_into_view_if_needed()
    page.wait_for_function("() => [...document.querySelectorAll('.product')].pop().dataset.done")
    assert last.locator("button.cell").count() == 3


def test_print_has_every_product_with_its_cells_and_no_tools(show, row, sentence):
    page = show([row(f"p{n}", "s", [sentence("It is bright.", [0])]) for n in range(60)])
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".product:visible").count() == 60
    assert page.locator(".product button.cell:visible").count() == 180
    assert not page.locator(".tools").is_visible()
    assert len(page.pdf()) > 10_000


@pytest.fixture
def many(row, sentence):
    """A summary of 60 reviews."""
    return [row("p", "s", [sentence("It is bright.", [0], m=60)], n_reviews=60)]


def test_print_cuts_no_cell_of_many_reviews(show, many):
    # A4 less the margins that browsers print with, at 96 pixels an inch.
    page = show(many, width=717)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".product button.cell:visible").count() == 60
    ends = "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    assert page.locator("button.cell").evaluate_all(ends) <= 717


def test_the_sentence_stays_beside_the_cells_of_many_reviews(show, many):
    page = show(many, width=1280)
    page.locator("button.cell").last.focus()
    sentence = page.locator(".matrix tbody th")
    assert page.locator(".scroll:has(.matrix)").evaluate("one => one.scrollLeft") > 0
    playwright.expect(sentence).to_be_in_viewport(ratio=1, timeout=PATIENCE)
    for _ in range(59):
        page.keyboard.press("ArrowLeft")
        end = sentence.evaluate("one => one.getBoundingClientRect().right")
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= end


def test_touch_shows_the_links_to_sentences(show, lamp):
    page = show(*lamp, width=390, has_touch=True, is_mobile=True)
    link = page.locator('[id="p%2F1/bad/1"] .link')
    assert link.evaluate("one => getComputedStyle(one).opacity") == "1"


def contrast(first, second):
    """The ratio of WCAG 2 between two colours such as ``rgb(0, 114, 178)``."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whiskers_and_bars_can_be_told_from_what_is_behind_them(show, row, sentence, scheme):
    page = show([row(f"p{n}", "s", [sentence("It is bright.", [n % 3])]) for n in range(6)],
                color_scheme=scheme)  # fmt: skip
    colours = {
        name: page.locator(f".bar .{name}").evaluate(f"one => getComputedStyle(one).{what}")
        for name, what in (("track", "fill"), ("value", "fill"), ("whisker", "stroke"))
    }
    assert contrast(colours["whisker"], colours["value"]) >= 3
    assert contrast(colours["value"], colours["track"]) >= 3


def test_it_is_readable_without_scripts(show, lamp):
    page = show(*lamp, java_script_enabled=False)
    text = page.inner_text("main")
    assert "It flies." in text
    assert "1/3 1 against" in text
    assert "0.833" in text
    assert not page.locator(".tools").is_visible()
    assert page.locator("button").count() == page.locator("button:not(:visible)").count()


def test_hostile_texts_render_as_text(show, hostile_texts, row, sentence):
    rows, records = [], []
    for place, text in enumerate(hostile_texts):
        reviews = (Review(text, text),) * 3
        record = Product(f"p{place}", reviews, (Summary("s", "x"),), name=text)
        passage = {"review": 0, "start": 0, "end": len(text), "text": text, "entailment": 0.9}
        one = row(f"{text}-{place}"[:5000], text, [sentence(text, [0], evidence=[passage])],
                  warning=text, input_digest=input_digest(record, record.summaries[0]))  # fmt: skip
        rows.append(one)
        records.append(record)
    page = show(rows, records, width=400)
    for place in range(len(rows)):
        product = page.locator(".product").nth(place)
        product.scroll_into_view_if_needed()
        product.locator("button.cell").first.click()
        assert page.locator("#panel mark").count() == 1
        page.keyboard.press("Escape")
    assert page.evaluate("window.attacked") is None
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert "<script>window.attacked = 1</script>" in page.inner_text("main")


def serious_faults(page):
    """What axe-core calls serious or critical."""
    if not AXE.is_file():
        pytest.skip(f"no axe-core at {AXE} (see .ci/browser)")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return [
        (fault["id"], node["html"][:200], node.get("failureSummary"))
        for fault in page.evaluate("axe.run()")["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_no_serious_fault_of_accessibility(show, lamp, scheme, width):
    page = show(*lamp, width=width, color_scheme=scheme)
    page.wait_for_selector("button.cell")
    assert serious_faults(page) == []
    page.locator('[id="p%2F1/bad/1"] button.cell').first.click()
    assert serious_faults(page) == []


def with_many_figures(rows):
    """Rows with a profile and a ceiling, and rows of other metrics about the same summaries."""
    profile = {f"figure_of_the_profile_{n}": n / 20 for n in range(12)}
    metrics = {f"rouge-{n}:precision:against=reviews": n / 20 for n in range(8)}
    more = {"ceiling": 0.9, "ceiling_share": 0.5, "soft_prevalence": 0.4, "profile": profile}
    others = [{"schema": 1, "id": r["id"], "system": r["system"], "metrics": metrics} for r in rows]
    return [{**r, **more} for r in rows] + others


@pytest.mark.parametrize("width", [400, 1280, 1640, 2560])
def test_wide_tables_scroll_in_their_own_box(show, rows, width):
    page = show(with_many_figures(rows), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    regions = page.locator("[role=region]:has(table.systems)")
    assert regions.count() == 2
    for region in regions.all():
        hidden = region.evaluate("one => one.scrollWidth - one.clientWidth")
        assert width > 1640 or hidden > 0 or region.locator("svg").count()
        region.focus()
        for _ in range(hidden // 20 + 1):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "one => one.scrollLeft >= one.scrollWidth - one.clientWidth - 1",
            arg=region.element_handle(),
        )
        box = region.bounding_box()
        last = region.locator("tbody tr:first-child td").last.bounding_box()
        assert last["x"] + last["width"] <= box["x"] + box["width"] + 1 <= width + 1
        # Names of systems stay where they can be read.
        name = region.locator("tbody th").first.bounding_box()
        assert name["x"] == pytest.approx(box["x"], abs=1)
    assert serious_faults(page) == []


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_the_page_is_never_wider_than_the_window(show, lamp, width):
    page = show(*lamp, width=width)
    page.wait_for_selector("button.cell")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
