// Asks for the gateway's token. It is kept in this tab's sessionStorage and nowhere else.
import { byId } from "./dom";
import type { Gateway } from "./gateway";

export class TokenDialog {
  private readonly dialog = byId<HTMLDialogElement>("token-dialog");
  private readonly field = byId<HTMLInputElement>("token");
  private readonly error = byId("token-error");

  constructor(private readonly gateway: Gateway) {
    byId("token-cancel").addEventListener("click", () => this.dialog.close(""));
    byId("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.tryToken(this.field.value.trim());
    });
  }

  // Whether there is a token that the gateway takes.
  ask(problem = ""): Promise<boolean> {
    this.error.textContent = problem;
    this.field.value = "";
    if (!this.dialog.open) {
      this.dialog.returnValue = "";
      this.dialog.showModal();
    }
    return new Promise((resolve) =>
      this.dialog.addEventListener("close", () => resolve(this.dialog.returnValue === "taken"), { once: true }),
    );
  }

  private async tryToken(token: string): Promise<void> {
    const before = this.gateway.token;
    this.gateway.token = token;
    try {
      await this.gateway.request("/version");
      this.dialog.close("taken");
    } catch (error) {
      this.gateway.token = before;
      this.error.textContent = `The gateway said: ${(error as Error).message}`;
      this.field.select();
    }
  }
}
