import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AddMainAi } from "./AddMainAi";

const view = {
  providers: [
    { id: "openai", host: "api.openai.com", needs_key: true },
    { id: "ollama", host: "localhost:11434", needs_key: false },
  ],
};
let seen: { method: string; path: string; body: unknown }[];
let answers: Record<string, () => Response | Promise<Response>>;
const added: string[] = [];
let closed = 0;
let dispose = () => {};

beforeEach(() => {
  seen = [];
  added.length = 0;
  closed = 0;
  answers = {
    "GET /api/main-ai": () => Response.json(view),
    "POST /api/main-ai/models": () => Response.json({ models: ["gpt-4.1", "o4"] }),
    "POST /api/main-ai/test": () => Response.json({ took_ms: 812, uses_tools: true }),
    "PUT /api/main-ai": () => new Response(null, { status: 204 }),
  };
  vi.stubGlobal("fetch", async (request: Request) => {
    const path = new URL(request.url).pathname;
    const body = request.method === "GET" ? null : await request.json();
    seen.push({ method: request.method, path, body });
    return answers[`${request.method} ${path}`]?.() ?? new Response(null, { status: 404 });
  });
});
afterEach(() => {
  dispose();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

const soon = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });
const button = (text: string) =>
  [...document.querySelectorAll("button")].find((one) => one.textContent?.trim() === text) as HTMLButtonElement;
const key = () => document.querySelector<HTMLInputElement>("input[type=password]") as HTMLInputElement;
const type = (field: HTMLInputElement, text: string) => {
  field.value = text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
};
const submit = () => document.querySelector("form")?.requestSubmit();
const status = () => document.querySelector("[role=status]")?.textContent ?? "";
const problem = (status: number, code: string, message: string) => () =>
  Response.json({ error: { code, message } }, { status });

async function open(model?: string): Promise<void> {
  dispose = render(
    () => <AddMainAi model={model} isWriting onAdded={(name) => added.push(name)} onClose={() => (closed += 1)} />,
    document.body,
  );
  await soon(() => expect(document.querySelector(".dialog-body")?.textContent).toBeTruthy());
}

it("leads from a key to a model that has answered", async () => {
  await open("o4");
  await soon(() => expect(key()).not.toBeNull());
  expect(button("Check key").disabled).toBe(true);
  type(key(), "sk-1");
  submit();
  await soon(() => expect(button("Test and add")?.disabled).toBe(false));
  expect(document.querySelector<HTMLSelectElement>("select:last-of-type")).not.toBeNull();
  submit();
  await soon(() => expect(status()).toContain("o4 answered in 0.8 s and can use tools"));
  expect(added).toEqual(["o4"]);
  expect(seen.slice(1).map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /api/main-ai/models",
    "POST /api/main-ai/test",
    "PUT /api/main-ai",
  ]);
  expect(seen.at(-1)?.body).toEqual({ provider: "openai", api_key: "sk-1", model: "o4" });
  button("Done").click();
  expect(closed).toBe(1);
});

it("keeps the fields when a step fails, and marks a refused key", async () => {
  answers["POST /api/main-ai/models"] = problem(422, "model_unauthorized", "refused");
  await open();
  await soon(() => expect(key()).not.toBeNull());
  type(key(), "sk-wrong");
  submit();
  await soon(() => expect(document.querySelector("[role=alert]")?.textContent).toContain("OpenAI refused this key"));
  expect([key().value, key().getAttribute("aria-invalid")]).toEqual(["sk-wrong", "true"]);
  answers["POST /api/main-ai/models"] = problem(422, "model_stalled", "No answer from x within 10 s. Is it running?");
  type(key(), "sk-2");
  submit();
  await soon(() => expect(status()).toContain("No answer from x within 10 s"));
  expect(key().value).toBe("sk-2");
  expect(button("Try again").disabled).toBe(false);
  expect(added).toEqual([]);
});

it("stops a step that takes long", async () => {
  answers["POST /api/main-ai/models"] = () => new Promise<Response>(() => {});
  await open();
  await soon(() => expect(key()).not.toBeNull());
  type(key(), "sk-1");
  submit();
  await soon(() => expect(status()).toContain("Asking OpenAI for its models"));
  button("Stop").click();
  await soon(() => expect(button("Check key").disabled).toBe(false));
  expect(key().value).toBe("sk-1");
});

it("shows the reason and the way instead of a form where no key may be sent", async () => {
  answers["GET /api/main-ai"] = () => Response.json({ ...view, refused: "insecure" });
  await open();
  await soon(() => expect(document.body.textContent).toContain("This page came over plain HTTP"));
  expect(key()).toBeNull();
});
