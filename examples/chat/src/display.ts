// One display of a cell: the richest form of it that this page can show. An update replaces it.
import { marked } from "marked";
import { ChartView } from "./chart";
import { button, element } from "./dom";
import { counted, fileSize } from "./format";
import type { Gateway } from "./gateway";
import type { Artifact, Display } from "./lines";
import { ArtifactRows, LocalRows, type Cell } from "./rows";
import { sandboxed } from "./sandboxed";
import { TableView } from "./table";

export class DisplayView {
  readonly root = element("div", { class: "display" });
  private display: Display = {};
  private picture: HTMLImageElement | null = null;
  private hasTable = false;

  constructor(private readonly gateway: Gateway) {}

  show(display: Display): void {
    this.display = display;
    this.picture = null;
    this.hasTable = false;
    this.root.replaceChildren(...this.forms());
  }

  // Tables and charts come as artifacts, just after the display itself.
  private forms(): HTMLElement[] {
    const { png, jpeg, svg, html, markdown, latex, text, json, chart, data } = this.display;
    if (png || jpeg) {
      this.picture = element("img", {
        class: "picture",
        src: png ? `data:image/png;base64,${png}` : `data:image/jpeg;base64,${jpeg}`,
        alt: chart?.title || "Picture that the cell showed",
      });
      return [this.picture];
    }
    if (chart || data) return [element("div", { class: "placeholder", "aria-hidden": "true" })];
    if (svg) return [sandboxed(svg, "Drawing that the cell showed")];
    if (html) return [sandboxed(html, "Page that the cell showed")];
    if (markdown) return [sandboxed(marked.parse(markdown, { async: false }), "Text that the cell showed")];
    const plain = latex ?? text ?? (json === undefined ? "" : JSON.stringify(json, null, 2));
    return plain ? [element("pre", { class: "value" }, plain)] : [];
  }

  // Whether the artifact belongs to this display: files that the cell wrote come behind the last,
  // and so does the full data of a chart.
  take(artifact: Artifact): boolean {
    if (artifact.kind === "chart") {
      this.root.replaceChildren(new ChartView(this.gateway, artifact, this.picture).root);
    } else if (artifact.kind === "table" && artifact.preview.of !== "chart") {
      this.hasTable = true;
      this.root.replaceChildren(this.table(artifact));
    } else if (artifact.kind === "image" && this.picture && !this.picture.dataset.artifact) {
      this.picture.dataset.artifact = artifact.id;
      if (typeof artifact.preview.alt === "string") this.picture.alt = artifact.preview.alt;
    } else {
      return artifact.kind === "html" || (artifact.kind === "image" && artifact.mime === "image/svg+xml");
    }
    return true;
  }

  // The execution's end: what came without the artifact that should have shown it.
  finish(): void {
    const waiting = this.root.querySelector(".placeholder");
    if (!waiting || this.hasTable) return;
    const { data, text } = this.display;
    waiting.replaceWith(data ? localTable(data) : element("pre", { class: "value" }, text ?? ""));
  }

  private table(artifact: Artifact): HTMLElement {
    const { rows, columns, type, library } = artifact.preview;
    const shape =
      typeof rows === "number"
        ? `${counted(rows, "row")} × ${counted(Number(columns), "column")}`
        : counted(Number(columns), "column");
    const kind = [library, type].filter(Boolean).join(" ");
    const save = (label: string, ending: string) =>
      button(label, { class: "quiet", title: `Save as ${label}` }, () => {
        const name = artifact.name.replace(/\.\w+$/, ending || "$&");
        void this.gateway.download(artifact.url + ending, name || artifact.name);
      });
    const title = element("div", { class: "display-title" }, element("span", {}, shape), element("span", { class: "muted" }, kind));
    title.append(element("span", { class: "spacer" }), save("CSV", ".csv"), save("Excel", ".xlsx"));
    const view = new TableView(new ArtifactRows(this.gateway, artifact), `${kind}, ${shape}`);
    return element("div", {}, title, view.root);
  }
}

export function fileLink(gateway: Gateway, artifact: Artifact): HTMLElement {
  const link = button("", { class: "file" }, () => void gateway.download(artifact.url, artifact.name));
  link.append(
    element("span", { class: "file-name" }, artifact.name),
    element("span", { class: "muted" }, fileSize(artifact.size)),
  );
  return link;
}

function localTable(data: Record<string, unknown[]>): HTMLElement {
  const columns = Object.keys(data).map((name) => ({ name, type: "" }));
  const count = Math.max(0, ...Object.values(data).map((column) => column.length));
  const rows = Array.from({ length: count }, (_, i) => columns.map(({ name }) => (data[name][i] ?? null) as Cell));
  return new TableView(new LocalRows(columns, rows), "Table").root;
}
