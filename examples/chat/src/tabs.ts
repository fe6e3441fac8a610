// Tabs as the ARIA practices describe them: arrows move, the chosen one is in the tab order.
import { button, element } from "./dom";

export interface Tab {
  id: string;
  label: string;
  // Called once, when the tab is first shown.
  content: () => HTMLElement;
}

let made = 0;

export class Tabs {
  readonly root = element("div", { class: "tabs" });
  private readonly list = element("div", { class: "tab-list", role: "tablist" });
  private readonly tabs: { id: string; tab: HTMLButtonElement; panel: HTMLElement; fill?: () => HTMLElement }[] = [];
  private readonly prefix = `tabs-${++made}`;

  constructor(name: string) {
    this.list.setAttribute("aria-label", name);
    this.list.addEventListener("keydown", (event) => this.move(event));
    this.root.append(this.list);
  }

  add({ id, label, content }: Tab): void {
    const names = { tab: `${this.prefix}-${id}`, panel: `${this.prefix}-${id}-panel` };
    const tab = button(label, { class: "tab", role: "tab", id: names.tab, "aria-controls": names.panel }, () =>
      this.show(id),
    );
    const panel = element("div", {
      class: `tab-panel ${id}`,
      role: "tabpanel",
      id: names.panel,
      "aria-labelledby": names.tab,
    });
    this.list.append(tab);
    this.root.append(panel);
    this.tabs.push({ id, tab, panel, fill: content });
    if (this.tabs.length === 1) this.show(id);
    else this.mark(tab, panel, false);
    this.list.hidden = this.tabs.length < 2;
  }

  private mark(tab: HTMLElement, panel: HTMLElement, chosen: boolean): void {
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    panel.hidden = !chosen;
  }

  show(id: string): void {
    for (const entry of this.tabs) {
      this.mark(entry.tab, entry.panel, entry.id === id);
      if (entry.id !== id || !entry.fill) continue;
      entry.panel.append(entry.fill());
      entry.fill = undefined;
    }
  }

  private move(event: KeyboardEvent): void {
    const at = this.tabs.findIndex((entry) => entry.tab === event.target);
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const next = this.tabs.at(steps[event.key] % this.tabs.length)!;
    this.show(next.id);
    next.tab.focus();
  }
}
