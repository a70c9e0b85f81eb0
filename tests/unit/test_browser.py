"""The report in a real browser: no console error, no request leaves the page, every figure is there and is drawn.

Where there is no Chromium these tests say so and are skipped; where NOREGRET_BROWSER is set, as in continuous
integration, its absence is a failure.
"""

import base64
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from noregret import learner as learners
from noregret import model
from noregret.proof.certify import certify
from noregret.protocol import play
from noregret.reporting import report
from noregret.task.separate import separate

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
)


def missing():
    """What a browser test lacks here, in a sentence."""
    if CHROMIUM is None or DRIVER is None:
        return "there is no Chromium with its driver on this machine"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed: pip install 'noregret[browser]'"
    return None


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    lacking = missing()
    if lacking is not None:
        if os.environ.get("NOREGRET_BROWSER"):
            pytest.fail(f"NOREGRET_BROWSER is set, but {lacking}")
        pytest.skip(lacking)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_window_size(1000, 900)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of several files, written to the disk."""
    folder = tmp_path_factory.mktemp("page")
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    data = X, np.where((X @ [1.0, -2.0, 0.5] > 0.0) ^ (rng.random(200) < 0.1), 1, -1)
    run = play(learners.OnlineGradientDescent(loss="logistic", radius=2.0), data, digest=True)
    certify(run, data, anytime=True).save(folder / "ogd.json")
    model.save(run.learner, folder / "ogd.nr")
    wrong = play(learners.Perceptron(), data, digest=True)
    certify(wrong, data).save(folder / "perceptron.json")
    separate(data).save(folder / "proof.json")
    files = [folder / name for name in ("ogd.json", "ogd.nr", "perceptron.json", "proof.json")]
    report(*files, output=folder / "report.html")
    return folder / "report.html"


def requests(browser):
    """Every address that was asked for since the log was read last."""
    told = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [one["params"]["request"]["url"] for one in told if one["method"] == "Network.requestWillBeSent"]


@pytest.fixture
def opened(browser, page):
    """The page, opened anew with empty logs."""
    browser.get("about:blank")
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(page.as_uri())
    return browser


def test_no_console_error_and_no_request_leaves_the_page(opened, page):
    assert opened.get_log("browser") == []
    asked = requests(opened)
    assert [one for one in asked if not one.startswith("data:")] == [page.as_uri()]
    assert opened.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_the_policy_stops_what_would_leave_or_run(opened):
    """The tests above could not fail if nothing were logged: what is forbidden is tried."""
    opened.execute_script(
        "const i = document.createElement('img'); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i);"
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);"
    )
    assert opened.execute_script("return window.ran === undefined")
    said = " ".join(entry["message"] for entry in opened.get_log("browser"))
    assert "Content Security Policy" in said
    assert "x.png" in said


def test_every_figure_is_there_and_is_drawn(opened):
    sizes = opened.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(s => {const b = s.getBoundingClientRect();"
        " return [b.width, b.height, s.querySelectorAll('path').length, s.querySelectorAll('text').length]})"
    )
    assert len(sizes) == opened.execute_script("return document.querySelectorAll('figcaption').length") >= 5
    for width, height, paths, texts in sizes:
        assert width > 400 and height > 200
        assert paths >= 3 and texts >= 3
    lost = opened.execute_script(
        "return [...document.querySelectorAll('figure svg use, figure svg [clip-path]')].map(u =>"
        " u.getAttribute('href') || u.getAttribute('xlink:href') || u.getAttribute('clip-path').slice(4, -1))"
        ".filter(name => document.getElementById(name.slice(1)) === null)"
    )
    assert lost == [], "what a picture refers to is in the page"


@pytest.mark.parametrize("width", [360, 1000, 1800])
def test_it_fits_the_window(opened, width):
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        wide = opened.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], "nothing sticks out to the right"
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_light_and_dark(opened):
    seen = {}
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        style = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
        seen[scheme] = [brightness(colour) for colour in opened.execute_script(style)]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert seen["light"][0] > 0.9 > 0.3 > seen["light"][1]
    assert seen["dark"][0] < 0.2 < 0.7 < seen["dark"][1]


def brightness(colour):
    numbers = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(numbers) / (3 * 255)


def test_it_prints_with_no_theorem_across_a_page(opened):
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    kept = opened.execute_script(
        "return [...document.querySelectorAll('.theorem, figure')].map(e => getComputedStyle(e).breakInside)"
    )
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert kept and set(kept) == {"avoid"}
    printed = base64.b64decode(opened.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") >= 3


def test_the_demo_ends_with_a_report_that_opens(browser, tmp_path):
    from noregret.cli.demo import demo

    demo(tmp_path / "demo")
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(Path(tmp_path / "demo" / "report.html").as_uri())
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.querySelectorAll('figure svg').length") >= 4
    assert "receipt.json" in browser.find_element("tag name", "h2").text
