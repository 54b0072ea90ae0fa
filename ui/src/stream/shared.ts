// The shared worker: the hub, and a port for each tab.

import { Hub } from "./hub";
import type { Port } from "./lane";
import type { ToHub } from "./protocol";

const hub = new Hub();
addEventListener("online", () => hub.restart());

addEventListener("connect", (event) => {
  const channel = (event as MessageEvent).ports[0];
  if (!channel) return;
  const port: Port = { post: (message) => channel.postMessage(message) };
  const receive = hub.connect(port);
  channel.onmessage = ({ data }: MessageEvent<ToHub>) => {
    receive(data);
    // A tab that crashed says nothing; its lock becomes free.
    if (data.type === "hello") void navigator.locks?.request(data.lock, () => hub.disconnect(port));
  };
});
