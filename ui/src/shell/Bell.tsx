import { createSignal } from "solid-js";
import { sentence } from "../api/client";
import { IconButton } from "../kit/Button";
import { insist } from "../kit/later";
import { tell } from "../kit/toasts";
import { watch_only, watchesOnly } from "../state/device";
import { type PushState, pushState } from "../state/pushState";
import { go, settingsHref } from "../state/route";

const labels: Record<PushState, string> = {
  unknown: "Notifications",
  on: "Notifications are on",
  off: "Turn on notifications",
  denied: "Notifications are blocked: how to allow them",
  install: "Notifications: add this page to the home screen first",
  insecure: "Notifications need a safe address: what to do",
  unsupported: "This browser has no notifications",
};

/** Whether this device is told of what waits: turns it on, and where that is done or cannot be done opens what says more. */
export function Bell() {
  const [busy, setBusy] = createSignal(false);
  const press = async () => {
    if (pushState() !== "off") return go(settingsHref("notifications"));
    setBusy(true);
    try {
      const { turnPushOn } = await insist(() => import("../state/push"));
      await turnPushOn();
      if (pushState() === "on") tell("This device notifies you when an agent needs you, and when it is done.");
    } catch (error) {
      tell(sentence(error));
    }
    setBusy(false);
  };
  return (
    <IconButton
      icon={pushState() === "on" ? "bell" : "bellOff"}
      label={labels[pushState()]}
      title={watchesOnly() ? watch_only : labels[pushState()]}
      disabled={busy() || watchesOnly()}
      onClick={() => void press()}
    />
  );
}
