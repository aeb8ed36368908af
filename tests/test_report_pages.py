"""The report in a browser, from disk: its explorer, its keyboard path, its size, and what it says to screen readers."""

import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import report_grid
import report_results
from report_results import CHECK, ELSEWHERE, MODEL

pytestmark = pytest.mark.machine

PAGES = ("index.html", "exhibits.html", "claims.html", "models.html", "answers.html")
DESKTOP, PHONE = (1280, 900), (390, 844)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")


class Browser:
    """A headless Chromium that opens the pages of one report from disk."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.folder = Path()

    def open(self, page: str, size: tuple[int, int] = DESKTOP, scheme: str = "light") -> None:
        """Open a page (with its hash) afresh, at a size in CSS pixels and in a colour scheme."""
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get((self.folder / page.partition("#")[0]).as_uri() + page[len(page.partition("#")[0]) :])
        if page.startswith("answers.html"):
            opened = "open=" in page
            self.until("!document.getElementById('answer').hidden" if opened else "/answers/.test(shown.textContent)")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.driver.execute_script(f"return {script}")

    def until(self, condition: str, seconds: float = 20) -> None:
        """Wait for an expression to hold."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, name: str, value: str) -> None:
        """Choose a value in one of the filters."""
        from selenium.webdriver.support.ui import Select

        Select(self.driver.find_element("css selector", f"select[name={name}]")).select_by_value(value)

    def faults(self) -> list[str]:
        """What the page wrote to the console as warnings or errors."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--enable-precise-memory-info")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield browser
    browser.quit()


def write_report(folder: Path) -> None:
    """Write the report of the run in a folder."""
    subprocess.run([sys.executable, "-m", "longtrek", "report", "--config", "run.yaml"], cwd=folder, check=True)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    report_results.build(folder)
    write_report(folder)
    return folder / "results" / "report"


@pytest.fixture
def browser(driver: Any, small: Path) -> Browser:
    """The browser on the report of a small run."""
    browser = Browser(driver)
    browser.folder = small
    return browser


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The accessibility checker's source, from npm into a folder of its own."""
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), "axe-core@4"]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("npm could not install axe-core")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def first_with(status: str, model: str = MODEL) -> str:
    """The expression that gives the link of the first answer in the list with a status."""
    return f"answers.html#paper=transduction&model={model}&status={status}"


def open_first(browser: Browser, page: str) -> None:
    """Open the first answer of a selection."""
    browser.open(page)
    browser.run("document.querySelector('#answers tbody a').click()")
    browser.until("!document.getElementById('answer').hidden")


@pytest.mark.parametrize("page", [*PAGES, "answers.html#paper=scitrek"])
def test_pages_say_nothing_to_the_console(browser: Browser, page: str) -> None:
    browser.open(page)
    assert browser.faults() == []


def test_filters_and_sorting_choose_what_the_list_shows(browser: Browser) -> None:
    browser.open("answers.html")
    assert browser.run("shown.textContent") == "All 72 answers"
    browser.choose("model", MODEL)
    browser.until("shown.textContent === '24 of 72 answers'")
    browser.choose("status", "failed")
    browser.until("shown.textContent === '2 of 72 answers'")
    assert "model=lossy-model" in browser.run("location.hash") and "status=failed" in browser.run("location.hash")
    browser.choose("status", "")
    browser.run("document.querySelector('th[data-name=paper] button').click()")
    browser.until("document.querySelector('th[data-name=paper]').getAttribute('aria-sort') === 'ascending'")
    cells = "[...document.querySelectorAll('#answers tbody tr')].map((row) => row.children[5].textContent)"
    values = browser.run(cells)
    known = [float(value) for value in values if value != "–"]
    assert known == sorted(known) and values[len(known) :] == ["–"] * (24 - len(known))
    browser.open("answers.html#paper=scitrek&skill=sorting&status=scored")
    said = browser.run("[...document.querySelectorAll('select')].filter((one) => one.value).map((one) => one.value)")
    assert said == ["sorting", "scored"]
    assert browser.faults() == []


def test_an_answer_opens_and_shows_where_it_differs(browser: Browser) -> None:
    open_first(browser, first_with("truncated"))
    assert browser.run("document.querySelectorAll('.records ins').length") > 0
    assert browser.run("document.querySelectorAll('.records tr.wrong').length") > 0
    browser.run("document.getElementById('to-lost').click()")
    assert browser.run("document.activeElement.classList.contains('lost')")
    browser.run("[...document.querySelectorAll('#answer summary')].forEach((one) => one.click())")
    browser.until("document.querySelectorAll('#answer pre').length >= 3")
    assert "SHA" not in browser.run("document.querySelector('#answer pre').textContent")
    assert "abc123" in browser.run("document.getElementById('answer').textContent")
    assert browser.faults() == []


def test_an_opened_answer_holds_the_text_that_was_received(browser: Browser, small: Path) -> None:
    rows = [json.loads(line) for line in (small.parent / "answers" / MODEL / "transduction/4096.jsonl").open()]
    for row in [row for row in rows if row["text"]]:
        browser.open(f"answers.html#paper=transduction&open={MODEL}/{row['id']}")
        browser.run("[...document.querySelectorAll('summary')].find((one) => /received/.test(one.textContent)).click()")
        browser.until("document.querySelector('#answer pre')")
        assert browser.run("document.querySelector('#answer pre').textContent") == row["text"] + "\n"
    assert browser.run("document.querySelectorAll('#answer script, #answer b').length") == 0


def test_answers_of_scitrek_open_part_by_part(browser: Browser) -> None:
    browser.open(f"answers.html#paper=scitrek&model={MODEL}&sort=strict")
    browser.run("document.querySelector('#answers tbody a').click()")
    browser.until("!document.getElementById('answer').hidden")
    assert browser.run("document.querySelectorAll('.records tr.wrong').length") > 0
    browser.run("[...document.querySelectorAll('#answer summary')].forEach((one) => one.click())")
    assert "article_id,article_title" in browser.run("document.getElementById('answer').textContent")
    assert browser.faults() == []


@pytest.mark.parametrize(
    ("status", "model", "said"),
    [
        ("failed", MODEL, "The request failed"),
        ("not_asked", MODEL, "Not asked"),
        ("missing", MODEL, "There is no answer"),
        ("scored", CHECK, "This is a check, no model"),
        ("scored", ELSEWHERE, "made elsewhere and imported"),
    ],
)
def test_what_is_no_answer_of_a_model_is_shown_as_what_it_is(
    browser: Browser, status: str, model: str, said: str
) -> None:
    open_first(browser, first_with(status, model))
    assert said in browser.run("document.getElementById('answer').textContent")
    assert browser.faults() == []


def test_the_keyboard_reaches_an_answer_and_comes_back(browser: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.open("answers.html")
    for _ in range(60):
        browser.press(Keys.TAB)
        if browser.run("document.activeElement.closest('#answers tbody') !== null"):
            break
    link = browser.run("document.activeElement.textContent")
    browser.press(Keys.ENTER)
    browser.until("!document.getElementById('answer').hidden")
    assert link in browser.run("document.activeElement.textContent")
    browser.press(Keys.ARROW_RIGHT)
    browser.until(f"!document.getElementById('answer-title').textContent.includes({link!r})")
    browser.press(Keys.ARROW_LEFT)
    browser.until(f"document.getElementById('answer-title').textContent.includes({link!r})")
    browser.press(Keys.ESCAPE)
    browser.until("document.getElementById('answer').hidden")
    assert browser.run("document.activeElement.textContent") == link


def test_claims_are_chosen_by_paper_verdict_and_words(browser: Browser) -> None:
    browser.open("claims.html#verdict=differs")
    visible = "[...document.querySelectorAll('.claim')].filter((one) => !one.hidden).map((one) => one.id)"
    assert browser.run(visible) == ["ST-1"]
    browser.choose("verdict", "")
    browser.choose("paper", "transduction")
    browser.until(f"{visible}.join() === 'LT-1,LT-2'")
    browser.driver.find_element("css selector", "input[name=words]").send_keys("claim 1")
    browser.until(f"{visible}.join() === 'LT-2'")


def test_differences_give_back_both_texts(browser: Browser) -> None:
    pairs = [
        ["[1]5+6=11", "[1]5+6=12"],
        ["", "ab"],
        ["abc", ""],
        ["kitten", "sitting"],
        ["a,b,c", "a,c,b"],
        ["🙂a", "a🙂"],
    ]
    pairs += [["x" * 500, "y" * 500], ["abab", "ab"]]
    browser.open("answers.html")
    for expected, given in pairs:
        pieces = browser.run(f"longtrek.differences.pieces({json.dumps(expected)}, {json.dumps(given)})")
        assert "".join(text for kind, text in pieces if kind != "added") == expected
        assert "".join(text for kind, text in pieces if kind != "missing") == given


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_pages_are_as_wide_as_the_window(browser: Browser, size: tuple[int, int]) -> None:
    selection = f"answers.html#paper=transduction&model={MODEL}&status=truncated"
    for page in (*PAGES, selection):
        browser.open(page, size)
        if page == selection:
            browser.run("document.querySelector('#answers tbody a').click()")
            browser.until("!document.getElementById('answer').hidden")
        assert browser.run("document.documentElement.scrollWidth") <= size[0], page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_no_page_shuts_anybody_out(browser: Browser, axe: str, scheme: str, size: tuple[int, int]) -> None:
    found = []
    opened = [first_with(status) for status in ("truncated", "loop", "failed")] + ["answers.html#paper=scitrek"]
    for page in (*PAGES, *opened):
        browser.open(page, size, scheme)
        if page in opened:
            browser.run("document.querySelector('#answers tbody a').click()")
            browser.until("!document.getElementById('answer').hidden")
            browser.run("[...document.querySelectorAll('#answer summary')].forEach((one) => one.click())")
        browser.driver.execute_script(axe)
        checked = browser.driver.execute_async_script("const done = arguments[0]; axe.run().then(done)")
        assert len(checked["passes"]) > 5
        found += [
            f"{page} ({scheme}): {fault['id']}, {fault['impact']}: {fault['nodes'][0]['html'][:200]}"
            for fault in checked["violations"]
            if fault["impact"] in ("serious", "critical")
        ]
    assert not found, "\n".join(found)


def resident(driver: Any) -> int:
    """Megabytes that the browser's largest process has in memory: the one that holds the page."""
    processes = psutil.Process(driver.service.process.pid).children(recursive=True)
    return int(max(process.memory_info().rss for process in processes) / 1e6)


@pytest.mark.slow
def test_the_papers_own_size_opens_at_once(driver: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report_grid.build(tmp_path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    started = time.monotonic()
    write_report(tmp_path)
    took = time.monotonic() - started
    written = max(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, before) / 1024
    browser = Browser(driver)
    browser.folder = tmp_path / "results" / "report"
    browser.driver.get("about:blank")
    started = time.monotonic()
    browser.open("answers.html")
    opened = time.monotonic() - started
    assert browser.run("shown.textContent") == "All 11,520 answers"
    started = time.monotonic()
    open_first(browser, "answers.html#paper=transduction&horizon=131072&status=loop&sort=-written")
    longest = time.monotonic() - started
    browser.run("[...document.querySelectorAll('#answer summary')].forEach((one) => one.click())")
    browser.until("document.querySelectorAll('#answer pre').length >= 3")
    heap = browser.run("performance.memory.usedJSHeapSize") / 1e6
    memory = resident(driver)
    files = [path for path in browser.folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    with capsys.disabled():
        print(
            f"\nreport of 11,520 answers: written in {took:.0f} s with {written:.0f} MiB, {len(files)} files of "
            f"{size:.0f} MB; list in {opened:.2f} s, longest answer in {longest:.2f} s; JavaScript heap {heap:.0f} MB, "
            f"the page's process {memory} MB"
        )
    assert opened < 2
    assert heap < 500 and memory < 500
    assert written < 1024
    assert browser.faults() == []
