// A chart: interactive, as a picture, as rows, in words.
import { parseCsv } from "./csv";
import { element } from "./dom";
import type { Gateway } from "./gateway";
import type { Artifact } from "./lines";
import { LocalRows } from "./rows";
import { sandboxed } from "./sandboxed";
import { TableView } from "./table";
import { Tabs } from "./tabs";
import { isDark, onTheme } from "./theme";
import type { Drawn, Spec } from "./vega";

export class ChartView {
  readonly root: HTMLElement;
  private readonly tabs: Tabs;
  private readonly title: string;
  private readonly canvas = element("div", { class: "chart-canvas" });
  private spec: Spec | null = null;
  private drawn: Drawn | null = null;
  private drawing: Promise<void> = Promise.resolve();

  // `picture`: the library's own drawing, where there is one.
  constructor(
    private readonly gateway: Gateway,
    private readonly artifact: Artifact,
    picture: HTMLElement | null,
  ) {
    this.title = String(artifact.preview.title || "Chart");
    this.tabs = new Tabs(this.title);
    this.tabs.add({ id: "chart", label: "Chart", content: () => this.canvas });
    this.tabs.add({ id: "picture", label: "Picture", content: () => picture ?? this.svg() });
    this.tabs.add({ id: "data", label: "Data", content: () => this.data() });
    this.tabs.add({ id: "words", label: "In words", content: () => this.words() });
    this.root = element("figure", { class: "chart", "aria-label": this.title }, this.tabs.root);
    onTheme(() => void this.redraw());
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    void this.load();
  }

  private view(format: string, options = ""): Promise<string> {
    return this.gateway.text(`${this.artifact.url}/chart?format=${format}${options}`);
  }

  private async load(): Promise<void> {
    try {
      this.spec = JSON.parse(await this.view("vega-lite")) as Spec;
    } catch (error) {
      this.canvas.textContent = `The chart could not be read: ${(error as Error).message}`;
      return;
    }
    const meta = this.spec.usermeta as { panels_not_drawn?: number } | undefined;
    if (meta?.panels_not_drawn) this.tabs.show("picture");
    await this.redraw();
  }

  private width = 0;
  private resized(): void {
    if (!this.canvas.isConnected || Math.abs(this.canvas.clientWidth - this.width) < 8) return;
    void this.redraw();
  }

  // One drawing after the other: the last one's size and colours stay.
  private redraw(): Promise<void> {
    this.drawing = this.drawing.then(() => this.draw());
    return this.drawing;
  }

  private async draw(): Promise<void> {
    if (!this.spec || this.canvas.clientWidth === 0) return;
    const { draw } = await import("./vega");
    this.width = this.canvas.clientWidth;
    this.drawn?.finalize();
    try {
      this.drawn = await draw(this.canvas, this.spec, isDark());
      this.root.dataset.drawn = "true";
    } catch (error) {
      this.canvas.textContent = `The chart could not be drawn: ${(error as Error).message}`;
      this.root.dataset.drawn = "failed";
    }
  }

  private svg(): HTMLElement {
    const place = element("div", { class: "picture" });
    const load = async () => {
      const theme = isDark() ? "dark" : "light";
      place.replaceChildren(sandboxed(await this.view("svg", `&theme=${theme}`), this.title));
    };
    void load();
    onTheme(() => place.isConnected && void load());
    return place;
  }

  private data(): HTMLElement {
    const place = element("div");
    void this.view("csv").then((text) => {
      const { columns, rows } = parseCsv(text);
      place.append(new TableView(new LocalRows(columns, rows), `Data of ${this.title}`).root);
    });
    return place;
  }

  private words(): HTMLElement {
    return element("p", { class: "words" }, String(this.artifact.preview.description ?? ""));
  }
}
