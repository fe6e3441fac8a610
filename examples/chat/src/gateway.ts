// The gateway's API, as far as this page uses it. The token goes into a header, never an address.
import { readLines, type Line } from "./lines";

export class GatewayError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const tokenKey = "cellblock-token";
const sandboxKey = "cellblock-sandbox";
const sandboxTimeoutS = 3600;

// Errors are {"message"} or plain text, depending on the route's family.
async function messageOf(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const body = JSON.parse(text);
    return body.message ?? body.error ?? text;
  } catch {
    return text || `${answer.status} ${answer.statusText}`;
  }
}

export class Gateway {
  onSandbox: (id: string | null) => void = () => {};

  get token(): string {
    return sessionStorage.getItem(tokenKey) ?? "";
  }
  set token(token: string) {
    sessionStorage.setItem(tokenKey, token);
  }
  get sandbox(): string | null {
    return sessionStorage.getItem(sandboxKey);
  }

  async request(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    headers.set("Authorization", `Bearer ${this.token}`);
    const answer = await fetch(path, { ...options, headers, cache: "no-store" });
    if (!answer.ok) throw new GatewayError(answer.status, await messageOf(answer));
    return answer;
  }

  async json<Body>(path: string, options?: RequestInit): Promise<Body> {
    return (await this.request(path, options)).json();
  }

  async text(path: string): Promise<string> {
    return (await this.request(path)).text();
  }

  private post(path: string, body: unknown, options: RequestInit = {}): Promise<Response> {
    const headers = { "Content-Type": "application/json", ...options.headers };
    return this.request(path, { ...options, method: "POST", headers, body: JSON.stringify(body) });
  }

  // The sandbox of this tab; a new one when there is none, or it has ended.
  async awake(signal?: AbortSignal): Promise<string> {
    const known = this.sandbox;
    if (known) {
      try {
        await this.post(`/sandboxes/${known}/timeout`, { timeout: sandboxTimeoutS }, { signal });
        return known;
      } catch (error) {
        if (!(error instanceof GatewayError) || error.status === 401) throw error;
        this.setSandbox(null);
      }
    }
    const body = { templateID: "default", timeout: sandboxTimeoutS };
    const answer = await this.post("/sandboxes", body, { signal });
    const { sandboxID } = (await answer.json()) as { sandboxID: string };
    this.setSandbox(sandboxID);
    return sandboxID;
  }

  async forget(): Promise<void> {
    const known = this.sandbox;
    this.setSandbox(null);
    if (known) await this.request(`/sandboxes/${known}`, { method: "DELETE" });
  }

  private setSandbox(id: string | null): void {
    if (id) sessionStorage.setItem(sandboxKey, id);
    else sessionStorage.removeItem(sandboxKey);
    this.onSandbox(id);
  }

  // Aborting the signal ends the request, which interrupts the cell.
  async *execute(code: string, signal: AbortSignal): AsyncGenerator<Line> {
    const sandbox = await this.awake(signal);
    const headers = { "E2b-Sandbox-Id": sandbox };
    const answer = await this.post("/execute", { code }, { signal, headers });
    if (answer.body) yield* readLines(answer.body);
  }

  async upload(file: File): Promise<string> {
    const sandbox = await this.awake();
    const path = encodeURIComponent(file.name);
    await this.request(`/sandboxes/${sandbox}/files/${path}`, { method: "PUT", body: file });
    return file.name;
  }

  // A link could not carry the token: the content is fetched, then handed to the browser.
  async download(path: string, name: string): Promise<void> {
    const content = await (await this.request(path)).blob();
    const address = URL.createObjectURL(content);
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}
