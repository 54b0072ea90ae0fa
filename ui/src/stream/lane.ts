// One request that reads the events of some sessions, and who hears them. A follower gets every event of its session once and in
// order, whichever lane it hears it on: its cursor says what it has.

import { address } from "../api/address";
import type { ToTab } from "./protocol";
import { createParser, type Frame } from "./sse";

/** A keepalive comes every 15 s. Less than what a tab waits, so that it does not meet a dead lane again. */
export const lane_silence_ms = 35_000;

export interface Port {
  post(message: ToTab): void;
}

export interface Follower {
  port: Port;
  sub: number;
  session: string;
  /** The last event that it was given; null while it takes a snapshot. */
  cursor: number | null;
  /** Something of a snapshot was given to it. */
  begun: boolean;
}

export interface LaneOptions {
  key: string | null;
  wanted: Map<string, number | null>;
  followers: Follower[];
  onOpen(): void;
  /** A frame that belongs to no session. */
  onFrame(frame: Frame): void;
  /** A follower has got on. */
  onMoved?(): void;
  onGone(follower: Follower): void;
  /** With the status of the answer where there was one that is no stream. */
  onEnd(status: number | null): void;
}

export class Lane {
  readonly followers: Set<Follower>;
  isOpen = false;
  private heardAt = Date.now();
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly ending = new AbortController();
  /** How far each session is; null in a snapshot. */
  private readonly places: Map<string, number | null>;

  constructor(private readonly options: LaneOptions) {
    this.followers = new Set(options.followers);
    this.places = new Map(options.wanted);
    for (const follower of this.followers) this.begin(follower);
    this.hear();
    void this.read();
  }

  has(session: string): boolean {
    return this.places.has(session);
  }

  /** How many sessions are read. */
  get size(): number {
    return this.places.size;
  }

  /** Whether nothing that it has not got has been read here already. */
  accepts({ session, cursor }: Follower): boolean {
    const at = this.places.get(session);
    return typeof at === "number" && cursor !== null && at <= cursor;
  }

  add(follower: Follower): void {
    this.followers.add(follower);
    if (this.isOpen) follower.port.post({ type: "open", sub: follower.sub });
  }

  /** A device that slept has run no timer. */
  isSilent(): boolean {
    return Date.now() - this.heardAt > lane_silence_ms;
  }

  close(): void {
    clearTimeout(this.silenceTimer);
    this.ending.abort();
  }

  private get isClosed(): boolean {
    return this.ending.signal.aborted;
  }

  /** A snapshot that broke off elsewhere begins anew here. */
  private begin(follower: Follower): void {
    if (follower.cursor === null && follower.begun) this.give(follower, { event: "reset", data: "{}", id: "" });
    follower.begun = false;
  }

  private async read(): Promise<void> {
    const { key, wanted } = this.options;
    const sessions = [...wanted].map(([id, after]) => (after === null ? id : `${id}:${after}`)).join(",");
    try {
      const response = await fetch(`${address("/api/stream", {})}?s=${encodeURIComponent(sessions)}`, {
        credentials: "same-origin",
        cache: "no-store",
        headers: key === null ? {} : { "x-voxpilot-key": key },
        signal: this.ending.signal,
      });
      if (!response.ok || !response.body) return this.end(response.status);
      this.open();
      const parse = createParser((frame) => this.receive(frame));
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        if (this.isClosed) return;
        this.hear();
        parse(decoder.decode(piece.value, { stream: true }));
      }
      this.end(null);
    } catch {
      this.end(null);
    }
  }

  private open(): void {
    if (this.isClosed) return;
    this.isOpen = true;
    for (const { port, sub } of this.followers) port.post({ type: "open", sub });
    this.options.onOpen();
  }

  private end(status: number | null): void {
    if (this.isClosed) return;
    this.close();
    this.options.onEnd(status);
  }

  private hear(): void {
    this.heardAt = Date.now();
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => this.end(null), lane_silence_ms);
  }

  private receive(frame: Frame): void {
    if (this.isClosed) return;
    if (frame.session === null) {
      if (frame.event === "keepalive") for (const follower of this.followers) this.give(follower, frame);
      this.options.onFrame(frame);
      return;
    }
    const followers = [...this.followers].filter(({ session }) => session === frame.session);
    if (frame.event === "gone") {
      this.places.delete(frame.session);
      for (const follower of followers) this.options.onGone(follower);
      return;
    }
    this.pass(frame, frame.session, followers);
    this.options.onMoved?.();
  }

  private pass(frame: Frame, session: string, followers: Follower[]): void {
    if (frame.event === "reset") {
      this.places.set(session, null);
      for (const follower of followers) {
        follower.cursor = null;
        this.give(follower, frame);
      }
      return;
    }
    const inSnapshot = this.places.get(session) === null;
    const at = frame.event === "ready" ? seqOf(frame) : frame.id === "" ? null : Number(frame.id);
    for (const follower of followers) {
      if (inSnapshot ? follower.cursor !== null : follower.cursor === null) continue;
      if (!inSnapshot && at !== null && at <= (follower.cursor ?? 0) && frame.event !== "ready") continue;
      this.give(follower, frame);
      if (at !== null && (!inSnapshot || frame.event === "ready")) follower.cursor = Math.max(at, follower.cursor ?? 0);
    }
    if (at !== null && (!inSnapshot || frame.event === "ready")) this.places.set(session, at);
  }

  private give(follower: Follower, { event, data, id }: Pick<Frame, "event" | "data" | "id">): void {
    if (follower.cursor === null) follower.begun = true;
    follower.port.post({ type: "frame", sub: follower.sub, event, data, id });
  }
}

function seqOf(frame: Frame): number | null {
  try {
    return Number(JSON.parse(frame.data).seq);
  } catch {
    return null;
  }
}
