// The field for code: grows with it, colours it, indents a new line, remembers what was run.
import { highlighted } from "./highlight";

const maxHeightPx = 320;

export class Editor {
  private readonly history: string[] = [];
  private at = 0;

  constructor(
    private readonly field: HTMLTextAreaElement,
    private readonly shadow: HTMLElement,
    run: () => void,
  ) {
    field.addEventListener("input", () => this.refresh());
    field.addEventListener("scroll", () => {
      shadow.scrollTop = field.scrollTop;
      shadow.scrollLeft = field.scrollLeft;
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run();
      } else if (event.key === "Enter" && !event.isComposing) {
        this.newLine(event);
      } else if (event.key === "ArrowUp" && this.canRecall()) {
        this.recall(event, this.at - 1);
      } else if (event.key === "ArrowDown" && this.canRecall()) {
        this.recall(event, this.at + 1);
      }
    });
    this.refresh();
  }

  get code(): string {
    return this.field.value;
  }
  set code(code: string) {
    this.field.value = code;
    this.refresh();
  }

  take(): string {
    const code = this.code;
    this.history.push(code);
    this.at = this.history.length;
    this.code = "";
    return code;
  }

  focus(): void {
    this.field.focus();
    this.field.setSelectionRange(this.code.length, this.code.length);
  }

  private refresh(): void {
    // The last line needs a character, or the overlay is a line shorter than the field.
    this.shadow.replaceChildren(...highlighted(this.code), "\n");
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, maxHeightPx)}px`;
  }

  // As deep as the line before; deeper after a colon.
  private newLine(event: KeyboardEvent): void {
    const { selectionStart: start, value } = this.field;
    const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
    const indent = /^\s*/.exec(line)![0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
    if (!indent) return;
    event.preventDefault();
    // insertText keeps the browser's undo.
    document.execCommand("insertText", false, `\n${indent}`);
  }

  // Only where the arrow would not move within code that is being written.
  private canRecall(): boolean {
    return this.code === "" || this.code === this.history[this.at];
  }

  private recall(event: KeyboardEvent, to: number): void {
    if (to < 0 || to > this.history.length) return;
    event.preventDefault();
    this.at = to;
    this.code = this.history[to] ?? "";
  }
}
