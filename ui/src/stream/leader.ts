// Where there is no shared worker: one of the tabs that are looked at reads the stream for the others, which hear it over a channel.
// The one that holds the lock leads; it lets go when it is hidden, because hidden tabs are slowed down and frozen.

import { Hub } from "./hub";
import type { Port } from "./lane";
import type { Transport } from "./link";
import type { ToHub, ToTab } from "./protocol";

const name = "voxpilot-stream";

type Said = { from: string; toHub: ToHub } | { to: string; toTab: ToTab } | { leads: true };

/** `onLeader`: somebody else leads from now on, and knows nothing of what was followed. */
export function openChannel(onMessage: (message: ToTab) => void, onLeader: () => void): Transport {
  const me = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  let hub: Hub | null = null;
  let stepDown: (() => void) | null = null;
  let waiting: AbortController | null = null;
  const ports = new Map<string, (message: ToHub) => void>();

  function give(to: string, message: ToTab): void {
    if (to === me) queueMicrotask(() => onMessage(message));
    else channel.postMessage({ to, toTab: message } satisfies Said);
  }
  function take(from: string, message: ToHub): void {
    if (!hub) return;
    let receive = ports.get(from);
    if (!receive) {
      const port: Port = { post: (answer) => give(from, answer) };
      const connected = hub.connect(port);
      receive = (said) => {
        connected(said);
        if (said.type === "bye") ports.delete(from);
        if (said.type === "hello" && from !== me) void navigator.locks.request(said.lock, () => hub?.disconnect(port));
      };
      ports.set(from, receive);
    }
    receive(message);
  }
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if ("leads" in data) onLeader();
    else if ("toHub" in data) take(data.from, data.toHub);
    else if (data.to === me) onMessage(data.toTab);
  };

  function lead(): Promise<void> {
    hub = new Hub();
    channel.postMessage({ leads: true } satisfies Said);
    onLeader();
    return new Promise((resolve) => {
      stepDown = () => {
        hub?.close();
        hub = null;
        ports.clear();
        stepDown = null;
        resolve();
      };
    });
  }
  function standIn(): void {
    if (document.visibilityState !== "visible" || stepDown || waiting) return;
    const asked = new AbortController();
    waiting = asked;
    const leading = () => {
      waiting = null;
      return lead();
    };
    navigator.locks.request(name, { signal: asked.signal }, leading).catch(() => {});
  }
  const onVisibility = () => {
    if (document.visibilityState === "visible") return standIn();
    waiting?.abort();
    waiting = null;
    stepDown?.();
  };
  document.addEventListener("visibilitychange", onVisibility);
  standIn();

  return {
    post(message) {
      if (hub) take(me, message);
      else channel.postMessage({ from: me, toHub: message } satisfies Said);
    },
    close() {
      document.removeEventListener("visibilitychange", onVisibility);
      waiting?.abort();
      stepDown?.();
      channel.close();
    },
  };
}
