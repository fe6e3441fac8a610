// Python in colours, as spans with the classes tok-keyword, tok-string, …
import { classHighlighter, highlightTree } from "@lezer/highlight";
import { parser } from "@lezer/python";
import { element } from "./dom";

export function highlighted(code: string): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  const plain = (to: number) => {
    if (to > at) nodes.push(document.createTextNode(code.slice(at, to)));
  };
  highlightTree(parser.parse(code), classHighlighter, (from, to, classes) => {
    plain(from);
    nodes.push(element("span", { class: classes }, code.slice(from, to)));
    at = to;
  });
  plain(code.length);
  return nodes;
}
