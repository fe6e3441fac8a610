// Light or dark: the system's wish until the reader says otherwise, then theirs, in this tab.

const key = "cellblock-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners: (() => void)[] = [];

export function isDark(): boolean {
  const chosen = sessionStorage.getItem(key);
  return chosen ? chosen === "dark" : system.matches;
}

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function startTheme(toggle: HTMLButtonElement): void {
  system.addEventListener("change", apply);
  toggle.addEventListener("click", () => {
    sessionStorage.setItem(key, isDark() ? "light" : "dark");
    apply();
  });
  onTheme(() => toggle.setAttribute("aria-pressed", String(isDark())));
  apply();
}
