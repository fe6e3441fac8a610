// Pages of a table: from the gateway, or of what is at hand (a preview, a chart's data).
import { GatewayError, type Gateway } from "./gateway";
import type { Artifact } from "./lines";

export interface Column {
  name: string;
  type: string;
}

export type Cell = string | number | boolean | null | object;

export interface Query {
  offset: number;
  limit: number;
  sort: { column: string; descending: boolean } | null;
  filter: { column: string; op: string; value: string } | null;
}

export interface Page {
  total: number;
  matched: number;
  columns: Column[];
  rows: Cell[][];
  note?: string;
}

export interface Rows {
  page(query: Query): Promise<Page>;
}

// What both the gateway and a local page understand.
export const operators = [
  ["contains", "contains"],
  ["eq", "="],
  ["ne", "≠"],
  ["lt", "<"],
  ["le", "≤"],
  ["gt", ">"],
  ["ge", "≥"],
] as const;

function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

function fits(cell: Cell, op: string, value: string): boolean {
  if (cell === null) return false;
  if (op === "contains") return String(cell).toLowerCase().includes(value.toLowerCase());
  const wanted = typeof cell === "number" ? Number(value) : value;
  const order = compare(cell, wanted);
  const truths: Record<string, boolean> = {
    eq: order === 0, ne: order !== 0, lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0,
  };
  return truths[op] ?? false;
}

export class LocalRows implements Rows {
  constructor(
    private readonly columns: Column[],
    private readonly rows: Cell[][],
    private readonly note?: string,
  ) {}

  async page({ offset, limit, sort, filter }: Query): Promise<Page> {
    const indexOf = (name: string) => this.columns.findIndex((column) => column.name === name);
    let rows = this.rows;
    if (filter) {
      const at = indexOf(filter.column);
      rows = rows.filter((row) => fits(row[at], filter.op, filter.value));
    }
    if (sort) {
      const at = indexOf(sort.column);
      const sign = sort.descending ? -1 : 1;
      // Missing values come last, whichever way.
      rows = [...rows].sort((a, b) =>
        a[at] === null || b[at] === null
          ? Number(a[at] === null) - Number(b[at] === null)
          : sign * compare(a[at], b[at]),
      );
    }
    return {
      total: this.rows.length,
      matched: rows.length,
      columns: this.columns,
      rows: rows.slice(offset, offset + limit),
      note: this.note,
    };
  }
}

interface TableSummary {
  rows?: number | null;
  schema?: { name: string; dtype?: string; kind?: string }[];
  preview?: Cell[][];
}

export function previewRows(artifact: Artifact): LocalRows {
  const { rows, schema = [], preview = [] } = artifact.preview as TableSummary;
  const columns = schema.map(({ name, dtype, kind }) => ({ name, type: dtype ?? kind ?? "" }));
  const all = typeof rows === "number" && rows === preview.length;
  return new LocalRows(columns, preview, all ? undefined : "Preview: the first and the last rows");
}

// The whole table on the gateway; its preview when the gateway cannot page through it.
export class ArtifactRows implements Rows {
  private preview: LocalRows | null = null;

  constructor(
    private readonly gateway: Gateway,
    private readonly artifact: Artifact,
  ) {}

  async page(query: Query): Promise<Page> {
    if (this.preview) return this.preview.page(query);
    const asked = new URLSearchParams({ offset: String(query.offset), limit: String(query.limit) });
    const { sort, filter } = query;
    if (sort) asked.set("sort", (sort.descending ? "-" : "") + sort.column);
    if (filter) asked.set("filter", `${filter.column}:${filter.op}:${filter.value}`);
    try {
      return await this.gateway.json<Page>(`${this.artifact.url}/rows?${asked}`);
    } catch (error) {
      const cannot = error instanceof GatewayError && [404, 415, 501].includes(error.status);
      if (!cannot) throw error;
      this.preview = previewRows(this.artifact);
      return this.preview.page(query);
    }
  }
}
