// Vega-Lite drawn under the page's policy: expressions are interpreted, never compiled with eval,
// and no style element is made. A chunk of its own, loaded with the first chart.
import embed, { type Config, type VisualizationSpec } from "vega-embed";
import { expressionInterpreter } from "vega-interpreter";

export type Spec = Record<string, unknown>;
export type Drawn = { finalize(): void; toImageURL(type: "svg" | "png", scale?: number): Promise<string> };

const sizes = { labelFontSize: 12, titleFontSize: 12.5 };

function config(dark: boolean): Config {
  const text = dark ? "#e6e7ee" : "#1c1e26";
  const muted = dark ? "#9b9fb0" : "#646878";
  const line = dark ? "#32353f" : "#e3e4ea";
  const font = "system-ui, 'Segoe UI', 'Helvetica Neue', sans-serif";
  return {
    background: "transparent",
    font,
    view: { stroke: "transparent" },
    title: { color: text, fontSize: 15, fontWeight: 600, anchor: "start", offset: 14 },
    axis: {
      ...sizes,
      labelColor: muted,
      titleColor: muted,
      titleFontWeight: 500,
      domainColor: line,
      gridColor: line,
      tickColor: line,
      titlePadding: 10,
      labelLimit: 160,
    },
    // Fewer ticks than Vega-Lite's one every 40 pixels.
    axisX: { tickCount: 8 },
    axisY: { tickCount: 6 },
    legend: { ...sizes, labelColor: text, titleColor: muted, titleFontWeight: 500 },
    header: { labelColor: text, titleColor: text },
    text: { color: text },
    rule: { color: muted },
    mark: { tooltip: true },
  } as Config;
}

// A single panel takes the width that there is; a grid of panels is scaled as a whole (CSS).
function fitted(spec: Spec, width: number): Spec {
  const one = typeof spec.width === "number" && (Array.isArray(spec.layer) || "mark" in spec);
  const square = spec.width === spec.height;
  if (!one || square) return spec;
  return { ...spec, width, autosize: { type: "fit-x", contains: "padding" } };
}

// Charts carry their data; whatever else they would load is refused.
const loader = {
  load: () => Promise.reject(new Error("charts load nothing")),
  sanitize: () => Promise.reject(new Error("charts link nowhere")),
  http: () => Promise.reject(new Error("charts load nothing")),
  file: () => Promise.reject(new Error("charts load nothing")),
};

export async function draw(into: HTMLElement, spec: Spec, dark: boolean): Promise<Drawn> {
  // Of whichever version it says it is: the two differ in nothing that the gateway writes.
  const { $schema: _, ...rest } = spec;
  const { config: own = {}, ...body } = fitted(rest, into.clientWidth || 640);
  const result = await embed(into, { ...body, config: own } as VisualizationSpec, {
    mode: "vega-lite",
    ast: true,
    expr: expressionInterpreter,
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    tooltip: { theme: dark ? "dark" : "light", disableDefaultStyle: true },
    config: config(dark),
    loader: loader as never,
  });
  return { finalize: () => result.finalize(), toImageURL: (type, scale) => result.view.toImageURL(type, scale) };
}
