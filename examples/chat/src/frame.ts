// Inside the sandboxed frame: shows the markup that the page posts, and tells it how tall that is.
//
// The frame has no origin (sandbox without allow-same-origin) and a policy that runs no script but
// this one and fetches nothing, so that what a cell shows can neither act nor call out.

export interface Markup {
  html: string;
  dark: boolean;
}

// Nothing of these would work under the policy; without them nothing even tries.
const inert = "script, iframe, frame, object, embed, meta, link, base, form, portal";

function tellHeight(): void {
  parent.postMessage({ height: document.documentElement.scrollHeight }, "*");
}

function show({ html, dark }: Markup): void {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const element of parsed.querySelectorAll(inert)) element.remove();
  const styles = [...parsed.head.querySelectorAll("style")];
  document.body.replaceChildren(...styles, ...parsed.body.childNodes);
  tellHeight();
}

addEventListener("message", (event: MessageEvent<Markup>) => {
  if (event.source === parent) show(event.data);
});
new ResizeObserver(tellHeight).observe(document.documentElement);
parent.postMessage({ ready: true }, "*");
