# SPDX-License-Identifier: Apache-2.0
"""Opens a page of results in headless Chromium, as a reader would, and uses it.

page_test.py PROGRAM [PICTURES [AXE]]: runs a small sweep with --page, makes the page of a log and one that compares two
runs, then drives the browser over its debugging pipe. Screenshots go to the folder PICTURES. AXE is the file axe.min.js
of axe-core, whose findings are then errors too. Without a browser the test is skipped (status 77).
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
        self.open_address(file.as_uri(), width)

    def open_address(self, address, width):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.call("Page.navigate", {"url": address})
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def look(self, scheme, media="screen"):
        """Chooses light or dark, and screen or print."""
        self.call("Emulation.setEmulatedMedia",
                  {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def press(self, key, shift=False):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key, "modifiers": 8 if shift else 0,
                                                 "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13}[key],
                                                 "text": "\r" if key == "Enter" and kind == "keyDown" else ""})

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


def check_rows(browser, page):
    """What a table keeps in the page's address, gives as CSV and lays side by side."""
    browser.open(page, 1200)
    made = browser.run("""(async () => {
        const table = document.querySelector("#mlp_engines table");
        const controls = table.parentElement.previousElementSibling;
        const press = (words) => [...controls.querySelectorAll("button")].find((b) => b.textContent === words).click();
        let copied = null;
        Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { copied = text; } } });
        const input = controls.querySelector("input");
        input.value = "eth";
        input.dispatchEvent(new Event("input"));
        press("copy as CSV");
        table.tHead.rows[0].cells[0].querySelector("button").click();
        press("compare two rows");
        const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
        shown[0].cells[0].click();
        shown[1].cells[0].click();
        await new Promise((ready) => setTimeout(ready, 300));
        return { copied, rows: shown.length, names: table.tHead.rows[0].cells.length, hash: location.hash,
            beside: document.querySelector("table.beside").textContent,
            picked: [...table.querySelectorAll("tr.picked")].map((row) => row.textContent) };
    })()""")
    lines = made["copied"].split("\r\n")
    expect("the CSV has the rows that are shown", len(lines) == made["rows"] + 2 and lines[-1] == "")
    expect("a field of the CSV is quoted where it has a comma", '"' not in lines[0] and "eth" in lines[1])
    expect("two rows lie side by side", len(made["picked"]) == 2 and "second / first" in made["beside"])
    expect("the address keeps order, filter and rows", all(
        part in made["hash"] for part in ("#mlp_engines&", ".sort=0%2B", ".find=eth", ".rows=")))
    browser.open_address("about:blank", 1200)  # a new place within a page would not open it anew
    browser.open_address(page.as_uri() + made["hash"], 1200)
    again = browser.run("""(() => {
        const table = document.querySelector("#mlp_engines table:not(.beside)");
        return { sorted: table.tHead.rows[0].cells[0].getAttribute("aria-sort"),
            shown: [...table.tBodies[0].rows].filter((row) => !row.hidden).length,
            picked: [...table.querySelectorAll("tr.picked")].map((row) => row.textContent),
            top: document.getElementById("mlp_engines").getBoundingClientRect().top };
    })()""")
    expect("a link shows them again", again["sorted"] == "ascending" and again["shown"] == made["rows"] and
           sorted(again["picked"]) == sorted(made["picked"]))
    expect("and leads to the table's part", abs(again["top"]) < 200)


def check_points(browser):
    """Where every point was recorded, the timeline of each can be chosen, none twice."""
    names = browser.run("[...document.querySelector('#timeline-view select').options].map((one) => one.text)")
    expect("each point has a timeline", len(names) == 12 and len(set(names)) == 12)
    expect("which is drawn", browser.run("""(async () => {
        const select = document.querySelector("#timeline-view select");
        select.value = 7;
        select.dispatchEvent(new Event("change"));
        await new Promise((ready) => setTimeout(ready, 300));
        return /point=7/.test(location.hash);
    })()"""))


def check_folded(browser):
    """A long table shows its first rows until its reader wants the others; a filter finds all, and paper has all."""
    made = browser.run("""(() => {
        const button = document.querySelector("button.more:not([hidden])");
        if (!button) return null;
        const rows = [...button.previousElementSibling.querySelector("tbody").rows];
        const shown = () => rows.filter((row) => getComputedStyle(row).display !== "none").length;
        const before = shown(), words = button.textContent;
        button.click();
        return { rows: rows.length, before, words, after: shown(), hidden: button.hidden };
    })()""")
    expect("there is a long table", made is not None)
    expect("it opens", made["before"] == 20 and made["words"] == f"{made['rows'] - 20} more rows" and
           made["after"] == made["rows"] and made["hidden"])


def check_charts(browser, page):
    browser.open(page, 1200)
    made = browser.run("""(() => {
        const figure = [...document.querySelectorAll("figure")].find((one) => one.querySelectorAll("li[data-shows] button").length > 2);
        const button = figure.querySelector("li[data-shows] button");
        const groups = figure.querySelectorAll(`g[data-shows="${button.parentElement.dataset.shows}"]`);
        button.click();
        const hidden = [...groups].every((group) => getComputedStyle(group).display === "none");
        button.click();
        const shown = [...groups].every((group) => getComputedStyle(group).display !== "none");
        const svg = figure.querySelector("svg.desk");
        const places = () => [...svg.querySelectorAll(".plot circle")].map((one) => one.getAttribute("cx"));
        const before = places(), labels = svg.querySelectorAll(".tick:not([display])").length;
        svg.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
        const closer = places();
        const marks = [...svg.querySelectorAll("g.closer text")].map((one) => parseFloat(one.textContent));
        const boxes = [...svg.querySelectorAll(".tick:not([display])")].map((e) => e.getBoundingClientRect());
        const apart = boxes.every((a, i) => boxes.every((b, j) => i >= j || a.right <= b.left || b.right <= a.left ||
            a.bottom <= b.top + 1 || b.bottom <= a.top + 1));
        figure.querySelector("button.all:not([hidden])").click();
        const back = places();
        return { hidden, shown, moved: before.some((x, i) => x !== closer[i]), back: before.every((x, i) => x === back[i]),
            marks, apart, labels: labels === svg.querySelectorAll(".tick:not([display])").length };
    })()""")
    expect("an entry of the legend hides its series and shows it again", made["hidden"] and made["shown"])
    expect("plus draws a part larger, under marks of its own", made["moved"] and len(made["marks"]) > 4)
    expect("which do not touch", made["apart"])
    expect("the whole chart comes back", made["back"] and made["labels"])
    expect("dragging chooses a part", browser.run("""(() => {
        const svg = document.querySelector("svg.desk:has(g.plot)");
        svg.setPointerCapture = () => {};
        const box = svg.getBoundingClientRect();
        const at = (kind, x, y) => svg.dispatchEvent(new PointerEvent(kind, { pointerType: "mouse", button: 0, pointerId: 1,
            clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
        at("pointerdown", 0.4, 0.3); at("pointermove", 0.6, 0.6);
        const drawn = !!svg.querySelector(".chosen");
        at("pointerup", 0.6, 0.6);
        return drawn && !svg.querySelector(".chosen") && !!svg.querySelector("g.closer");
    })()"""))


def check_theme(browser, page):
    browser.open(page, 1200)
    browser.run("document.querySelector('button.theme').click()")
    chosen = browser.run("document.documentElement.dataset.theme")
    browser.open(page, 1200)
    expect("the choice of light or dark is kept", browser.run("document.documentElement.dataset.theme") == chosen)
    browser.run("localStorage.clear()")


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
        "/[Dd]evice 0 ran .* programs in .* It waited for/.test(document.querySelector('#summary .findings').textContent)"))
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


# Text whose contrast with what is painted behind it is below what WCAG 2 asks for (1.4.3: 4.5, for large text 3).
FAINT_TEXTS = """(() => {
    const numbers = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
    const light = (color) => numbers(color).slice(0, 3).map((one) => one / 255)
        .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
    const clear = (color) => color === "none" || (numbers(color).length === 4 && numbers(color)[3] === 0);
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const behind = (element) => {
        for (let one = element; one; one = one.parentElement) {
            const color = getComputedStyle(one).backgroundColor;
            if (!clear(color)) return color;
        }
        return "rgb(255, 255, 255)";
    };
    // Of the shapes of a drawing, the last one below the middle of the text.
    const behindDrawn = (text) => {
        const box = text.getBoundingClientRect();
        const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
        let color = behind(text.ownerSVGElement);
        for (const shape of text.ownerSVGElement.querySelectorAll("rect, text")) {
            if (shape === text) break;
            const place = shape.getBoundingClientRect();
            const covers = place.left <= x && x <= place.right && place.top <= y && y <= place.bottom;
            if (shape.tagName === "rect" && covers && !clear(getComputedStyle(shape).fill)) color = getComputedStyle(shape).fill;
        }
        return color;
    };
    const faint = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !element.getClientRects().length) continue;
        if (element.closest("script, noscript, title, option")) continue;
        const style = getComputedStyle(element);
        const drawn = element.ownerSVGElement && element.closest("text");
        const found = contrast(drawn ? style.fill : style.color, drawn ? behindDrawn(drawn) : behind(element));
        const size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        if (found < (large ? 3 : 4.5)) faint.push(found.toFixed(2) + " " + element.outerHTML.slice(0, 120));
    }
    for (const field of document.querySelectorAll("input[placeholder]")) {
        const found = contrast(getComputedStyle(field, "::placeholder").color, behind(field));
        if (found < 4.5) faint.push(found.toFixed(2) + " placeholder of " + field.getAttribute("aria-label"));
    }
    return faint;
})()"""

# What a screen reader would stumble over, a line each.
STUMBLES = """(() => {
    const found = [];
    const all = (selector) => [...document.querySelectorAll(selector)];
    const say = (bad, what) => bad.forEach((one) => found.push(what + ": " + (one.outerHTML || one).slice(0, 120)));
    if (!document.documentElement.lang || !document.title.trim()) found.push("no language or no title");
    for (const one of ["header", "nav", "main", "h1"]) {
        if (all(one).length !== 1) found.push(all(one).length + " elements " + one);
    }
    say(all("body > *").filter((one) => !one.matches("header, nav, main, script, .skip")), "outside of the landmarks");
    const skip = document.querySelector(".skip");
    if (!document.getElementById(decodeURIComponent(skip.hash.slice(1)))) found.push("the skip link leads nowhere");
    say(all("nav a").filter((one) => !document.getElementById(decodeURIComponent(one.hash.slice(1)))), "leads nowhere");
    let level = 0;
    for (const head of all("h1, h2, h3, h4, h5, h6")) {
        const own = Number(head.tagName[1]);
        if (own > level + 1 || !head.textContent.trim()) found.push("heading after h" + level + ": " + head.outerHTML.slice(0, 120));
        level = own;
    }
    say(all("table").filter((one) => !one.caption || !one.caption.textContent.trim()), "a table without a caption");
    say(all("table").filter((one) => !one.tHead || [...one.tHead.rows[0].cells].some((cell) => cell.scope !== "col" ||
        !cell.textContent.trim())), "a table without heads");
    say(all("svg").filter((one) => !one.closest("[aria-hidden=true]") && !(one.getAttribute("role") === "img" &&
        one.getAttribute("aria-label"))), "a drawing without a name");
    say(all("figure").filter((one) => !one.querySelector("figcaption")), "a figure without a caption");
    say(all("ul, ol").filter((one) => [...one.children].some((child) => child.tagName !== "LI")), "a list of other things");
    say(all("a").filter((one) => !one.textContent.trim()), "a link without words");
    say(all("[tabindex]").filter((one) => one.tabIndex > 0), "an order of its own");
    say(all(".wide").filter((one) => one.scrollWidth > one.clientWidth && !(one.tabIndex === 0 && one.getAttribute("aria-label"))),
        "what is too wide cannot be reached");
    return found;
})()"""


def check_accessibility(browser, axe):
    for scheme in ("light", "dark"):
        browser.look(scheme)
        faint = browser.run(FAINT_TEXTS)
        expect(f"text can be read in {scheme}: " + "\n".join(faint), not faint)
    browser.look("light")
    stumbles = browser.run(STUMBLES)
    expect("a screen reader finds its way: " + "\n".join(stumbles), not stumbles)
    if axe:
        browser.run(axe + ";0")
        found = browser.run("axe.run().then((all) => all.violations.map((one) => one.id + ' ' + one.nodes[0].html))")
        expect("axe finds nothing: " + "\n".join(found), not found)


# Where an element stands among those that the keyboard can reach; -1: none has the focus.
FOCUS = """(() => {
    const stops = [...document.querySelectorAll("a[href], button, input, select, canvas")].filter((e) => e.checkVisibility());
    const style = getComputedStyle(document.activeElement);
    return [stops.indexOf(document.activeElement), stops.length, parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== "none"];
})()"""


def check_keyboard(browser):
    """Goes through the first controls with the Tab key, past the timeline, and sorts a table."""
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    canvas = browser.run("""[...document.querySelectorAll("a[href], button, input, select, canvas")]
        .filter((e) => e.checkVisibility()).indexOf(document.querySelector("canvas"))""")
    places = []
    while not places or places[-1] < canvas + 3:
        browser.press("Tab")
        place, count, outlined = browser.run(FOCUS)
        # A browser stops at tables that can be scrolled, too.
        if place < 0:
            continue
        expect("what has the focus is marked", outlined)
        expect("the Tab key follows the page's order", place == (places[-1] + 1 if places else 0))
        places.append(place)
        expect("the Tab key leaves every control", len(places) <= count)
    browser.press("Tab", shift=True)
    expect("it goes back as well", browser.run(FOCUS)[0] == places[-1] - 1)
    expect("Enter sorts a table", browser.run("""(() => {
        const button = document.querySelector("#matmul_sweep th button");
        button.focus();
        return document.activeElement === button;
    })()"""))
    browser.press("Enter")
    expect("Enter has sorted it", browser.run(
        "document.querySelector('#matmul_sweep th').getAttribute('aria-sort') === 'ascending'"))


def check_reach(browser):
    """The links at the top stay in sight, and say which part is read."""
    expect("the links stay in sight at the end of the page", browser.run("""(async () => {
        scrollTo(0, document.documentElement.scrollHeight);
        await new Promise((ready) => setTimeout(ready, 200));
        const bar = document.querySelector("nav").getBoundingClientRect();
        const now = document.querySelector("nav a[aria-current]");
        return bar.top >= 0 && bar.bottom < 120 && now && now.textContent === "mlp_engines";
    })()"""))
    browser.run("scrollTo(0, 0)")


def check_phone(browser):
    expect("letters of charts can be read on a phone", browser.run("""(() => {
        const texts = [...document.querySelectorAll("figure svg text")].filter((e) => e.getClientRects().length && e.textContent);
        return texts.length > 20 && texts.every((e) => e.getBoundingClientRect().height > 11 ||
            e.getBoundingClientRect().width > 11);
    })()"""))
    expect("no row of a table is higher than four lines", browser.run("""[...document.querySelectorAll("#mlp_engines tbody tr")]
        .every((e) => e.getBoundingClientRect().height < 100)"""))


def check_timelines(page, results):
    """Each timeline is as long as an iteration takes, and a little for what is still on its way."""
    text = page.read_text()
    data = text.split('id="timeline-data">')[1].split("</script>")[0]
    points = json.loads(data)
    expect("there are timelines", len(points) == 2)
    for point in points:
        experiment, name = point["name"].split("/", 1)
        result = json.loads((results / (experiment + ".json")).read_text())
        time = 1e12 * next(one for one in result["points"] if one["id"] == name)["metrics"]["time"]["value"]
        end = 0
        for track in point["tracks"]:
            start = 0
            for i in range(0, len(track["spans"]), 5):
                start += track["spans"][i]
                end = max(end, start + track["spans"][i + 1])
        expect(f"{point['name']} takes {time} and its timeline {end} ps", end < 1.5 * time)


def check_print(browser):
    browser.look("light", "print")
    cut = browser.run("""[...document.querySelectorAll("table, svg, h2, p, li")].filter((one) =>
        one.getClientRects().length && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map((one) => one.outerHTML.slice(0, 120))""")
    expect("nothing is cut off on paper: " + "\n".join(cut), not cut)
    expect("controls are not printed", browser.run("""[...document.querySelectorAll("nav, input, canvas, .theme, .skip")]
        .every((one) => !one.getClientRects().length)"""))
    paper = browser.call("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    expect("it can be printed", len(paper) > 20_000)
    browser.look("light")


def check_changes(browser):
    expect("the summary begins with what is slower", browser.run(
        "/^Since .*old, .* metrics? (is|are) slower/.test(document.querySelector('#summary .findings li').textContent)"))
    expect("the constant that moved is named", browser.run(
        "document.querySelector('#changes').textContent.includes('constants that moved: host.finish: 40 us -> 1 ms')"))
    expect("they stand before what was published", browser.run("""document.getElementById("changes")
        .compareDocumentPosition(document.getElementById("published")) === Node.DOCUMENT_POSITION_FOLLOWING"""))
    expect("the farthest row comes first", browser.run("""(() => {
        const table = document.querySelector("#changes table");
        const column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === "new/old");
        const ratios = [...table.tBodies[0].rows].map((row) => Number(row.cells[column].textContent));
        return ratios.length > 2 && ratios.every((one, i) => !i || one <= ratios[i - 1]);
    })()"""))


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    axe = pathlib.Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else None
    browser_program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser_program:
        print("skipped: there is no chromium on PATH")
        return SKIPPED
    # A browser that is killed may still write a file or two.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        subprocess.run([program, "matmul_sweep", "mlp_engines", "--backend", "emulated", "--page", "--results",
                        folder / "results"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "mlp_engines", "--backend", "emulated", "-a", "engine=dynamic", "-a", "batch=32", "-a", "dim=256",
                        "--results", folder / "logged", "--device-logs", folder / "logs"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = sorted((folder / "logs").rglob("ops_perf_results.csv"))[0]
        subprocess.run([program, "analyze", log, f"--page={folder}/log.html"],
                       check=True, stderr=subprocess.DEVNULL)
        subprocess.run([program, "gpt2_full", "--backend", "emulated", "-a", "engine=static", "-a", "variant=corrected",
                        "-a", "layers=2", "--results", folder / "logged", "--device-logs", folder / "long"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "analyze", next((folder / "long").rglob("ops_perf_results.csv")),
                        f"--page={folder}/long.html"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([program, "matmul_sweep", "--backend", "emulated", "--bottlenecks", "--page", "--results",
                        folder / "recorded"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "matmul_sweep", "--backend", "emulated", "--results", folder / "old"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "matmul_sweep", "--backend", "emulated", "--set", "host.finish=1ms", "--results", folder / "new"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "report", folder / "new", "--page", "--against", folder / "old", "--anyway"],
                       check=True, stderr=subprocess.DEVNULL)
        browser = Browser(browser_program, folder / "profile")
        try:
            for width in (1400, 800, 400):
                browser.open(folder / "results" / "index.html", width)
                check_reading(browser)
                check_reach(browser)
                if width == 400:
                    check_phone(browser)
                if pictures:
                    browser.picture(pictures / f"page_{width}.png")
            browser.open(folder / "results" / "index.html", 1200)
            check_accessibility(browser, axe)
            check_keyboard(browser)
            browser.open(folder / "results" / "index.html", 1200)
            check_tables(browser)
            check_timeline(browser)
            check_rows(browser, folder / "results" / "index.html")
            check_charts(browser, folder / "results" / "index.html")
            if pictures:
                browser.picture(pictures / "page_closer.png")
            browser.open(folder / "long.html", 1200)
            check_folded(browser)
            browser.open(folder / "recorded" / "index.html", 1200)
            check_points(browser)
            check_theme(browser, folder / "results" / "index.html")
            browser.open(folder / "results" / "index.html", 1200)
            check_timelines(folder / "results" / "index.html", folder / "results")
            check_memory(browser)
            if pictures:
                browser.run("document.getElementById('timeline').scrollIntoView()")
                browser.picture(pictures / "page_timeline.png")
            for page in (folder / "results" / "index.html", folder / "log.html"):
                browser.open(page, 718)  # A4 with margins
                check_print(browser)
            for width in (1400, 400):
                browser.open(folder / "new" / "index.html", width)
                check_reading(browser)
                check_changes(browser)
                if pictures:
                    browser.picture(pictures / f"changes_{width}.png")
            check_accessibility(browser, axe)
            for width in (1400, 800, 400):
                browser.open(folder / "log.html", width)
                check_reading(browser)
                check_log(browser)
                if width == 400:
                    expect("findings are cards that fit, with the names of their columns", browser.run("""(() => {
                        const table = [...document.querySelectorAll("table.cards")]
                            .find((e) => e.caption.textContent.includes("what would save time"));
                        const cell = [...table.tBodies[0].rows[0].cells].find((e) => e.dataset.head.startsWith("gain"));
                        return cell.getBoundingClientRect().right <= innerWidth && getComputedStyle(table.tHead).display === "none";
                    })()"""))
                if pictures:
                    browser.picture(pictures / f"log_{width}.png")
            check_accessibility(browser, axe)
            expect("no error in the console: " + "\n".join(browser.problems), not browser.problems)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
