// Terminal colours (SGR) as spans; every other escape sequence is left out.
import { element } from "./dom";

export interface Style {
  color: number | null; // 0-15 of the terminal's palette; others are not told apart
  bold: boolean;
}

export const plain = (): Style => ({ color: null, bold: false });

// ESC [ … letter, ESC ] … BEL, and what is left of either.
const escape = /\x1b\[([0-9;:?]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]?/g;

// 38;5;N and 38;2;R;G;B take more numbers; only N below 16 has a name here.
function applyCodes(codes: number[], style: Style): void {
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i];
    if (code === 0) Object.assign(style, plain());
    else if (code === 1) style.bold = true;
    else if (code === 22) style.bold = false;
    else if (code === 39) style.color = null;
    else if (code >= 30 && code <= 37) style.color = code - 30;
    else if (code >= 90 && code <= 97) style.color = code - 82;
    else if (code === 38 || code === 48) {
      const indexed = codes[i + 1] === 5;
      const color = codes[i + 2];
      if (code === 38 && indexed) style.color = color < 16 ? color : null;
      i += indexed ? 2 : 4;
    }
  }
}

// The nodes of a text that begins in `style`, which is left as the text ends.
export function colored(text: string, style: Style): Node[] {
  const nodes: Node[] = [];
  const add = (part: string) => {
    if (!part) return;
    if (style.color === null && !style.bold) return void nodes.push(document.createTextNode(part));
    const names = [style.color === null ? "" : `ansi-${style.color}`, style.bold ? "ansi-bold" : ""];
    nodes.push(element("span", { class: names.filter(Boolean).join(" ") }, part));
  };
  let at = 0;
  for (const match of text.matchAll(escape)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === "m") applyCodes((match[1] || "0").split(/[;:]/).map(Number), style);
  }
  add(text.slice(at));
  return nodes;
}
