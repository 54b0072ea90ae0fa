// Keeps one event stream alive: opens it, watches it, opens it again from where it broke.
// Knows nothing of what the events mean, beyond those that concern the connection.

import { type EventData, type EventName, eventNames, type StreamEvent } from "../api/types";

export const first_delay_ms = 200;
export const longest_delay_ms = 5_000;
/** A keepalive comes every 15 s; two in a row may go missing. */
export const silence_limit_ms = 40_000;
/** For so long after it was hidden a page goes on listening. */
export const rest_ms = 20_000;

export interface ConnectionOptions {
  /** The address that gives what follows `after`, or a snapshot for null. */
  url(after: number | null): string;
  /** A stream begins that starts with a snapshot. */
  onSnapshot(): void;
  /** An event; answers whether it could be applied. A gap leads to a fresh snapshot. */
  onEvent(event: StreamEvent): "ok" | "gap";
  /** Whether events can come in at the moment. */
  onConnected(connected: boolean): void;
  /** The server answered, but not with a stream. */
  onRefused(): void;
  createSource?(url: string, after: number | null): EventSource;
}

export class Connection {
  private source: EventSource | null = null;
  private cursor: number | null = null;
  private inSnapshot = false;
  private delay_ms = first_delay_ms;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private restTimer: ReturnType<typeof setTimeout> | undefined;
  private heardAt = 0;
  private closed = false;

  constructor(private readonly options: ConnectionOptions) {
    window.addEventListener("online", this.reconnectNow);
    document.addEventListener("visibilitychange", this.wakeUp);
    this.look();
  }

  /** Catches up, also while the page is hidden. */
  look(): void {
    if (this.source === null) this.connect();
    clearTimeout(this.restTimer);
    if (isHidden()) this.restTimer = setTimeout(() => this.rest(), rest_ms);
  }

  close(): void {
    this.closed = true;
    this.drop();
    clearTimeout(this.retryTimer);
    clearTimeout(this.restTimer);
    window.removeEventListener("online", this.reconnectNow);
    document.removeEventListener("visibilitychange", this.wakeUp);
  }

  private connect(): void {
    this.drop();
    clearTimeout(this.retryTimer);
    const { options } = this;
    if (this.cursor === null) this.beginSnapshot();
    const url = options.url(this.cursor);
    const source = options.createSource?.(url, this.cursor) ?? new EventSource(url);
    this.source = source;
    source.addEventListener("open", () => this.hear(source));
    for (const name of eventNames) {
      addJsonEventListener(source, name, (data, id) => this.receive(source, name, data, id));
    }
    source.addEventListener("error", (event) => {
      // An event of the stream may be named "error" too; that one carries data.
      if (!(event instanceof MessageEvent)) this.fail(source);
    });
    this.watchSilence();
  }

  private receive<Name extends EventName>(source: EventSource, name: Name, data: EventData[Name], id: string): void {
    if (source !== this.source) return;
    this.hear(source);
    this.delay_ms = first_delay_ms;
    if (name === "keepalive") return;
    if (name === "reset") {
      this.cursor = null;
      this.beginSnapshot();
      return;
    }
    // Events of a snapshot have no id of their own, and the browser repeats the last one that it saw.
    const seq = this.inSnapshot || id === "" ? null : Number(id);
    if (seq !== null && this.cursor !== null && seq < this.cursor) return;

    const outcome = this.options.onEvent({ event: name, data } as StreamEvent);
    if (outcome === "gap") {
      this.startOver();
      return;
    }
    if (name === "ready") {
      this.inSnapshot = false;
      this.cursor = (data as EventData["ready"]).seq;
    } else if (seq !== null) {
      this.cursor = seq;
    }
  }

  private beginSnapshot(): void {
    this.inSnapshot = true;
    this.options.onSnapshot();
  }

  /** What is here has a hole: forget the cursor and take a snapshot, a little later each time. */
  private startOver(): void {
    this.cursor = null;
    this.retryLater();
  }

  private fail(source: EventSource): void {
    if (source !== this.source) return;
    const refused = source.readyState === EventSource.CLOSED;
    // The browser's own reconnection is slow and gives up on any error status, so it is not used.
    this.retryLater();
    if (refused) this.options.onRefused();
  }

  private retryLater(): void {
    this.drop();
    if (this.closed) return;
    this.options.onConnected(false);
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => this.connect(), this.delay_ms);
    this.delay_ms = Math.min(this.delay_ms * 2, longest_delay_ms);
  }

  private drop(): void {
    clearTimeout(this.silenceTimer);
    this.source?.close();
    this.source = null;
  }

  private hear(source: EventSource): void {
    if (source !== this.source) return;
    this.options.onConnected(true);
    this.watchSilence();
  }

  private watchSilence(): void {
    this.heardAt = Date.now();
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => {
      this.options.onConnected(false);
      this.connect();
    }, silence_limit_ms);
  }

  private reconnectNow = () => {
    if (isHidden()) return;
    this.delay_ms = first_delay_ms;
    this.connect();
  };

  /** Nobody looks: what happens meanwhile is fetched when somebody does. */
  private rest(): void {
    clearTimeout(this.retryTimer);
    this.drop();
  }

  /** A device that slept has neither run our timers nor noticed that the connection is gone. */
  private wakeUp = () => {
    clearTimeout(this.restTimer);
    if (isHidden()) this.restTimer = setTimeout(() => this.rest(), rest_ms);
    else if (this.source === null || Date.now() - this.heardAt > silence_limit_ms) this.reconnectNow();
  };
}

const isHidden = () => document.visibilityState === "hidden";

export function addJsonEventListener<Name extends EventName>(
  source: EventSource,
  name: Name,
  listener: (data: EventData[Name], id: string) => void,
): void {
  source.addEventListener(name, (event: Event) => {
    if (!(event instanceof MessageEvent) || typeof event.data !== "string") return;
    let data: EventData[Name];
    try {
      data = JSON.parse(event.data);
    } catch {
      return;
    }
    listener(data, event.lastEventId);
  });
}
