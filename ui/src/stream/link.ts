// The tab's side of the shared stream. Gives what looks like an `EventSource`, so that whoever keeps a connection alive need not
// know who reads it.

import { currentKey } from "../api/client";
import { eventNames, type Session } from "../api/types";
import type { ToHub, ToTab } from "./protocol";

/** Whoever reads the stream says at once that a wish has arrived; else it is dead. */
export const answer_ms = 5_000;
/** So often it is tried with another one before the tab goes its own way. */
const most_deaths = 2;

export interface Transport {
  post(message: ToHub): void;
  close(): void;
}

/** `onLost`: whoever reads is another one now. `onDead`: nobody reads. */
export type Connect = (onMessage: (message: ToTab) => void, onLost: () => void, onDead: () => void) => Transport | null;

export interface RowListener {
  /** Rows come, or no longer. When they come again, some may have been missed. */
  onConnected(connected: boolean): void;
  onRow(session: Session): void;
  onGone(id: string): void;
}

export class Link {
  private transport: Transport | null = null;
  private readonly sources = new Map<number, SharedSource>();
  private readonly listeners = new Set<RowListener>();
  private wantsRows = false;
  private readonly patience = new Map<number, ReturnType<typeof setTimeout>>();
  private deaths = 0;
  private count = 0;
  private readonly lock = `voxpilot-tab-${Math.random().toString(36).slice(2)}`;
  private holdsLock = false;

  constructor(
    private readonly connect: Connect,
    private readonly key: () => string | null,
  ) {
    // Held for as long as the tab lives, and named only then: whoever got it before the tab would take it for gone.
    const hold = () => {
      this.holdsLock = true;
      this.sayLock();
      return new Promise(() => {});
    };
    void navigator.locks?.request(this.lock, hold).catch(() => {});
    window.addEventListener("pagehide", () => this.transport?.post({ type: "bye" }));
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.lose();
    });
    this.begin();
  }

  /** A stream of one session; `url` is its own address, where nobody reads it for us. */
  follow(session: string, after: number | null, url: string): EventSource {
    if (!this.transport) return new EventSource(url);
    this.count += 1;
    const sub = this.count;
    const source = new SharedSource(url, () => this.leave(sub));
    this.sources.set(sub, source);
    this.patience.set(
      sub,
      setTimeout(() => this.die(), answer_ms),
    );
    this.transport.post({ type: "follow", sub, session, after, key: this.key() });
    return source as unknown as EventSource;
  }

  /** Whether rows of the list are wanted. Answers whether they can come. */
  wantRows(on: boolean): boolean {
    if (on !== this.wantsRows) this.transport?.post({ type: "rows", on, key: this.key() });
    this.wantsRows = on;
    return this.transport !== null;
  }

  /** Tells of rows, whoever wanted them. Returns how to stop. */
  hear(listener: RowListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private begin(): void {
    this.transport =
      this.deaths > most_deaths
        ? null
        : this.connect(
            this.receive,
            () => this.lose(),
            () => this.die(),
          );
    this.greet();
  }

  private sayLock(): void {
    if (this.holdsLock) this.transport?.post({ type: "hello", lock: this.lock });
  }

  private greet(): void {
    this.sayLock();
    if (this.wantsRows) this.transport?.post({ type: "rows", on: true, key: this.key() });
  }

  private leave(sub: number): void {
    this.settle(sub);
    if (this.sources.delete(sub)) this.transport?.post({ type: "leave", sub });
  }

  private settle(sub: number): void {
    clearTimeout(this.patience.get(sub));
    this.patience.delete(sub);
  }

  private die(): void {
    this.deaths += 1;
    this.transport?.close();
    this.begin();
    this.breakAll();
  }

  private lose(): void {
    this.greet();
    this.breakAll();
  }

  /** Every stream breaks, and is opened again by whoever needs it. */
  private breakAll(): void {
    const sources = [...this.sources];
    this.sources.clear();
    for (const [sub, source] of sources) {
      this.settle(sub);
      source.fail(false);
    }
    this.tell((listener) => listener.onConnected(false));
  }

  private tell(say: (listener: RowListener) => void): void {
    for (const listener of this.listeners) say(listener);
  }

  private receive = (message: ToTab) => {
    if (message.type === "rows-open") return this.tell((listener) => listener.onConnected(true));
    if (message.type === "rows-closed") return this.tell((listener) => listener.onConnected(false));
    if (message.type === "row") return this.tell((listener) => listener.onRow(JSON.parse(message.data)));
    if (message.type === "row-gone") return this.tell((listener) => listener.onGone(JSON.parse(message.data).id));
    const source = this.sources.get(message.sub);
    this.settle(message.sub);
    this.deaths = 0;
    if (!source) return;
    if (message.type === "open") source.open();
    else if (message.type === "frame") source.give(message.event, message.data, message.id);
    else if (message.type === "alone") source.goAlone();
    else if (message.type === "closed") {
      this.sources.delete(message.sub);
      source.fail(message.refused);
    }
  };
}

const states = { connecting: 0, open: 1, closed: 2 } as const;

/** Stands for an `EventSource`, as far as a connection uses one. */
class SharedSource extends EventTarget {
  readyState: number = states.connecting;
  private lastId = "";
  private own: EventSource | null = null;

  constructor(
    private readonly url: string,
    private readonly leave: () => void,
  ) {
    super();
  }

  close(): void {
    this.readyState = states.closed;
    this.own?.close();
    this.leave();
  }

  open(): void {
    this.readyState = states.open;
    this.dispatchEvent(new Event("open"));
  }

  /** Like a browser, it repeats the last id for an event that has none. */
  give(event: string, data: string, id: string): void {
    if (id !== "") this.lastId = id;
    this.dispatchEvent(new MessageEvent(event, { data, lastEventId: this.lastId }));
  }

  fail(refused: boolean): void {
    this.readyState = refused ? states.closed : states.connecting;
    this.dispatchEvent(new Event("error"));
  }

  goAlone(): void {
    const own = new EventSource(this.url);
    this.own = own;
    own.addEventListener("open", () => this.open());
    for (const name of eventNames) {
      own.addEventListener(name, (event) => {
        if (event instanceof MessageEvent) this.give(name, event.data, event.lastEventId);
      });
    }
    own.addEventListener("error", (event) => {
      if (!(event instanceof MessageEvent)) this.fail(own.readyState === states.closed);
    });
  }
}

/** A shared worker, else a leader among the tabs, else nobody. */
const connectToOthers: Connect = (onMessage, onLost, onDead) => {
  if (typeof SharedWorker !== "undefined") {
    const worker = new SharedWorker(new URL("./shared.ts", import.meta.url), { type: "module", name: "voxpilot" });
    worker.onerror = onDead;
    worker.port.onmessage = ({ data }: MessageEvent<ToTab>) => onMessage(data);
    return { post: (message) => worker.port.postMessage(message), close: () => worker.port.close() };
  }
  const canLead = typeof BroadcastChannel !== "undefined" && typeof navigator.locks?.request === "function";
  return canLead ? connectToLeader(onMessage, onLost, onDead) : null;
};

/** Few browsers need it, so it is loaded only there. */
const connectToLeader: Connect = (onMessage, onLost, onDead) => {
  const early: ToHub[] = [];
  let channel: Transport | null = null;
  let closed = false;
  import("./leader").then(({ openChannel }) => {
    if (closed) return;
    channel = openChannel(onMessage, onLost);
    for (const message of early) channel.post(message);
  }, onDead);
  return {
    post: (message) => (channel ? channel.post(message) : void early.push(message)),
    close() {
      closed = true;
      channel?.close();
    },
  };
};

let link: Link | null = null;

/** The one of this tab, made when it is first needed. */
export function tabLink(): Link {
  link ??= new Link(connectToOthers, currentKey);
  return link;
}
