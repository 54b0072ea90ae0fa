// The page's worker, and the notifications that it shows.

import { type BrowserContext, type CDPSession, expect, type Page, type Worker } from "@playwright/test";

/** The page's worker, once it controls the page. */
export async function workerOf(context: BrowserContext, page: Page): Promise<Worker> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  const found = context.serviceWorkers().find((one) => one.url().endsWith("/sw.js"));
  if (!found) throw new Error("the page has no worker");
  return found;
}

/** What the browser's push service would hand to the worker, decrypted. */
export async function push(cdp: CDPSession, origin: string, payload: unknown): Promise<void> {
  const registrations = new Promise<string>((resolve) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [own] = registrations.filter(({ scopeURL }) => scopeURL.startsWith(origin));
      if (own) resolve(own.registrationId);
    });
  });
  await cdp.send("ServiceWorker.disable");
  await cdp.send("ServiceWorker.enable");
  const registrationId = await registrations;
  await cdp.send("ServiceWorker.deliverPushMessage", {
    origin: `${origin}/`,
    registrationId,
    data: JSON.stringify(payload),
  });
}

interface Shown {
  title: string;
  body: string;
  actions: string[];
}

/** What the system shows at this moment. */
export function shown(own: Worker): Promise<Shown[]> {
  return own.evaluate(async () => {
    const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
    const all = await registration.getNotifications();
    return all.map((one) => {
      const { actions = [] } = one as unknown as { actions?: { title: string }[] };
      return { title: one.title, body: one.body, actions: actions.map(({ title }) => title) };
    });
  });
}

/** Somebody presses an action of the one that is shown; without one, the notification itself. */
export async function press(own: Worker, action: string): Promise<void> {
  await own.evaluate(async (action) => {
    const scope = self as unknown as { registration: ServiceWorkerRegistration } & EventTarget;
    const [notification] = await scope.registration.getNotifications();
    const Click = (self as unknown as { NotificationEvent: new (kind: string, init: unknown) => Event })
      .NotificationEvent;
    scope.dispatchEvent(new Click("notificationclick", { notification, action }));
  }, action);
}
