// A tab of the hub's that comes back when its stream breaks, as the page's connection does. For tests only.

import type { Hub } from "../hub";
import type { ToHub, ToTab } from "../protocol";

export class FakeTab {
  heard: string[] = [];
  rowsHeard: string[] = [];
  connected = false;
  refused = false;
  alone = false;
  private sub = 0;
  private snapshot: string[] | null = null;
  private readonly send: (message: ToHub) => void;

  constructor(
    hub: Hub,
    readonly session: string,
    private cursor: number | null = null,
    private readonly comesBack = true,
  ) {
    // A port copies what it is given, and gives it later.
    this.send = hub.connect({ post: (message) => queueMicrotask(() => this.receive(structuredClone(message))) });
    if (session !== "") this.follow();
  }

  rows(on: boolean): void {
    this.send({ type: "rows", on, key: "the key" });
  }
  leave(): void {
    this.send({ type: "leave", sub: this.sub });
  }
  close(): void {
    this.send({ type: "bye" });
  }

  private follow(): void {
    this.sub += 1;
    this.snapshot = this.cursor === null ? [] : null;
    this.send({ type: "follow", sub: this.sub, session: this.session, after: this.cursor, key: "the key" });
  }

  private receive(message: ToTab): void {
    if (message.type === "rows-open") this.rowsHeard.push("open");
    else if (message.type === "rows-closed") this.rowsHeard.push("closed");
    else if (message.type === "row" || message.type === "row-gone") this.rowsHeard.push(message.data);
    else if (message.sub === this.sub) this.hear(message);
  }

  private hear(message: Extract<ToTab, { sub: number }>): void {
    if (message.type === "open") this.connected = true;
    if (message.type === "alone") this.alone = true;
    if (message.type === "closed") {
      this.connected = false;
      this.refused = message.refused;
      if (this.comesBack && !message.refused) setTimeout(() => this.follow(), 200);
    }
    if (message.type === "frame") this.take(message.event, JSON.parse(message.data), message.id);
  }

  private take(event: string, data: { seq: number; text: string }, id: string): void {
    if (event === "keepalive") return;
    if (event === "reset") {
      this.snapshot = [];
      this.cursor = null;
    } else if (event === "ready") {
      this.heard = this.snapshot ?? this.heard;
      this.snapshot = null;
      this.cursor = data.seq;
    } else if (this.snapshot) this.snapshot.push(data.text);
    else {
      this.heard.push(data.text);
      this.cursor = Number(id);
    }
  }
}
