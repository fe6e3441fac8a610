// One cell of the conversation: the code, and below it what the code says and shows, as it comes.
import { colored, plain } from "./ansi";
import { button, element } from "./dom";
import { DisplayView, fileLink } from "./display";
import { counted } from "./format";
import type { Gateway } from "./gateway";
import { highlighted } from "./highlight";
import type { Artifact, Line } from "./lines";
import { StreamView } from "./stream";

export class CellView {
  readonly root: HTMLElement;
  private readonly output = element("div", { class: "output" });
  private readonly badge = element("span", { class: "badge" }, "…");
  private readonly time = element("span", { class: "time" });
  private stream: { kind: string; view: StreamView } | null = null;
  private display: DisplayView | null = null;
  private readonly displays: DisplayView[] = [];
  private readonly byId = new Map<string, DisplayView>();
  private readonly files = element("ul", { class: "files", "aria-label": "Files" });
  private readonly seen = { table: 0, chart: 0, image: 0, file: 0 };
  private failed = "";
  private clearNext = false;

  constructor(
    private readonly gateway: Gateway,
    readonly code: string,
    reuse: (code: string) => void,
  ) {
    const shown = element("pre", { class: "code given", tabindex: "0" });
    shown.append(...highlighted(code.replace(/^\n+|\s+$/g, "")));
    const again = button("Edit", { class: "quiet small", title: "Put this code into the field" }, () => reuse(code));
    const side = element("div", { class: "cell-side" }, this.badge, this.time, again);
    this.root = element("article", { class: "cell running", "aria-label": "Cell", "aria-busy": "true" });
    this.root.append(element("div", { class: "asked" }, shown, side), this.output);
  }

  take(line: Line): void {
    switch (line.type) {
      case "number_of_executions":
        this.badge.textContent = `[${line.execution_count}]`;
        this.root.setAttribute("aria-label", `Cell ${line.execution_count}`);
        break;
      case "stdout":
      case "stderr":
        this.clearIfDue();
        this.print(line.type, line.text);
        break;
      case "result":
        this.clearIfDue();
        this.display = new DisplayView(this.gateway);
        this.displays.push(this.display);
        this.display.show(line);
        this.append(this.display.root);
        break;
      case "display_id":
        if (this.display) this.byId.set(line.display_id, this.display);
        break;
      case "display_update": {
        const updated = this.byId.get(line.display_id);
        updated?.show(line);
        this.display = updated ?? null;
        break;
      }
      case "clear_output":
        if (line.wait) this.clearNext = true;
        else this.clear();
        break;
      case "artifact":
        if (line.kind in this.seen) this.seen[line.kind as keyof typeof this.seen]++;
        if (!this.display?.take(line)) this.addFile(line);
        break;
      case "error":
        this.showError(line.name, line.value, line.traceback);
        break;
      case "truncated":
        this.note(`Shown: ${counted(line.inline_bytes, "byte")} of ${counted(line.total_bytes, "byte")}.`);
        break;
      case "dropped":
        this.note(`Something was left out: ${line.reason}`);
        break;
    }
  }

  private append(child: HTMLElement): void {
    this.stream = null;
    this.output.append(child);
  }

  private print(kind: "stdout" | "stderr", text: string): void {
    if (this.stream?.kind !== kind) {
      const view = new StreamView(kind);
      this.append(view.root);
      this.stream = { kind, view };
    }
    this.stream.view.write(text);
  }

  private clear(): void {
    this.output.replaceChildren();
    this.stream = null;
    this.clearNext = false;
  }
  private clearIfDue(): void {
    if (this.clearNext) this.clear();
  }

  // What the cell wrote, and output that is too long to show: last, to be fetched.
  private addFile(artifact: Artifact): void {
    this.files.append(element("li", {}, fileLink(this.gateway, artifact)));
    this.append(this.files);
  }

  private note(text: string): void {
    this.append(element("p", { class: "note" }, text));
  }

  showError(name: string, value: string, traceback: string): void {
    this.failed = name;
    const box = element("div", { class: "error", role: "group", "aria-label": `Error: ${name}` });
    box.append(element("p", { class: "error-title" }, element("strong", {}, name), value ? `: ${value}` : ""));
    if (traceback.trim()) {
      const frames = element("pre", { class: "traceback", tabindex: "0" });
      frames.append(...colored(traceback, plain()));
      const details = element("details", { open: "" }, element("summary", {}, "Traceback"), frames);
      box.append(details);
    }
    this.append(box);
  }

  // In a few words, for the status that screen readers announce.
  finish(seconds: number): string {
    for (const display of this.displays) display.finish();
    this.root.classList.remove("running");
    this.root.classList.toggle("failed", this.failed !== "");
    this.root.removeAttribute("aria-busy");
    this.time.textContent = seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
    if (!this.output.hasChildNodes()) this.append(element("p", { class: "note" }, "No output."));
    if (this.failed) return `The cell failed: ${this.failed}`;
    const parts = Object.entries(this.seen)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => counted(count, kind));
    return `The cell is done${parts.length ? `: ${parts.join(", ")}` : ""}`;
  }
}
