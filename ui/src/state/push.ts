// Notifications on this device: the browser's permission, its subscription, and what the server knows of it.

import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import { type PushState, permission, readPermission, setPermission, setPushState } from "./pushState";
import { activeId, goTo } from "./route";

const worker_path = "/sw.js";
/** A browser that cannot reach its push service may go on trying for ever. */
const subscribe_timeout_ms = 30_000;

interface Given {
  secure: boolean;
  worker: boolean;
  push: boolean;
  apple: boolean;
  installed: boolean;
}

/** Why there can be no notifications here; null where there can. */
export function obstacle(given: Given): PushState | null {
  if (!given.secure) return "insecure";
  if (given.worker && given.push) return null;
  return given.apple && !given.installed ? "install" : "unsupported";
}

function here(): Given {
  const apple =
    /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
  return {
    secure: window.isSecureContext,
    worker: "serviceWorker" in navigator,
    push: "PushManager" in window && "Notification" in window,
    apple,
    installed: window.matchMedia?.("(display-mode: standalone)").matches ?? false,
  };
}

/** The worker makes the page one that opens without a network, so it is there for everybody. */
export async function startWorker(): Promise<void> {
  if (!window.isSecureContext || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", (event: MessageEvent<{ open?: unknown; which?: unknown }>) => {
    if (typeof event.data?.open === "string") goTo(event.data.open);
    if (event.data?.which) event.ports[0]?.postMessage(activeId());
  });
  try {
    await navigator.serviceWorker.register(worker_path);
  } catch {
    // A certificate that the browser does not know is enough for that; the page works without.
  }
}

async function subscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager?.getSubscription()) ?? null;
}

/** Looks at how it stands. The browser and the server have to agree. */
export async function lookAtPush(): Promise<void> {
  const why = obstacle(here());
  if (why) return void setPushState(why);
  setPermission(readPermission());
  if (permission() === "denied") return void setPushState("denied");
  try {
    const [own, known] = await Promise.all([subscription(), pagesApi.push()]);
    setPushState(own !== null && known.subscribed && isFor(own, known.public_key) ? "on" : "off");
  } catch {
    setPushState("unknown");
  }
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** A server that has lost its key has a new one, with which nothing reaches a subscription for the old one. */
function isFor({ options }: PushSubscription, key: string): boolean {
  const own = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  return String(own) === String(bytes(key));
}

async function subscribe({ pushManager }: ServiceWorkerRegistration, key: string): Promise<PushSubscription> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it isn’t answering")), subscribe_timeout_ms);
  });
  try {
    const made = pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
    return await Promise.race([made, late]);
  } catch (error) {
    const why = `This browser’s push service cannot be used: ${sentence(error)}`;
    throw new Error(`${why.replace(/\.?$/, ".")} Until then, you are notified only while this page is open.`);
  } finally {
    clearTimeout(timer);
  }
}

/** Has to be called where somebody clicked. */
export async function turnPushOn(): Promise<void> {
  setPermission(await Notification.requestPermission());
  if (permission() !== "granted") return void (await lookAtPush());
  await navigator.serviceWorker.register(worker_path);
  const registration = await navigator.serviceWorker.ready;
  const { public_key } = await pagesApi.push();
  // One that was made for another key of the server can never be used again.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const { endpoint, keys } = (await subscribe(registration, public_key)).toJSON();
  await pagesApi.subscribePush({
    endpoint: endpoint ?? "",
    keys: { p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" },
  });
  await lookAtPush();
}

export async function turnPushOff(): Promise<void> {
  await pagesApi.unsubscribePush();
  await (await subscription())?.unsubscribe();
  await lookAtPush();
}
