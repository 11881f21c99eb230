// What a reader can do with a chart: hide a series by its entry in the legend, and look at a part of it more closely.
"use strict";

// An entry of a legend that names what it shows is a switch for it.
function switches(figure) {
  const entries = [...figure.querySelectorAll("li[data-shows]")];
  if (entries.length < 2) return;
  for (const entry of entries) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(...entry.childNodes);
    entry.append(button);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const group of figure.querySelectorAll(`g[data-shows="${entry.dataset.shows}"]`)) {
        if (on) group.removeAttribute("display"); else group.setAttribute("display", "none");
      }
    });
  }
}

// Round values from `low` to `high`, some six of them.
function roundMarks(low, high, logarithmic) {
  const marks = [];
  if (logarithmic && high > 20 * low) {
    const steps = high > 2000 * low ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power) {
      marks.push(...steps.map((step) => step * 10 ** power));
    }
  } else {
    const power = 10 ** Math.floor(Math.log10((high - low) / 5));
    const step = power * [1, 2, 5, 10].find((one) => (high - low) / (one * power) <= 7);
    for (let i = Math.ceil(low / step); i * step <= high; ++i) marks.push(i * step);
  }
  return marks.filter((mark) => mark >= low && mark <= high);
}

function shape(name, attributes, words = "") {
  const made = document.createElementNS(document.querySelector("svg").namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = words;
  return made;
}

let clips = 0;

// A chart of marks over two axes. What is shown is a rectangle in the units of the drawing.
class Zoom {
  constructor(svg, plot) {
    const [left, right, top, bottom] = plot.dataset.frame.split(" ").map(Number);
    this.frame = { left, right, top, bottom };
    this.svg = svg;
    this.plot = plot;
    this.axes = svg.querySelector("g.axes");
    this.axis = { x: this.range(plot.dataset.x), y: this.range(plot.dataset.y) };
    // Where each mark and line is when all is shown.
    this.shapes = [...plot.querySelectorAll("circle, polyline, polygon, path")].map((one) => {
      const text = one.getAttribute("points") || (one.getAttribute("d") || "").replace(/^M([-\d.]+) ([-\d.]+).*/, "$1,$2") ||
        one.getAttribute("cx") + "," + one.getAttribute("cy");
      return { one, places: text.trim().split(/\s+/).map((place) => place.split(",").map(Number)) };
    });
    svg.tabIndex = 0;
    svg.setAttribute("aria-label", svg.getAttribute("aria-label") + "; plus and minus zoom, arrow keys move, 0 shows all");
    this.all = document.createElement("button");
    this.all.type = "button";
    this.all.className = "all";
    this.all.textContent = "whole chart";
    this.all.addEventListener("click", () => this.show(this.frame));
    this.all.hidden = true;
    svg.after(this.all);
    this.view = this.frame;
    this.listen();
  }

  range(text) {
    const [kind, low, high] = text.split(" ");
    const logarithmic = kind === "log";
    const of = logarithmic ? Math.log : Number, back = logarithmic ? Math.exp : Number;
    return { logarithmic, place: (value) => (of(value) - of(+low)) / (of(+high) - of(+low)),
      value: (place) => back(of(+low) + place * (of(+high) - of(+low))) };
  }

  x(at) { return this.frame.left + (at - this.view.left) / (this.view.right - this.view.left) * (this.frame.right - this.frame.left); }
  y(at) { return this.frame.top + (at - this.view.top) / (this.view.bottom - this.view.top) * (this.frame.bottom - this.frame.top); }

  // Shows a part of the frame, a thousandth of each side at least.
  show(view) {
    const within = (from, to, low, high) => {
      const length = Math.min(Math.max(to - from, (high - low) / 1000), high - low);
      const begin = Math.min(Math.max(from, low), high - length);
      return [begin, begin + length];
    };
    const frame = this.frame;
    const [left, right] = within(view.left, view.right, frame.left, frame.right);
    const [top, bottom] = within(view.top, view.bottom, frame.top, frame.bottom);
    this.view = { left, right, top, bottom };
    this.whole = right - left === frame.right - frame.left && bottom - top === frame.bottom - frame.top;
    this.all.hidden = this.whole;
    this.draw();
  }

  draw() {
    for (const { one, places } of this.shapes) {
      const moved = places.map(([x, y]) => [this.x(x).toFixed(1), this.y(y).toFixed(1)]);
      if (one.tagName === "circle") {
        one.setAttribute("cx", moved[0][0]);
        one.setAttribute("cy", moved[0][1]);
      } else if (one.tagName === "path") {
        one.setAttribute("d", one.getAttribute("d").replace(/^M[-\d.]+ [-\d.]+/, "M" + moved[0].join(" ")));
      } else {
        one.setAttribute("points", moved.map((place) => place.join(",")).join(" "));
      }
    }
    if (!this.clip) this.cut();
    this.svg.querySelector("g.closer")?.remove();
    for (const one of this.axes.querySelectorAll(".grid, .tick")) {
      if (this.whole) one.removeAttribute("display"); else one.setAttribute("display", "none");
    }
    if (!this.whole) this.axes.append(this.marks());
  }

  // What lies outside of the frame is not drawn; half of a mark at its edge is.
  cut() {
    const { left, right, top, bottom } = this.frame;
    this.clip = "part-" + ++clips;
    const clip = shape("clipPath", { id: this.clip });
    clip.append(shape("rect", { x: left - 6, y: top - 6, width: right - left + 12, height: bottom - top + 12 }));
    this.svg.prepend(clip);
    this.plot.setAttribute("clip-path", `url(#${this.clip})`);
  }

  marks() {
    const { left, right, top, bottom } = this.frame;
    const group = shape("g", { class: "closer" });
    const text = (value) => String(parseFloat(value.toPrecision(5)));
    const across = this.axis.x, up = this.axis.y;
    const valueX = (at) => across.value((at - left) / (right - left));
    const valueY = (at) => up.value((bottom - at) / (bottom - top));
    for (const value of roundMarks(valueX(this.view.left), valueX(this.view.right), across.logarithmic)) {
      const at = this.x(left + across.place(value) * (right - left)).toFixed(1);
      group.append(shape("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom }),
        shape("text", { class: "tick", x: at, y: bottom + 18, "text-anchor": "middle" }, text(value)));
    }
    for (const value of roundMarks(valueY(this.view.bottom), valueY(this.view.top), up.logarithmic)) {
      const at = this.y(bottom - up.place(value) * (bottom - top));
      group.append(shape("line", { class: "grid", x1: left, x2: right, y1: at.toFixed(1), y2: at.toFixed(1) }),
        shape("text", { class: "tick", x: left - 6, y: (at + 4).toFixed(1), "text-anchor": "end" }, text(value)));
    }
    return group;
  }

  // Where the pointer is, in the units of the drawing and within the frame.
  place(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.svg.viewBox.baseVal.width / box.width;
    const { left, right, top, bottom } = this.frame;
    return { x: Math.min(Math.max((event.clientX - box.left) * scale, left), right),
      y: Math.min(Math.max((event.clientY - box.top) * scale, top), bottom) };
  }

  // The place of the whole frame that is drawn at a place.
  back(place) {
    const { left, right, top, bottom } = this.frame, view = this.view;
    return { x: view.left + (place.x - left) / (right - left) * (view.right - view.left),
      y: view.top + (place.y - top) / (bottom - top) * (view.bottom - view.top) };
  }

  by(factor) {
    const { left, right, top, bottom } = this.view;
    const wide = (right - left) * (1 - factor) / 2, high = (bottom - top) * (1 - factor) / 2;
    this.show({ left: left + wide, right: right - wide, top: top + high, bottom: bottom - high });
  }

  move(across, up) {
    const { left, right, top, bottom } = this.view;
    const x = across * (right - left), y = up * (bottom - top);
    this.show({ left: left + x, right: right + x, top: top - y, bottom: bottom - y });
  }

  listen() {
    let from = null, drawn = null;
    // A finger moves the page.
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      from = this.place(event);
      drawn = shape("rect", { class: "chosen" });
      this.svg.append(drawn);
      this.svg.setPointerCapture(event.pointerId);
    });
    const box = (to) => ({ x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(from.x - to.x), height: Math.abs(from.y - to.y) });
    this.svg.addEventListener("pointermove", (event) => {
      if (!from) return;
      for (const [key, value] of Object.entries(box(this.place(event)))) drawn.setAttribute(key, value);
    });
    const end = (event) => {
      if (!from) return;
      const { x, y, width, height } = box(this.place(event));
      drawn.remove();
      from = null;
      if (event.type === "pointercancel" || width < 8 || height < 8) return;
      const first = this.back({ x, y }), last = this.back({ x: x + width, y: y + height });
      this.show({ left: first.x, right: last.x, top: first.y, bottom: last.y });
    };
    this.svg.addEventListener("pointerup", end);
    this.svg.addEventListener("pointercancel", end);
    this.svg.addEventListener("dblclick", () => this.show(this.frame));
    this.svg.addEventListener("keydown", (event) => {
      const actions = { "+": () => this.by(0.7), "=": () => this.by(0.7), "-": () => this.by(1 / 0.7), "0": () => this.show(this.frame),
        ArrowLeft: () => this.move(-0.2, 0), ArrowRight: () => this.move(0.2, 0), ArrowUp: () => this.move(0, 0.2), ArrowDown: () => this.move(0, -0.2) };
      if (!actions[event.key] || (this.whole !== false && event.key.startsWith("Arrow"))) return;
      event.preventDefault();
      actions[event.key]();
    });
  }
}

function charts() {
  for (const figure of document.querySelectorAll("figure")) {
    switches(figure);
    for (const svg of figure.querySelectorAll("svg")) {
      const plot = svg.querySelector("g.plot");
      if (plot) new Zoom(svg, plot);
    }
  }
}
