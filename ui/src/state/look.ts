// What has to be looked at again whenever somebody comes back to the page, or the server to them.

import { onCleanup } from "solid-js";
import { onBack } from "../api/client";

/** Looks now, when the page gets the focus, when it is shown again, and when the server answers again. */
export function keepLooking(look: () => void): void {
  const onShown = () => {
    if (document.visibilityState === "visible") look();
  };
  window.addEventListener("focus", look);
  document.addEventListener("visibilitychange", onShown);
  const stop = onBack(look);
  onCleanup(() => {
    window.removeEventListener("focus", look);
    document.removeEventListener("visibilitychange", onShown);
    stop();
  });
  look();
}
