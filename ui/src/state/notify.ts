// Telling somebody who does not look at the page that something waits for them: in its title, on its icon, and where they
// allowed it, by a notification of the browser.

import { createEffect, on, onCleanup } from "solid-js";
import { permission, pushState } from "./pushState";

const worker_path = "/sw.js";
const icons = { quiet: "/favicon.svg", waiting: "/favicon-waiting.svg" };
/** One at a time: a later notification takes the place of an earlier one. */
const tag = "voxpilot-waiting";
const settle_ms = 250;

interface Attention {
  /** How much waits, everywhere. */
  waiting: () => number;
  /** What to call it. */
  title: () => string;
  text: () => string;
}

export function createAttention(attention: Attention): void {
  createEffect(() => {
    const count = attention.waiting();
    document.title = count > 0 ? `(${count}) ${attention.title()}` : attention.title();
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon) icon.href = count > 0 ? icons.waiting : icons.quiet;
    // Only an installed page has an icon that can carry a number.
    if (navigator.setAppBadge)
      void (count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => {});
  });
  createEffect(
    on(attention.waiting, (count, before = 0) => {
      if (count <= before) return;
      // What is answered by itself comes and goes in a moment, and calls nobody.
      const timer = setTimeout(() => {
        if (attention.waiting() >= count && document.visibilityState === "hidden") {
          void notify(attention.title(), attention.text());
        }
      }, settle_ms);
      onCleanup(() => clearTimeout(timer));
    }),
  );
}

/** A phone shows only what a worker shows; a desk browser without one takes it from the page. */
async function notify(title: string, body: string): Promise<void> {
  // A device that is pushed to is told by its worker.
  if (permission() !== "granted" || pushState() === "on") return;
  const options = { body, tag, icon: icons.waiting };
  try {
    if (navigator.serviceWorker) {
      await navigator.serviceWorker.register(worker_path);
      const worker = await navigator.serviceWorker.ready;
      return await worker.showNotification(title, options);
    }
  } catch {
    // Then without it.
  }
  try {
    const shown = new Notification(title, options);
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // A phone without a worker shows nothing; the title still does.
  }
}
