// Markup of a guest (HTML, SVG, Markdown) in a frame that has no origin and runs nothing of it.
import { element } from "./dom";
import { isDark, onTheme } from "./theme";
import type { Markup } from "./frame";

const maxHeightPx = 640;

export function sandboxed(html: string, title: string): HTMLElement {
  const frame = element("iframe", {
    class: "frame",
    sandbox: "allow-scripts",
    src: "frame.html",
    title,
    referrerpolicy: "no-referrer",
  });
  const send = () => {
    const markup: Markup = { html, dark: isDark() };
    // A document without an origin can only be addressed as "*"; the window is the frame's own.
    frame.contentWindow?.postMessage(markup, "*");
  };
  const listen = (event: MessageEvent<{ ready?: boolean; height?: number }>) => {
    if (!frame.isConnected && frame.contentWindow === null) return;
    if (event.source !== frame.contentWindow) return;
    if (event.data.ready) send();
    const height = event.data.height;
    if (typeof height === "number" && Number.isFinite(height)) {
      frame.style.height = `${Math.min(Math.max(Math.ceil(height), 16), maxHeightPx)}px`;
    }
  };
  addEventListener("message", listen);
  onTheme(() => frame.isConnected && send());
  return frame;
}
