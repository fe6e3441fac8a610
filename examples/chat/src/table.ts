// A table with pages, a sort by its headings and one filter.
import { button, element } from "./dom";
import { cellText, grouped } from "./format";
import { operators, type Cell, type Column, type Page, type Query, type Rows } from "./rows";

const pageSizes = [10, 25, 100];

export class TableView {
  readonly root: HTMLElement;
  private readonly query: Query = { offset: 0, limit: pageSizes[0], sort: null, filter: null };
  private readonly head = element("thead");
  private readonly body = element("tbody");
  private readonly scroll: HTMLElement;
  private readonly range = element("span", { class: "range", "aria-live": "polite" });
  private readonly note = element("p", { class: "note", hidden: "" });
  private readonly column = element("select", { "aria-label": "Column to filter by" });
  private readonly op = element("select", { "aria-label": "Comparison" });
  private readonly steps: HTMLButtonElement[];
  private readonly numeric = new Set<string>();
  private asked = 0;
  private matched = 0;

  constructor(
    private readonly rows: Rows,
    name: string,
  ) {
    const table = element("table", { class: "grid", "aria-label": name }, this.head, this.body);
    this.scroll = element(
      "div",
      { class: "grid-scroll", tabindex: "0", role: "region", "aria-label": `${name}, scrollable` },
      table,
    );
    this.steps = [
      this.step("First page", "«", () => 0),
      this.step("Previous page", "‹", () => this.query.offset - this.query.limit),
      this.step("Next page", "›", () => this.query.offset + this.query.limit),
      this.step("Last page", "»", () => this.lastOffset()),
    ];
    this.root = element("div", { class: "table" }, this.filterBar(), this.scroll, this.pager(), this.note);
    void this.load();
  }

  private step(label: string, sign: string, to: () => number): HTMLButtonElement {
    return button(sign, { class: "quiet step", "aria-label": label, title: label }, () => {
      this.query.offset = Math.max(0, Math.min(to(), this.lastOffset()));
      void this.load();
    });
  }

  private lastOffset(): number {
    return Math.max(0, Math.floor((this.matched - 1) / this.query.limit) * this.query.limit);
  }

  private filterBar(): HTMLElement {
    const op = this.op;
    for (const [value, sign] of operators) op.append(element("option", { value }, sign));
    const value = element("input", { type: "search", placeholder: "Filter…", "aria-label": "Value to filter by" });
    const apply = () => {
      const wanted = value.value.trim();
      this.query.filter = wanted ? { column: this.column.value, op: op.value, value: wanted } : null;
      this.query.offset = 0;
      void this.load();
    };
    this.column.addEventListener("change", () => this.suggestOperator());
    for (const field of [op, this.column]) field.addEventListener("change", () => value.value && apply());
    value.addEventListener("change", apply);
    value.addEventListener("search", apply);
    const form = element("form", { class: "filter", role: "search" }, this.column, op, value);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      apply();
    });
    return form;
  }

  // Numbers contain nothing, texts are rarely known whole.
  private suggestOperator(): void {
    this.op.value = this.numeric.has(this.column.value) ? "eq" : "contains";
  }

  private pager(): HTMLElement {
    const size = element("select", { "aria-label": "Rows a page" });
    for (const count of pageSizes) size.append(element("option", { value: String(count) }, `${count} rows`));
    size.addEventListener("change", () => {
      this.query.limit = Number(size.value);
      this.query.offset = Math.floor(this.query.offset / this.query.limit) * this.query.limit;
      void this.load();
    });
    const [first, previous, next, last] = this.steps;
    return element("div", { class: "pager" }, first, previous, this.range, next, last, size);
  }

  private async load(): Promise<void> {
    const mine = ++this.asked;
    this.root.setAttribute("aria-busy", "true");
    try {
      const page = await this.rows.page(this.query);
      if (mine === this.asked) this.show(page);
    } catch (error) {
      if (mine === this.asked) this.tell(`The rows could not be read: ${(error as Error).message}`);
    }
    if (mine === this.asked) this.root.removeAttribute("aria-busy");
  }

  private tell(note: string | undefined): void {
    this.note.hidden = !note;
    this.note.textContent = note ?? "";
  }

  private show(page: Page): void {
    this.matched = page.matched;
    for (const [i, { name, type }] of page.columns.entries()) {
      const counts = /^(u?int|float|double|decimal|number)/i.test(type);
      if (counts || page.rows.some((row) => typeof row[i] === "number")) this.numeric.add(name);
    }
    this.headings(page.columns);
    this.body.replaceChildren(
      ...page.rows.map((row) => element("tr", {}, ...row.map((cell, i) => this.cell(cell, page.columns[i])))),
    );
    const first = page.rows.length ? this.query.offset + 1 : 0;
    const last = this.query.offset + page.rows.length;
    const filtered = page.matched === page.total ? "" : ` (${grouped(page.total)} in all)`;
    this.range.textContent = `${grouped(first)}–${grouped(last)} of ${grouped(page.matched)}${filtered}`;
    const atStart = this.query.offset === 0;
    const atEnd = last >= page.matched;
    this.steps.forEach((step, i) => (step.disabled = i < 2 ? atStart : atEnd));
    this.tell(page.note);
  }

  private headings(columns: Column[]): void {
    if (this.column.options.length === 0) {
      for (const { name } of columns) this.column.append(element("option", {}, name));
      this.suggestOperator();
    }
    const focused = this.head.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset.column
      : undefined;
    const cells = columns.map((column) => this.heading(column));
    this.head.replaceChildren(element("tr", {}, ...cells));
    if (focused === undefined) return;
    for (const heading of this.head.querySelectorAll("button")) {
      if (heading.dataset.column === focused) heading.focus();
    }
  }

  private heading(column: Column): HTMLElement {
    const { sort } = this.query;
    const sorted = sort?.column === column.name ? (sort.descending ? "descending" : "ascending") : "none";
    const name = button("", { class: "heading", title: `Sort by ${column.name}` }, () => this.sortBy(column.name));
    name.dataset.column = column.name;
    name.append(
      element("span", { class: "heading-name" }, column.name || "index"),
      element("span", { class: "heading-type" }, column.type),
    );
    const aligned: Record<string, string> = this.numeric.has(column.name) ? { class: "number" } : {};
    return element("th", { scope: "col", "aria-sort": sorted, ...aligned }, name);
  }

  // Ascending, descending, as it was.
  private sortBy(column: string): void {
    const { sort } = this.query;
    if (sort?.column !== column) this.query.sort = { column, descending: false };
    else this.query.sort = sort.descending ? null : { column, descending: true };
    this.query.offset = 0;
    void this.load();
  }

  private cell(value: Cell, column: Column | undefined): HTMLElement {
    if (value === null || value === undefined) return element("td", { class: "missing" }, "—");
    const text = cellText(value);
    const number = this.numeric.has(column?.name ?? "");
    const full = typeof value === "object" ? JSON.stringify(value) : String(value);
    return element("td", { ...(number && { class: "number" }), ...(full !== text && { title: full }) }, text);
  }
}
