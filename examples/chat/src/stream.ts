// What a cell prints, shown as a terminal would: line by line, a carriage return writes over.
import { colored, plain } from "./ansi";
import { element } from "./dom";

// What "\r" and "\b" leave of one line.
export function settled(line: string): string {
  let shown = "";
  for (const part of line.replace(/\r+$/, "").split("\r")) {
    shown = part + shown.slice(part.length);
  }
  while (/[^\x08]\x08/.test(shown)) shown = shown.replace(/[^\x08]\x08/g, "");
  return shown;
}

export class StreamView {
  readonly root: HTMLPreElement;
  private readonly style = plain();
  private current = "";
  private currentNodes: Node[] = [];

  constructor(kind: "stdout" | "stderr") {
    this.root = element("pre", {
      class: `stream ${kind}`,
      tabindex: "0",
      role: "region",
      "aria-label": kind === "stdout" ? "Printed output" : "Warnings and errors printed",
    });
  }

  write(text: string): void {
    const atEnd = this.root.scrollTop + this.root.clientHeight >= this.root.scrollHeight - 4;
    const lines = (this.current + text.replaceAll("\r\n", "\n")).split("\n");
    this.current = lines.pop() ?? "";
    for (const node of this.currentNodes) node.parentNode?.removeChild(node);
    if (lines.length > 0) {
      this.root.append(...colored(lines.map(settled).join("\n") + "\n", this.style));
    }
    // The last line may still be written over: its colours count when it is complete.
    this.currentNodes = colored(settled(this.current), { ...this.style });
    this.root.append(...this.currentNodes);
    if (atEnd) this.root.scrollTop = this.root.scrollHeight;
  }
}
