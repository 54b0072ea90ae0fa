// The page's worker: opens the page without a network, shows what is pushed, and carries an answer back.

import { address } from "../api/address";
import { readKey } from "./key";
import { addressOf, isSeen, keptIn, notAnswered, readPushed, refusal, type Shown, show, tagOf } from "./notification";
import { asset, keepShell, open } from "./shell";

// The types of a worker cannot stand beside those of a page, so what is used of them is named here.
interface Later extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchLater extends Later {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
interface PushLater extends Later {
  data: { json(): unknown } | null;
}
interface ClickLater extends Later {
  notification: Notification;
  action: string;
}
interface WindowClient {
  url: string;
  visibilityState: DocumentVisibilityState;
  focus(): Promise<WindowClient>;
  postMessage(message: unknown, transfer?: Transferable[]): void;
}
interface Worker {
  registration: ServiceWorkerRegistration;
  clients: {
    matchAll(options: { type: "window"; includeUncontrolled: boolean }): Promise<WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
    claim(): Promise<void>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(kind: "install" | "activate", listen: (event: Later) => void): void;
  addEventListener(kind: "fetch", listen: (event: FetchLater) => void): void;
  addEventListener(kind: "push", listen: (event: PushLater) => void): void;
  addEventListener(kind: "notificationclick", listen: (event: ClickLater) => void): void;
}
const worker = self as unknown as Worker;

const answer_timeout_ms = 20_000;
const ask_timeout_ms = 1_000;

worker.addEventListener("install", (event) => {
  // Without the shell it still shows notifications; it is fetched again when the page is next opened.
  event.waitUntil(Promise.allSettled([keepShell(), worker.skipWaiting()]));
});
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/assets/")) event.respondWith(asset(request));
  // A link that signs in, and whatever else is no page of ours, is the network's alone.
  else if (request.mode === "navigate" && url.pathname === "/") {
    event.respondWith(open(request, (work) => event.waitUntil(work.catch(() => {}))));
  }
});

const windows = () => worker.clients.matchAll({ type: "window", includeUncontrolled: true });
const display = ({ title, options }: Shown) => worker.registration.showNotification(title, options);
const maxActions = () => (Notification as unknown as { maxActions?: number }).maxActions ?? 0;
/** Apple's browsers take a subscription away from whoever is pushed to and shows nothing. */
const mustShow = () => /AppleWebKit/.test(navigator.userAgent) && !/Chrom(e|ium)/.test(navigator.userAgent);

worker.addEventListener("push", (event) => event.waitUntil(receive(event.data)));

async function receive(data: { json(): unknown } | null): Promise<void> {
  let given: unknown = null;
  try {
    given = data?.json();
  } catch {
    // Whatever it is, it is not the server's.
  }
  const pushed = readPushed(given);
  if (!pushed) return;
  if (pushed.kind === "closed" && !mustShow()) {
    for (const shown of await worker.registration.getNotifications({ tag: tagOf(pushed.session_id) })) shown.close();
    return;
  }
  const visible = (await windows()).filter(({ visibilityState }) => visibilityState === "visible");
  if (isSeen(pushed, await Promise.all(visible.map(sessionOf))) && !mustShow()) return;
  await display(show(pushed, maxActions()));
}

/** What a page shows: its address as the worker knows it is the one that it was opened with. One that does not answer shows nothing. */
function sessionOf(page: WindowClient): Promise<unknown> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const timer = setTimeout(() => resolve(null), ask_timeout_ms);
    port1.onmessage = ({ data }) => {
      clearTimeout(timer);
      resolve(data);
    };
    page.postMessage({ which: true }, [port2]);
  });
}

worker.addEventListener("notificationclick", (event) => event.waitUntil(clicked(event.notification, event.action)));

async function clicked(notification: Notification, action: string): Promise<void> {
  notification.close();
  const kept = keptIn(notification.data);
  const option = kept.answers[action];
  if (option === undefined || kept.request_id === null) return await openPage(kept.session_id);
  const why = await answer(kept.session_id ?? "", kept.request_id, option);
  if (why !== null) await display(notAnswered(notification.title, kept, why));
}

/** Why it did not get there; null where it did. */
async function answer(session: string, request: string, option_id: string): Promise<string | null> {
  try {
    const key = await readKey();
    if (key === null) return "this browser’s key is missing. Sign in again.";
    const path = address("/api/sessions/{id}/permissions/{request_id}", { id: session, request_id: request });
    const response = await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json", "x-voxpilot-key": key },
      body: JSON.stringify({ option_id }),
      signal: AbortSignal.timeout(answer_timeout_ms),
    });
    return refusal(response.status, await response.text());
  } catch {
    return "the server cannot be reached.";
  }
}

async function openPage(session: string | null): Promise<void> {
  const [page] = await windows();
  if (!page) {
    await worker.clients.openWindow(addressOf(session));
    return;
  }
  if (session !== null) page.postMessage({ open: session });
  await page.focus();
}
