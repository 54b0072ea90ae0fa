// How notifications stand on this device. What changes it is loaded later.

import { createSignal } from "solid-js";

/** `install`: Apple's phones take notifications only from a page on the home screen. `insecure`: browsers do from safe addresses only. */
export type PushState = "unknown" | "insecure" | "install" | "unsupported" | "denied" | "off" | "on";

export const [pushState, setPushState] = createSignal<PushState>("unknown");

/** What the browser lets us do: `unavailable` where it knows no notifications, or the page is not served safely. */
type Permission = NotificationPermission | "unavailable";

export const readPermission = (): Permission => ("Notification" in window ? Notification.permission : "unavailable");
export const [permission, setPermission] = createSignal<Permission>(readPermission());
