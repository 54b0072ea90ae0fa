// A stream whose other end is the test. For tests only.

import type { EventData, EventName } from "../../api/types";

export class FakeEventSource extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 2;
  readyState = FakeEventSource.CONNECTING;
  private lastId = "";

  constructor(readonly url: string) {
    super();
  }

  open(): void {
    this.readyState = FakeEventSource.OPEN;
    this.dispatchEvent(new Event("open"));
  }

  /** Like the browser, it repeats the last id for an event that has none. */
  emit<Name extends EventName>(event: Name, data: EventData[Name], id?: number): void {
    if (this.readyState === FakeEventSource.CONNECTING) this.open();
    if (id !== undefined) this.lastId = String(id);
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data), lastEventId: this.lastId }));
  }

  /** The connection broke; a browser would try again by itself. */
  break(): void {
    this.readyState = FakeEventSource.CONNECTING;
    this.dispatchEvent(new Event("error"));
  }

  /** The server answered with an error status; a browser gives up. */
  refuse(): void {
    this.readyState = FakeEventSource.CLOSED;
    this.dispatchEvent(new Event("error"));
  }

  close(): void {
    this.readyState = FakeEventSource.CLOSED;
  }
}

/** Makes sources and keeps them, the latest last. */
export function fakeSources() {
  const all: FakeEventSource[] = [];
  return {
    all,
    create: (url: string) => {
      const source = new FakeEventSource(url);
      all.push(source);
      return source as unknown as EventSource;
    },
    latest(): FakeEventSource {
      const source = all.at(-1);
      if (!source) throw new Error("no stream was opened");
      return source;
    },
  };
}
