// The page: one cell runs at a time, in the sandbox of this tab.
import { CellView } from "./cell";
import { button, byId, element } from "./dom";
import { Editor } from "./editor";
import { Gateway, GatewayError } from "./gateway";
import { samples } from "./samples";
import { startTheme } from "./theme";
import { TokenDialog } from "./token";

const gateway = new Gateway();
const dialog = new TokenDialog(gateway);
const cells = byId("cells");
const status = byId("status");
const runButton = byId<HTMLButtonElement>("run");
const stopButton = byId<HTMLButtonElement>("stop");
const editor = new Editor(byId<HTMLTextAreaElement>("code"), byId("shadow"), () => void run());
let running: AbortController | null = null;

startTheme(byId<HTMLButtonElement>("theme"));

function setRunning(controller: AbortController | null): void {
  running = controller;
  runButton.hidden = controller !== null;
  stopButton.hidden = controller === null;
  document.body.classList.toggle("busy", controller !== null);
}

// What is new stays in sight, unless the reader has scrolled up to something.
function following(): boolean {
  const page = document.scrollingElement!;
  return page.scrollHeight - page.scrollTop - page.clientHeight < 160;
}
function follow(): void {
  document.scrollingElement!.scrollTop = document.scrollingElement!.scrollHeight;
}
let wasFollowing = true;
addEventListener("scroll", () => (wasFollowing = following()), { passive: true });
new ResizeObserver(() => wasFollowing && follow()).observe(cells);

function reuse(code: string): void {
  editor.code = code;
  editor.focus();
}

async function run(): Promise<void> {
  if (running || !editor.code.trim()) return;
  if (!gateway.token && !(await dialog.ask())) return;
  byId("welcome").hidden = true;
  const cell = new CellView(gateway, editor.take(), reuse);
  cells.append(cell.root);
  wasFollowing = true;
  follow();
  const controller = new AbortController();
  setRunning(controller);
  status.textContent = "The cell is running";
  const started = performance.now();
  try {
    for await (const line of gateway.execute(cell.code, controller.signal)) cell.take(line);
  } catch (error) {
    if (controller.signal.aborted) cell.showError("Stopped", "you stopped this cell", "");
    else fail(cell, error as Error);
  }
  setRunning(null);
  status.textContent = cell.finish((performance.now() - started) / 1000);
}

function fail(cell: CellView, error: Error): void {
  const refused = error instanceof GatewayError && error.status === 401;
  cell.showError(refused ? "The token is wrong" : "The gateway did not answer", error.message, "");
  if (!refused) return;
  reuse(cell.code);
  void dialog.ask("The gateway did not take this token.");
}

function stop(): void {
  running?.abort();
}

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  void run();
});
stopButton.addEventListener("click", stop);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && running && !document.querySelector("dialog[open]")) stop();
});

// --- files ------------------------------------------------------------------------------------

const picker = byId<HTMLInputElement>("file");

async function upload(files: Iterable<File>): Promise<void> {
  if (!gateway.token && !(await dialog.ask())) return;
  for (const file of files) {
    status.textContent = `Adding ${file.name}`;
    try {
      const name = await gateway.upload(file);
      const read = /\.csv$/i.test(name) ? `import pandas as pd\n\npd.read_csv(${JSON.stringify(name)})` : `open(${JSON.stringify(name)})`;
      if (!editor.code.trim()) reuse(read);
      status.textContent = `${name} is in the sandbox`;
    } catch (error) {
      status.textContent = `${file.name} was not added: ${(error as Error).message}`;
    }
  }
}
byId("attach").addEventListener("click", () => picker.click());
picker.addEventListener("change", () => {
  void upload([...(picker.files ?? [])]);
  picker.value = "";
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  void upload([...(event.dataTransfer?.files ?? [])]);
});

// --- sandbox, samples --------------------------------------------------------------------------

gateway.onSandbox = (id) => {
  byId("sandbox").textContent = id ? `sandbox ${id.slice(0, 8)}` : "";
};
gateway.onSandbox(gateway.sandbox);
byId("fresh").addEventListener("click", () => {
  stop();
  void gateway.forget().catch(() => undefined);
  cells.querySelectorAll(".cell").forEach((cell) => cell.classList.add("past"));
  status.textContent = "The next cell runs in a new sandbox";
});
byId("token-open").addEventListener("click", () => void dialog.ask());

for (const { title, code } of samples) {
  byId("samples").append(element("li", {}, button(title, { class: "sample" }, () => reuse(code))));
}
editor.focus();
if (!gateway.token) void dialog.ask();
