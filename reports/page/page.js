// What a reader can do with the page beyond reading it: choose light or dark, and look into the timeline; tables.js and
// charts.js have the rest. Without JavaScript everything but the timeline is there all the same.
"use strict";

// What a link to the page keeps: "#mlp_engines&t2.sort=3+&point=1&from=1200&to=5000". It begins with the part of the page
// that was last used.
const state = {
  values: Object.fromEntries(location.hash.slice(1).split("&").slice(1)
    .map((part) => part.split("=").map((word) => decodeURIComponent(word)))),
  anchor: location.hash.slice(1).split("&")[0],
  begun: false,  // What the page does while it is set up changes no address.
  read() { return this.values; },
  // Nothing is kept of what is empty.
  write(anchor, changes) {
    if (!this.begun) return;
    for (const [key, value] of Object.entries(changes)) {
      if (value === "") delete this.values[key]; else this.values[key] = String(value);
    }
    this.anchor = anchor;
    // Browsers slow down a page that writes its address many times a second.
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.writeNow(), 150);
  },
  writeNow() {
    const parts = Object.entries(this.values).map(([key, value]) => key + "=" + encodeURIComponent(value));
    try {
      history.replaceState(null, "", "#" + [this.anchor, ...parts].join("&"));
    } catch (ignored) {
      // Some browsers keep no history of pages that were opened from a disk.
    }
  },
};

// The reader's choice of light or dark, where the browser lets a page keep it.
const theme = {
  read() { try { return localStorage.getItem("howard-theme"); } catch (ignored) { return null; } },
  write(value) { try { localStorage.setItem("howard-theme", value); } catch (ignored) { /* for this visit */ } },
};

function themeButton() {
  const button = document.createElement("button");
  const dark = () => document.documentElement.dataset.theme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const show = () => { button.textContent = dark() ? "light" : "dark"; };
  if (["light", "dark"].includes(theme.read())) document.documentElement.dataset.theme = theme.read();
  button.className = "theme";
  button.type = "button";
  button.setAttribute("aria-label", "switch between light and dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    theme.write(document.documentElement.dataset.theme);
    show();
    document.dispatchEvent(new Event("themechange"));
  });
  show();
  document.querySelector("header").prepend(button);
}

// Colours that the colour-blind can tell apart (Okabe and Ito); dark text is readable on all but the first.
const categoryColors = { host: "#0072b2", dispatch: "#e69f00", kernel: "#009e73", transfer: "#cc79a7",
  read: "#56b4e9", math: "#f0e442", write: "#d55e00", finish: "#999999" };
const colorOfCategory = (category) => categoryColors[category] || "#bbbbbb";

function durationText(ps) {
  const units = [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3]];
  const [name, factor] = units.find(([, size]) => Math.abs(ps) >= size) || ["ps", 1];
  return parseFloat((ps / factor).toPrecision(6)) + " " + name;
}

// A list as columns of numbers, so that a million of them can be searched at once. The first column
// has times, each counted from the one before.
function columnsOf(flat, width) {
  const count = flat.length / width;
  const columns = Array.from({ length: width }, (_, column) =>
    Float64Array.from({ length: count }, (_, row) => flat[row * width + column]));
  for (let i = 1; i < count; ++i) columns[0][i] += columns[0][i - 1];
  return columns;
}

function bytesText(bytes) {
  const units = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];
  const [name, factor] = units.find(([, size]) => bytes >= size) || ["B", 1];
  return parseFloat((bytes / factor).toPrecision(4)) + " " + name;
}

// The first place in rising `values` that is not below `value`.
function lowerBound(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

class Timeline {
  constructor(view, points) {
    this.points = points;
    this.view = view;
    this.row = 22;
    this.high = 64;
    this.names = view.clientWidth < 600 ? 105 : 170;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "timeline of a point; arrow keys move it, plus and minus zoom");
    this.words = document.createElement("p");
    this.words.id = "timeline-words";
    this.words.setAttribute("aria-live", "polite");
    this.key = document.createElement("ul");
    this.key.className = "legend";
    view.append(this.controls(), this.canvas, this.key, this.words);
    const wanted = state.read();
    this.choose(Math.min(Number(wanted.point) || 0, points.length - 1));
    if (wanted.to) this.show(Number(wanted.from), Number(wanted.to));
    this.listen();
  }

  controls() {
    const line = document.createElement("div");
    line.className = "controls";
    this.select = document.createElement("select");
    this.select.setAttribute("aria-label", "point");
    this.points.forEach((point, index) => this.select.add(new Option(point.name, index)));
    this.select.addEventListener("change", () => this.choose(Number(this.select.value)));
    this.search = document.createElement("input");
    this.search.type = "search";
    this.search.placeholder = "find an op, press Enter";
    this.search.setAttribute("aria-label", "find an op");
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.find(this.search.value);
    });
    line.append(this.select, this.search);
    const actions = { "zoom in": () => this.zoom(0.5), "zoom out": () => this.zoom(2), all: () => this.all() };
    for (const [label, action] of Object.entries(actions)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", action);
      line.append(button);
    }
    return line;
  }

  choose(index) {
    const point = this.points[index];
    this.select.value = index;
    this.point = point;
    this.index = index;
    this.tracks = point.tracks.map((track) => {
      const [start, length, name, category, notes] = columnsOf(track.spans, 5);
      return { name: track.name, start, length, name_: name, category, notes };
    });
    const [start, length, cause] = columnsOf(point.gaps, 3);
    this.gaps = { start, length, cause };
    this.causes = [...new Set(cause)];
    this.colorOf = new Map(this.causes.map((one) => [one, point.colors[one]]));
    this.end = Math.max(1, ...this.tracks.map((track) =>
      track.start.reduce((most, begin, i) => Math.max(most, begin + track.length[i]), 0)));
    this.memory = (point.memory || []).map((curve) => {
      const [start, bytes] = columnsOf(curve.levels, 2);
      return { name: curve.name, start, bytes, most: bytes.reduce((a, b) => Math.max(a, b), 1) };
    });
    const [begin, lasts, phase] = columnsOf(point.phases || [], 3);
    this.phases = { start: begin, length: lasts, name: phase };
    this.found = null;
    this.all();
    this.say(point.left_out || "");
    const categories = [...new Set(this.tracks.flatMap((track) => [...new Set(track.category)]))];
    const keys = categories.map((one) => [colorOfCategory(point.texts[one]), point.texts[one]])
      .concat(this.causes.map((cause) => [this.colorOf.get(cause), "gap: " + point.texts[cause]]));
    this.key.replaceChildren(...keys.map(([color, words]) => {
      const entry = document.createElement("li");
      const mark = document.createElement("span");
      mark.className = "swatch";
      mark.style.background = color;
      entry.append(mark, " " + words);
      return entry;
    }));
  }

  say(words) { this.words.textContent = words; }
  all() { this.show(0, this.end); }

  show(from, to) {
    const least = 100;
    const length = Math.min(Math.max(to - from, least), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - length);
    this.to = this.from + length;
    state.write("timeline", { point: this.index, from: Math.round(this.from), to: Math.round(this.to) });
    this.draw();
  }

  zoom(factor, place = (this.from + this.to) / 2) {
    this.show(place - (place - this.from) * factor, place + (this.to - place) * factor);
  }

  find(words) {
    const wanted = words.toLowerCase();
    if (!wanted) return;
    const spans = [];
    this.tracks.forEach((track, row) => track.start.forEach((start, i) => {
      const text = this.point.texts[track.name_[i]] + "\n" + this.point.texts[track.notes[i]];
      if (text.toLowerCase().includes(wanted)) spans.push({ row, i, start });
    }));
    if (!spans.length) return this.say("nothing has '" + words + "' in its name or its facts");
    spans.sort((a, b) => a.start - b.start);
    const behind = this.found ? spans.findIndex((span) => span.start > this.found.start) : 0;
    this.found = spans[Math.max(behind, 0)];
    const length = this.tracks[this.found.row].length[this.found.i];
    this.show(this.found.start - 3 * length, this.found.start + 4 * length);
    this.tell(this.found);
  }

  tell(span) {
    const track = this.tracks[span.row];
    const texts = this.point.texts;
    this.say(texts[track.name_[span.i]] + " on " + track.name + ": begins at " +
      durationText(track.start[span.i]) + ", takes " + durationText(track.length[span.i]) +
      (track.notes[span.i] ? "\n" + texts[track.notes[span.i]] : ""));
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - this.row) / this.row);
    const time = this.timeAt(event.clientX - box.left);
    const track = this.tracks[row];
    if (time < 0) return null;
    if (!track) return this.memoryAt(event.clientY - box.top, time);
    // Spans nest a few deep at most, so that the innermost one is near.
    const last = Math.min(lowerBound(track.start, time), track.start.length - 1);
    for (let i = last; i >= Math.max(0, last - 50); --i) {
      if (track.start[i] <= time && time <= track.start[i] + track.length[i]) return { row, i, start: track.start[i] };
    }
    return null;
  }

  // Where the curves of memory begin, below the tracks.
  memoryTop() { return this.row * (this.tracks.length + 1) + 4; }

  memoryAt(y, time) {
    const curve = this.memory[Math.floor((y - this.memoryTop()) / this.high)];
    if (!curve) return null;
    const place = lowerBound(curve.start, time + 1) - 1;
    if (place < 0) return null;
    const { start, length, name } = this.phases;
    const phase = lowerBound(start, time + 1) - 1;
    const within = phase >= 0 && time <= start[phase] + length[phase] ? ", in " + this.point.texts[name[phase]] : "";
    return { words: curve.name + " at " + durationText(time) + ": " + bytesText(curve.bytes[place]) + within +
      "\nmost: " + bytesText(curve.most) };
  }

  timeAt(x) {
    return this.from + (x - this.names) / (this.canvas.clientWidth - this.names) * (this.to - this.from);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.clientX - box.left));
    }, { passive: false });
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      grip = { x: event.clientX, from: this.from, to: this.to };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => { grip = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (grip) {
        const moved = (event.clientX - grip.x) / (canvas.clientWidth - this.names) * (grip.to - grip.from);
        return this.show(grip.from - moved, grip.to - moved);
      }
      const span = this.at(event);
      if (span && span.words) this.say(span.words);
      else if (span) this.tell(span);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = (this.to - this.from) / 10;
      const actions = { "+": () => this.zoom(0.8), "=": () => this.zoom(0.8), "-": () => this.zoom(1.25),
        "0": () => this.all(), ArrowLeft: () => this.show(this.from - step, this.to - step),
        ArrowRight: () => this.show(this.from + step, this.to + step) };
      if (!actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    });
    new ResizeObserver(() => this.draw()).observe(this.view);
    document.addEventListener("themechange", () => this.draw());
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  paint() {
    const canvas = this.canvas;
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth || 800;
    const height = this.memoryTop() + this.high * this.memory.length;
    canvas.style.height = height + "px";
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text");
    const line = style.getPropertyValue("--line");
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const scale = (width - this.names) / (this.to - this.from);
    const place = (time) => this.names + (time - this.from) * scale;
    // Round marks whose labels have room, some 110 pixels each.
    const least = (this.to - this.from) * 110 / (width - this.names);
    const decade = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((digit) => digit * decade).find((one) => one >= least);
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      pen.fillStyle = line;
      pen.fillRect(place(time), 0, 0.7, height);
      pen.fillStyle = text;
      pen.textAlign = place(time) > width - 80 ? "right" : "left";
      pen.fillText(durationText(time), place(time) + (pen.textAlign === "right" ? -3 : 3), this.row / 2);
    }
    pen.textAlign = "left";
    this.tracks.forEach((track, row) => this.paintTrack(pen, track, row, place, scale, text, width));
    this.memory.forEach((curve, i) => this.paintMemory(pen, curve, this.memoryTop() + this.high * i, place, text, width));
  }

  // Memory as a filled curve of steps: of those that share a pixel, the highest.
  paintMemory(pen, curve, top, place, text, width) {
    const bottom = top + this.high - 4;
    const heightOf = (bytes) => (this.high - 20) * bytes / curve.most;
    pen.save();
    pen.beginPath();
    pen.rect(this.names, top, width - this.names, this.high);
    pen.clip();
    pen.fillStyle = "#56b4e9";
    const first = Math.max(0, lowerBound(curve.start, this.from) - 1);
    for (let i = first; i < curve.start.length && curve.start[i] <= this.to; ++i) {
      const left = Math.max(place(curve.start[i]), this.names);
      let most = curve.bytes[i];
      while (i + 1 < curve.start.length && place(curve.start[i + 1]) < left + 0.5) most = Math.max(most, curve.bytes[++i]);
      const right = i + 1 < curve.start.length ? place(curve.start[i + 1]) : width;
      pen.fillRect(left, bottom - heightOf(most), Math.max(Math.min(right, width) - left, 0.5), heightOf(most));
    }
    pen.restore();
    pen.fillStyle = text;
    pen.fillRect(this.names, bottom, width - this.names, 0.7);
    pen.fillText(curve.name + ", most " + bytesText(curve.most), 2, top + this.high / 2, this.names - 6);
  }

  paintTrack(pen, track, row, place, scale, text, width) {
    const top = this.row * (row + 1) + 2;
    const high = this.row - 4;
    pen.save();
    pen.beginPath();
    pen.rect(this.names, top, width - this.names, high);
    pen.clip();
    if (track.name.startsWith("sub-device 0")) this.paintGaps(pen, place, scale, top, high);
    let drawnTo = -1;
    const first = Math.max(0, lowerBound(track.start, this.from) - 200);
    for (let i = first; i < track.start.length && track.start[i] <= this.to; ++i) {
      const left = place(track.start[i]);
      const right = left + Math.max(track.length[i] * scale, 0.7);
      // Where many spans share a pixel, one stands for all.
      if (right < this.names || right <= drawnTo + 0.3) continue;
      const category = this.point.texts[track.category[i]];
      pen.fillStyle = colorOfCategory(category);
      pen.fillRect(left, top, right - left, high);
      drawnTo = right;
      if (right - left < 40) continue;
      pen.fillStyle = category === "host" ? "#ffffff" : "#111111";
      pen.fillText(this.point.texts[track.name_[i]], Math.max(left, this.names) + 3, top + high / 2, right - left - 6);
      pen.strokeStyle = "#ffffff";
      pen.strokeRect(left, top, right - left, high);
    }
    if (this.found && this.found.row === row) {
      pen.strokeStyle = text;
      pen.lineWidth = 2;
      pen.strokeRect(place(this.found.start), top, track.length[this.found.i] * scale, high);
      pen.lineWidth = 1;
    }
    pen.restore();
    pen.fillStyle = text;
    pen.fillText(track.name, 2, top + high / 2, this.names - 6);
  }

  paintGaps(pen, place, scale, top, high) {
    const gaps = this.gaps;
    const first = Math.max(0, lowerBound(gaps.start, this.from) - 20);
    let drawnTo = -1;
    for (let i = first; i < gaps.start.length && gaps.start[i] <= this.to; ++i) {
      const left = place(gaps.start[i]);
      const wide = Math.max(gaps.length[i] * scale, 0.5);
      if (left + wide < this.names || left + wide <= drawnTo + 0.3) continue;
      pen.fillStyle = this.colorOf.get(gaps.cause[i]);
      pen.fillRect(left, top + high * 0.35, wide, high * 0.3);
      drawnTo = left + wide;
    }
  }
}

// What is wider than the page can be moved with the keyboard, and a screen reader says what it is.
function reachable(region) {
  const wide = region.scrollWidth > region.clientWidth;
  const words = region.querySelector("caption") || region.parentElement.querySelector("figcaption");
  if (wide) region.tabIndex = 0; else region.removeAttribute("tabindex");
  if (wide) region.setAttribute("role", "region"); else region.removeAttribute("role");
  if (wide && words) region.setAttribute("aria-label", words.textContent); else region.removeAttribute("aria-label");
}

// A list of ops takes one line; a click shows all of it.
for (const cell of document.querySelectorAll("td.list")) {
  cell.title = cell.textContent;
  cell.addEventListener("click", () => cell.classList.toggle("open"));
}

// On a phone, rows that mostly have words which do not fit beside each other are cards: a line for each cell, which begins
// with the name of its column.
const phone = matchMedia("(max-width: 36rem)");
function stack(table) {
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  table.classList.remove("cards");
  const rows = table.tBodies[0].rows;
  const wordy = 2 * [...rows].filter((row) => row.querySelector("td.long")).length > rows.length;
  if (!phone.matches || !wordy || table.scrollWidth <= table.parentElement.clientWidth) return;
  table.classList.add("cards");
  for (const row of rows) [...row.cells].forEach((cell, i) => { cell.dataset.head = heads[i]; });
}

// The links at the top say which part is read.
function follow(links) {
  const parts = links.map((link) => document.getElementById(link.hash.slice(1)));
  const show = () => {
    const passed = parts.filter((part) => part && part.getBoundingClientRect().top < innerHeight / 3);
    const now = parts.indexOf(passed[passed.length - 1]);
    links.forEach((link, i) => {
      if (i !== now) return link.removeAttribute("aria-current");
      if (link.hasAttribute("aria-current")) return;
      link.setAttribute("aria-current", "true");
      const bar = link.parentElement;
      bar.scrollLeft = link.offsetLeft - (bar.clientWidth - link.offsetWidth) / 2;
    });
  };
  addEventListener("scroll", show, { passive: true });
  show();
}

follow([...document.querySelectorAll("nav a")]);
themeButton();
const reachWide = () => {
  document.querySelectorAll(".wide > table").forEach(stack);
  document.querySelectorAll(".wide").forEach(reachable);
};
reachWide();
addEventListener("resize", reachWide);
tables();
charts();
const data = document.getElementById("timeline-data");
if (data) new Timeline(document.getElementById("timeline-view"), JSON.parse(data.textContent));
// A link that keeps more than a place leads to its part all the same.
if (location.hash.includes("&")) document.getElementById(state.anchor)?.scrollIntoView();
state.begun = true;
