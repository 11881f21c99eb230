// What a reader can do with a table: sort and filter it, open its further rows, copy it as CSV, and lay two rows side by
// side. A link to the page keeps the order, the filter and the rows.
"use strict";

// A number of a cell, or its text.
function valueOf(cell) {
  const text = cell ? cell.textContent.trim() : "";
  const number = parseFloat(text);
  return Number.isNaN(number) ? text : number;
}

function labelled(kind, words, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = words;
  made.addEventListener("click", () => action(made));
  return made;
}

class Rows {
  constructor(table, number) {
    this.table = table;
    this.key = "t" + number;
    this.body = table.tBodies[0];
    this.rows = [...this.body.rows];  // in their own order
    this.heads = [...table.tHead.rows[0].cells];
    this.anchor = table.closest("section")?.id || "";
    this.names = this.heads.map((head) => head.textContent.trim());
    this.heads.forEach((head, column) => {
      const button = labelled("", "", () => this.sort(column, head.getAttribute("aria-sort") !== "ascending"));
      button.append(...head.childNodes);
      head.append(button);
    });
    this.fold();
    const few = 4, many = 12;
    if (this.rows.length <= few) return;
    this.controls = document.createElement("div");
    this.controls.className = "controls";
    if (this.rows.length > many) this.controls.append(this.filter());
    this.controls.append(labelled("", "copy as CSV", (button) => this.copy(button)));
    if (this.heads.filter((head) => head.classList.contains("number")).length > 2) this.controls.append(this.picker());
    table.parentElement.before(this.controls);
  }

  // The first rows of a long table are shown until a reader wants the others.
  fold() {
    const most = 30;
    if (this.rows.length <= most) return;
    this.more = labelled("more", "", () => {
      this.opened = true;
      this.lay();
    });
    this.table.parentElement.after(this.more);
    this.lay();
  }

  lay() {
    if (!this.more) return;
    const first = 20, folds = !this.opened && !this.found;
    [...this.body.rows].forEach((row, place) => row.classList.toggle("folded", folds && place >= first));
    this.more.textContent = this.rows.length - first + " more rows";
    this.more.hidden = !folds;
  }

  // Shows what the page's address says.
  restore(values) {
    const order = /^(\d+)([+-])$/.exec(values[this.key + ".sort"] || "");
    if (order && this.heads[order[1]]) this.sort(Number(order[1]), order[2] === "+");
    const words = values[this.key + ".find"];
    if (words && this.input) {
      this.input.value = words;
      this.find(words);
    }
    const rows = (values[this.key + ".rows"] || "").split(",").map((row) => this.rows[row]).filter(Boolean);
    if (rows.length === 2 && this.pick) {
      this.picked = rows;
      this.compare();
    }
  }

  keep(name, value) { state.write(this.anchor, { [this.key + "." + name]: value }); }

  sort(column, rising) {
    this.heads.forEach((other) => other.removeAttribute("aria-sort"));
    this.heads[column].setAttribute("aria-sort", rising ? "ascending" : "descending");
    const rows = this.rows.map((row) => [valueOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
      return rising ? order : -order;
    });
    this.body.append(...rows.map(([, row]) => row));
    this.lay();
    this.keep("sort", column + (rising ? "+" : "-"));
  }

  filter() {
    this.input = document.createElement("input");
    this.input.type = "search";
    this.input.placeholder = "show rows with ...";
    this.input.setAttribute("aria-label", "show rows with this text: " + this.table.caption.textContent);
    this.input.addEventListener("input", () => this.find(this.input.value));
    return this.input;
  }

  find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of this.rows) {
      const said = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => said.includes(word));
    }
    this.found = words.length > 0;
    this.lay();
    this.keep("find", text);
  }

  // The rows that are shown, in their order, as RFC 4180 has it.
  csv() {
    const field = (text) => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    const lines = [this.names, ...[...this.body.rows].filter((row) => !row.hidden)
      .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))];
    return lines.map((line) => line.map(field).join(",") + "\r\n").join("");
  }

  async copy(button) {
    const text = this.csv();
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch (ignored) {
      // Browsers without a clipboard for pages of a disk have the older way.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    const words = button.textContent;
    button.textContent = done ? "copied" : "the browser does not allow it";
    setTimeout(() => { button.textContent = words; }, 1500);
  }

  picker() {
    this.picked = [];
    this.pick = labelled("", "compare two rows", () => {
      const on = this.table.classList.toggle("picking");
      this.pick.setAttribute("aria-pressed", String(on));
      for (const row of this.rows) if (on) row.tabIndex = 0; else row.removeAttribute("tabindex");
      if (!on) {
        this.picked = [];
        this.compare();
      }
    });
    this.pick.setAttribute("aria-pressed", "false");
    const choose = (event) => {
      const row = event.target.closest("tr");
      if (!this.table.classList.contains("picking") || !row || (event.key && event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      this.picked = this.picked.includes(row) ? this.picked.filter((one) => one !== row) : [...this.picked.slice(-1), row];
      this.compare();
    };
    this.body.addEventListener("click", choose);
    this.body.addEventListener("keydown", choose);
    return this.pick;
  }

  // Lays the two rows side by side, and says what the second one has of the first where both have numbers.
  compare() {
    for (const row of this.rows) row.classList.toggle("picked", this.picked.includes(row));
    if (this.beside) this.beside.remove();
    this.beside = null;
    const two = this.picked.length === 2;
    this.keep("rows", two ? this.picked.map((row) => this.rows.indexOf(row)).join(",") : "");
    if (!two) return;
    const line = (words, kind) => {
      const row = document.createElement("tr");
      row.append(...words.map((word, i) => {
        const cell = document.createElement(i ? kind : "th");
        if (i) cell.className = "number";
        cell.textContent = word;
        return cell;
      }));
      return row;
    };
    const panel = document.createElement("table");
    panel.className = "beside";
    panel.createCaption().textContent = "Two rows side by side";
    panel.createTHead().append(line(["", "first", "second", "second / first"], "th"));
    const body = panel.createTBody();
    this.names.forEach((name, column) => {
      const cells = this.picked.map((row) => row.cells[column]);
      const [a, b] = cells.map((cell) => cell ? cell.textContent.trim() : "");
      if (!a && !b) return;
      const [x, y] = cells.map(valueOf);
      const plain = (text) => /^-?[\d.]+(e-?\d+)?$/.test(text);
      const ratio = plain(a) && plain(b) && x ? parseFloat((y / x).toPrecision(3)) + "x" : "";
      const row = line([name, a, b, ratio], "td");
      row.classList.toggle("differs", a !== b);
      body.append(row);
    });
    this.beside = document.createElement("div");
    this.beside.className = "wide";
    this.beside.append(panel);
    this.controls.after(this.beside);
  }
}

function tables() {
  const values = state.read();
  document.querySelectorAll("table").forEach((table, number) => new Rows(table, number).restore(values));
}
