// The lines of POST /execute, and the artifacts that they name.

export interface Artifact {
  id: string;
  kind: "table" | "image" | "chart" | "html" | "text" | "file";
  mime: string;
  name: string;
  size: number;
  url: string;
  preview: Record<string, unknown>;
}

// The fields of a display: what E2B's results have.
export interface Display {
  text?: string;
  html?: string;
  markdown?: string;
  svg?: string;
  png?: string;
  jpeg?: string;
  latex?: string;
  json?: unknown;
  chart?: { type: string; title?: string | null };
  data?: Record<string, unknown[]>;
  extra?: Record<string, unknown>;
}

export type Line =
  | { type: "number_of_executions"; execution_count: number }
  | { type: "stdout" | "stderr"; text: string }
  | ({ type: "result"; is_main_result: boolean } & Display)
  | ({ type: "display_update"; display_id: string } & Display)
  | { type: "display_id"; display_id: string }
  | { type: "clear_output"; wait: boolean }
  | { type: "error"; name: string; value: string; traceback: string }
  | ({ type: "artifact" } & Artifact)
  | { type: "truncated"; total_bytes: number; inline_bytes: number; artifact_id?: string; field?: string }
  | { type: "dropped"; reason: string }
  | { type: "keepalive" | "end_of_execution" };

// One object a line, as they arrive; a chunk may end anywhere.
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const reader = body.pipeThrough(new TextDecoderStream() as never as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part.trim()) yield JSON.parse(part) as Line;
  }
  if (rest.trim()) yield JSON.parse(rest) as Line;
}
