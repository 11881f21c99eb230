# SPDX-License-Identifier: Apache-2.0
"""Opens a page of results in headless Chromium, as a reader would, and uses it.

page_test.py PROGRAM [PICTURES]: runs a small sweep with --page and makes the page of a log, then drives the browser
over its debugging pipe. Screenshots go to the folder PICTURES. Without a browser the test is skipped (status 77).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


class Browser:
    """One tab of a headless Chromium, driven over the two pipes of --remote-debugging-pipe."""

    def __init__(self, program, folder):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser expects its ends at descriptors 3 and 4.
        command = ('exec "$@" 3<&{} 4>&{}').format(to_browser, from_browser)
        self._process = subprocess.Popen(
            ["bash", "-c", command, "-", program, "--headless", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
             "--user-data-dir=" + str(folder)],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._rest = b""
        self._count = 0
        self.problems = []
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")

    def _read(self):
        while b"\0" not in self._rest:
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._rest += piece
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        kind = message.get("method", "")
        if kind in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.problems.append(json.dumps(message["params"]))
        return message

    def call(self, method, parameters=None, session=""):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = session or self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]

    def run(self, script):
        result = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def open(self, file, width):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.call("Page.navigate", {"url": file.as_uri()})
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def picture(self, file):
        import base64
        data = self.call("Page.captureScreenshot", {"captureBeyondViewport": False})["data"]
        file.write_bytes(base64.b64decode(data))

    def close(self):
        self._process.kill()
        self._process.wait()


def expect(what, holds):
    if not holds:
        raise AssertionError(what)


def check_tables(browser):
    expect("a click on a head sorts the column", browser.run("""(() => {
        const table = document.querySelector("#mlp_engines table");
        const head = [...table.tHead.rows[0].cells].find((cell) => cell.textContent.startsWith("time"));
        head.querySelector("button").click();
        const cells = [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex]);
        const values = cells.map((cell) => parseFloat(cell && cell.textContent)).filter((value) => !isNaN(value));
        return values.length > 12 && head.getAttribute("aria-sort") === "ascending" && values.every((v, i) => !i || values[i - 1] <= v);
    })()"""))
    expect("the filter keeps the rows with the word", browser.run("""(() => {
        const input = document.querySelector("#mlp_engines input[type=search]");
        input.value = "eth";
        input.dispatchEvent(new Event("input"));
        const rows = document.querySelector("#mlp_engines table").tBodies[0].rows;
        const shown = [...rows].filter((row) => !row.hidden);
        return shown.length > 0 && shown.length < rows.length && shown.every((row) => row.textContent.includes("eth"));
    })()"""))


def check_timeline(browser):
    expect("the timeline has a canvas", browser.run("!!document.querySelector('#timeline-view canvas')"))
    expect("a search finds an op and zooms to it", browser.run("""(async () => {
        const search = document.querySelector("input[aria-label='find an op']");
        search.value = "matmul";
        search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
        await new Promise((ready) => setTimeout(ready, 400));
        return document.getElementById("timeline-words").textContent.startsWith("matmul") && /to=\\d+/.test(location.hash);
    })()"""))
    expect("keys zoom", browser.run("""(async () => {
        const canvas = document.querySelector("canvas");
        const length = () => { const [, from, to] = location.hash.match(/from=(\\d+)&to=(\\d+)/); return to - from; };
        const before = length();
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
        await new Promise((ready) => setTimeout(ready, 400));
        return length() < before;
    })()"""))


def check_memory(browser):
    expect("memory stands beneath the tracks and says its size", browser.run("""(() => {
        const canvas = document.querySelector("canvas");
        const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.right - 5, clientY: box.bottom - 30, pointerId: 1 }));
        return /^(DRAM|L1) at .*B/.test(document.getElementById("timeline-words").textContent);
    })()"""))


def check_log(browser):
    expect("the summary says what the devices waited for", browser.run(
        "/Device 0 ran .* programs in .* It waited for/.test(document.querySelector('#summary .findings').textContent)"))
    expect("the charts of a log are there", browser.run("""["Where the time went", "Idle time by cause", "Kernel time by op"]
        .every((title) => [...document.querySelectorAll("figcaption")].some((e) => e.textContent.startsWith(title)))"""))
    expect("gaps have a legend", browser.run("document.querySelectorAll('#timeline-view .swatch').length > 0"))


def check_reading(browser):
    expect("nothing is wider than the page", browser.run(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
    expect("every control has a name", browser.run("""[...document.querySelectorAll("input,select,button,canvas")]
        .every((e) => e.textContent.trim() || e.getAttribute("aria-label"))"""))
    expect("there is one first heading", browser.run("document.querySelectorAll('h1').length === 1"))
    expect("no two elements have one id", browser.run("""(() => {
        const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
        return new Set(ids).size === ids.length;
    })()"""))
    expect("marks of axes do not touch", browser.run("""[...document.querySelectorAll("g.axes")].every((axes) => {
        const boxes = [...axes.querySelectorAll("text")].map((e) => e.getBoundingClientRect());
        return boxes.every((a, i) => boxes.every((b, j) => i >= j || a.right <= b.left || b.right <= a.left ||
            a.bottom <= b.top + 1 || b.bottom <= a.top + 1));
    })"""))


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    browser_program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser_program:
        print("skipped: there is no chromium on PATH")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([program, "matmul_sweep", "mlp_engines", "--backend", "emulated", "--page", "--results",
                        folder / "results"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "mlp_engines", "--backend", "emulated", "-a", "engine=dynamic", "-a", "batch=32", "-a", "dim=256",
                        "--results", folder / "logged", "--device-logs", folder / "logs"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = sorted((folder / "logs").rglob("ops_perf_results.csv"))[0]
        subprocess.run([program, "analyze", log, "--format", "html", "--output", folder / "log.html"],
                       check=True, stderr=subprocess.DEVNULL)
        browser = Browser(browser_program, folder / "profile")
        try:
            for width in (1400, 800, 400):
                browser.open(folder / "results" / "index.html", width)
                check_reading(browser)
                if pictures:
                    browser.picture(pictures / f"page_{width}.png")
            browser.open(folder / "results" / "index.html", 1200)
            check_tables(browser)
            check_timeline(browser)
            check_memory(browser)
            if pictures:
                browser.run("document.getElementById('timeline').scrollIntoView()")
                browser.picture(pictures / "page_timeline.png")
            for width in (1400, 800, 400):
                browser.open(folder / "log.html", width)
                check_reading(browser)
                check_log(browser)
                if pictures:
                    browser.picture(pictures / f"log_{width}.png")
            expect("no error in the console: " + "\n".join(browser.problems), not browser.problems)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
