import { createStore } from "solid-js/store";
import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { NeededLogin } from "../../state/model";
import { LoginCard } from "./LoginCard";

const fetched = vi.fn<typeof fetch>();
const asked = () => (fetched.mock.calls[0]?.[0] as Request | undefined)?.url.replace(location.origin, "");
const onTried = vi.fn();
let dispose = () => {};
let feed: ReadableStreamDefaultController<Uint8Array>;

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "performance", "requestAnimationFrame", "cancelAnimationFrame"],
  });
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset().mockImplementation(async (_, init) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        feed = controller;
        init?.signal?.addEventListener("abort", () => controller.error(new DOMException("aborted", "AbortError")));
      },
    });
    return new Response(body);
  });
  onTried.mockReset();
  // jsdom knows the element, but not how to open it.
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
    this.dispatchEvent(new Event("close"));
  };
});
afterEach(() => {
  vi.useRealTimers();
  dispose();
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

function mount(fields: Partial<NeededLogin> = {}, canLogin = true) {
  const needed = {
    turnId: "t",
    sessionName: "main",
    text: "Copilot needs you to sign in",
    again: false,
    trying: false,
    ...fields,
  };
  const [login, setLogin] = createStore<NeededLogin>(needed);
  dispose = render(
    () => <LoginCard login={login} agent={{ id: "copilot", title: "GitHub Copilot", canLogin }} onTried={onTried} />,
    document.body,
  );
  settle();
  return setLogin;
}
/** Until what has just been drawn can be pressed. */
const settle = () => vi.advanceTimersByTime(520);
const button = (name: string) => [...document.querySelectorAll("button")].find((one) => one.textContent === name);
const print = (text: string) => feed.enqueue(new TextEncoder().encode(text));
const dialog = () => document.querySelector("dialog");

it("an agent without a login that can be run offers none, but to try again", () => {
  mount({}, false);
  expect(button("Sign in")).toBeUndefined();
  expect(button("I’ve signed in, try again")).toBeDefined();
});

it("nothing that is pressed as the card comes back begins a login", () => {
  const setLogin = mount();
  setLogin("trying", true);
  setLogin({ trying: false, again: true });
  button("Sign in")?.click();
  button("I’ve signed in, try again")?.click();
  expect(dialog()).toBeNull();
  expect(fetched).not.toHaveBeenCalled();
});

it("the login runs in a dialog that shows what it prints, as it prints it", async () => {
  mount();
  expect(document.body.textContent).toContain("Copilot needs you to sign in");
  button("Sign in")?.click();
  await vi.waitFor(() => expect(fetched).toHaveBeenCalled());
  expect(asked()).toBe("/api/agents/copilot/login");
  await vi.waitFor(() => expect(feed).toBeDefined());
  print("Open https://github.com/login/dev");
  print("ice and type AB12-CD34\n");
  await vi.waitFor(() => expect(document.querySelector(".device-code")?.textContent).toBe("AB12-CD34"));
  const link = document.querySelector<HTMLAnchorElement>(".login-output a");
  expect(link).toMatchObject({
    href: "https://github.com/login/device",
    target: "_blank",
    rel: "noopener noreferrer",
  });
  expect(onTried).not.toHaveBeenCalled();
  print("\nlogin finished\n");
  feed.close();
  await vi.waitFor(() => expect(onTried).toHaveBeenCalledOnce());
  expect(dialog()?.textContent).toContain("Signed in");
});

it("closing the dialog ends the login", async () => {
  mount();
  button("Sign in")?.click();
  await vi.waitFor(() => expect(fetched).toHaveBeenCalled());
  button("Cancel")?.click();
  expect(fetched.mock.calls[0]?.[1]?.signal?.aborted).toBe(true);
  expect(dialog()).toBeNull();
  expect(onTried).not.toHaveBeenCalled();
});

it("a login that failed can be tried again", async () => {
  mount();
  button("Sign in")?.click();
  await vi.waitFor(() => expect(fetched).toHaveBeenCalled());
  print("\nlogin failed\n");
  feed.close();
  await vi.waitFor(() => expect(dialog()?.textContent).toContain("Sign-in failed"));
  button("Try again")?.click();
  await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(2));
  expect(onTried).not.toHaveBeenCalled();
});

it("an agent without a login says so", async () => {
  const body = { error: { code: "conflict", message: "use its own command" } };
  fetched.mockImplementation(async () => new Response(JSON.stringify(body), { status: 409 }));
  mount();
  button("Sign in")?.click();
  await vi.waitFor(() => expect(dialog()?.textContent).toContain("use its own command"));
});

it("somebody who has logged in elsewhere has it tried again", async () => {
  const setLogin = mount();
  fetched.mockImplementation(async () => new Response("trying again\n"));
  button("I’ve signed in, try again")?.click();
  await vi.waitFor(() => expect(onTried).toHaveBeenCalledOnce());
  expect(asked()).toBe("/api/agents/copilot/login?done=true");
  setLogin("trying", true);
  expect(button("Sign in")).toBeUndefined();
  expect(document.body.textContent).toContain("Trying again…");
  setLogin({ trying: false, again: true });
  expect(document.querySelector("h2")?.textContent).toBe("Still not signed in");
});
