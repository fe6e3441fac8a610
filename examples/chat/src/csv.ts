// CSV of the gateway (RFC 4180) as columns and rows.
import type { Cell, Column } from "./rows";

function* records(text: string): Generator<string[]> {
  let record: string[] = [];
  for (const match of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (match[0] === "" && record.length === 0) return;
    record.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2]);
    if (match[3] === ",") continue;
    yield record;
    record = [];
  }
}

export function parseCsv(text: string): { columns: Column[]; rows: Cell[][] } {
  const [names = [], ...lines] = [...records(text)];
  const isNumber = names.map((_, i) =>
    lines.every((line) => line[i] === "" || line[i] === undefined || Number.isFinite(Number(line[i]))),
  );
  const columns = names.map((name, i) => ({ name, type: isNumber[i] ? "number" : "text" }));
  const value = (text: string | undefined, i: number): Cell =>
    text === undefined || text === "" ? null : isNumber[i] ? Number(text) : text;
  return { columns, rows: lines.map((line) => names.map((_, i) => value(line[i], i))) };
}
