import { render } from "solid-js/web";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Toasts } from "../kit/toasts";
import { lookAtPush } from "../state/push";
import { Bell } from "./Bell";

const subscription = {
  options: { applicationServerKey: Uint8Array.from([4, 0, 0]).buffer },
  unsubscribe: async () => true,
  toJSON: () => ({ endpoint: "https://push.example/x", keys: { p256dh: "p", auth: "a" } }),
};
/** The browser, as far as notifications are its matter. */
let browser: { permission: NotificationPermission; own: typeof subscription | null; subscribe: () => Promise<unknown> };
let known: boolean;
let dispose = () => {};

function stubBrowser(): void {
  const pushManager = {
    getSubscription: async () => browser.own,
    subscribe: () => browser.subscribe(),
  };
  const registration = { pushManager };
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("PushManager", class {});
  vi.stubGlobal("Notification", {
    get permission() {
      return browser.permission;
    },
    requestPermission: async () => {
      if (browser.permission === "default") browser.permission = "granted";
      return browser.permission;
    },
  });
  Object.defineProperty(navigator, "serviceWorker", {
    configurable: true,
    value: {
      register: async () => registration,
      getRegistration: async () => registration,
      ready: Promise.resolve(registration),
    },
  });
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method === "PUT") known = true;
    const body = request.method === "GET" ? JSON.stringify({ public_key: "BAAA", subscribed: known }) : null;
    return new Response(body, { status: body === null ? 204 : 200 });
  });
}

beforeEach(() => {
  known = false;
  browser = {
    permission: "default",
    own: null,
    subscribe: async () => {
      browser.own = subscription;
      return subscription;
    },
  };
  stubBrowser();
});
afterEach(() => {
  dispose();
  document.body.replaceChildren();
  location.hash = "";
  vi.useRealTimers();
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, "serviceWorker");
});

async function bell(): Promise<HTMLButtonElement> {
  await lookAtPush();
  dispose = render(
    () => (
      <>
        <Bell />
        <Toasts />
      </>
    ),
    document.body,
  );
  return document.querySelector("button") as HTMLButtonElement;
}

test("it turns them on, and says that they are", async () => {
  const button = await bell();
  expect(button.ariaLabel).toBe("Turn on notifications");
  button.click();
  await vi.waitFor(() => expect(button.ariaLabel).toBe("Notifications are on"));
  button.click();
  expect(location.hash).toBe("#/settings/notifications");
});

test("both the browser and the server have to know of it, under the key that the server has now", async () => {
  browser.own = subscription;
  const button = await bell();
  expect(button.ariaLabel).toBe("Turn on notifications");
  known = true;
  await lookAtPush();
  expect(button.ariaLabel).toBe("Notifications are on");
  browser.own = { ...subscription, options: { applicationServerKey: Uint8Array.from([4, 7, 7]).buffer } };
  await lookAtPush();
  expect(button.ariaLabel).toBe("Turn on notifications");
});

test("what stands in the way is said, and leads to what can be done", async () => {
  browser.permission = "denied";
  const button = await bell();
  expect(button.ariaLabel).toContain("blocked");
  button.click();
  expect(location.hash).toBe("#/settings/notifications");
  vi.stubGlobal("isSecureContext", false);
  await lookAtPush();
  expect(button.ariaLabel).toContain("safe address");
  vi.stubGlobal("isSecureContext", true);
  Reflect.deleteProperty(globalThis, "PushManager");
  await lookAtPush();
  expect(button.ariaLabel).toBe("This browser has no notifications");
  vi.spyOn(navigator, "userAgent", "get").mockReturnValue("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)");
  await lookAtPush();
  expect(button.ariaLabel).toContain("home screen");
});

test("a push service that never answers is not waited for", async () => {
  vi.useFakeTimers();
  browser.subscribe = () => new Promise(() => {});
  const button = await bell();
  button.click();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(document.body.textContent).toContain("push service cannot be used: it isn’t answering.");
  expect(document.body.textContent).toContain("only while this page is open");
  expect(button.disabled).toBe(false);
});
