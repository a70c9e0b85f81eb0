"""The page in a real browser: no console error, no request leaves the host, its figures are those of the API."""

import asyncio
import json
import os
import shutil
import time

import pytest
from load import Client, Service

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage"
)
NAME = "<b>&x"  # a label that would be markup, if it were not text


@pytest.fixture(scope="module")
def browser():
    lacking = None if CHROMIUM and DRIVER else "there is no Chromium with its driver on this machine"
    try:
        from selenium import webdriver
    except ImportError:
        lacking = "selenium is not installed: pip install 'noregret[browser]'"
    if lacking is not None:
        if os.environ.get("NOREGRET_BROWSER"):
            pytest.fail(f"NOREGRET_BROWSER is set, but {lacking}")
        pytest.skip(lacking)
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


async def played(port, count):
    async with Client(port) as client:
        for i in range(count):
            x = {"f": (-1.0) ** i, NAME: 1.0}
            await client.ask("POST", "/v1/models/m/predict", {"id": i, "x": x})
        labels = [{"id": i, "y": "yes" if i % 2 else "no", "decision": "no"} for i in range(count - 7)]
        status, said = await client.ask("POST", "/v1/models/m/label", labels)
        assert status == 200, said


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    models = tmp_path_factory.mktemp("models")
    found = Service(
        models, "--new", "m", "--learner", "ogd:loss=logistic", "--positive", "yes", "--receipt-every", "100"
    )
    asyncio.run(played(found.port, 307))
    yield found
    found.end()


def shown(browser):
    """The figures on the page, by name."""
    code = "return [...document.querySelectorAll('#tiles div')].map((d) => [...d.children].map((c) => c.textContent))"
    return dict(browser.execute_script(code))


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_the_page_shows_what_the_api_says(browser, service, width, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    scheme = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    browser.get(service.url)
    drawn = "return document.querySelectorAll('.js-plotly-plot .scatterlayer .trace').length"
    receipts = "return document.querySelectorAll('#receipts tr').length"
    end = time.monotonic() + 60
    while browser.execute_script(drawn) < 9 or not browser.execute_script(receipts):
        assert time.monotonic() < end, browser.execute_script("return document.body.innerText")
        time.sleep(0.1)
    figures = shown(browser)
    assert (figures["Rows predicted"], figures["Labels learned"], figures["Waiting"]) == ("307", "300", "7")
    assert figures["Error of decisions"] == "50.00 %"
    assert len(browser.find_element("id", "head").text) == 64
    wide, room = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room
    assert browser.get_log("browser") == []
    asked = [json.loads(one["message"])["message"] for one in browser.get_log("performance")]
    urls = [one["params"]["request"]["url"] for one in asked if one["method"] == "Network.requestWillBeSent"]
    assert len(urls) > 5
    assert [url for url in urls if not url.startswith((service.url, "data:", "blob:"))] == []


def test_the_page_follows_what_happens(browser, service):
    browser.get(service.url)

    async def more():
        async with Client(service.port) as client:
            await client.ask("POST", "/v1/models/m/predict", {"x": {"f": 1.0}})

    before = json.loads(asyncio.run(_windows(service.port)))["now"]["predicted"]
    asyncio.run(more())
    end = time.monotonic() + 30
    while shown(browser).get("Rows predicted") != f"{before + 1:,}":
        assert time.monotonic() < end, shown(browser)
        time.sleep(0.1)


async def _windows(port):
    async with Client(port) as client:
        return (await client.ask("GET", "/v1/models/m/windows"))[1]
