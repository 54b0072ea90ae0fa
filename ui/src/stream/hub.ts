// Reads one stream for all the tabs of a browser. It runs in a shared worker, or in one of the tabs.
//
// All sessions share one request. It is opened anew when the set of them changes, each from where its followers are, so nothing is
// lost and nothing comes twice. A tab that needs what the others have had already, a snapshot above all, gets it by a request of its
// own until it has caught up.

import { type Follower, Lane, type Port } from "./lane";
import type { ToHub } from "./protocol";
import type { Frame } from "./sse";

/** Tabs that begin together are served together. */
export const gather_ms = 30;
const shrink_ms = 1_000;
const first_delay_ms = 200;
const longest_delay_ms = 5_000;
/** Of the six connections that a browser has over HTTP/1.1. */
const most_joining = 2;
/** As many as the server lets into one stream. */
const most_sessions = 64;

export class Hub {
  private main: Lane | null = null;
  /** The stream that `main` takes over from, until it is open. */
  private leaving: Lane | null = null;
  private readonly followers = new Set<Follower>();
  private readonly joining = new Map<Follower, Lane>();
  private readonly rows = new Set<Port>();
  private key: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = Number.POSITIVE_INFINITY;
  private delay_ms = first_delay_ms;
  /** The server has no stream of several sessions. */
  private isUnknown = false;

  connect(port: Port): (message: ToHub) => void {
    return (message) => {
      if (message.type === "follow") this.follow(port, message);
      else if (message.type === "leave") this.leave(port, message.sub);
      else if (message.type === "rows") this.setRows(port, message.on, message.key);
      else if (message.type === "bye") this.disconnect(port);
    };
  }

  disconnect(port: Port): void {
    this.rows.delete(port);
    for (const follower of [...this.followers]) if (follower.port === port) this.drop(follower);
    this.reopenIn(shrink_ms);
  }

  /** The network is another one: what is open may be dead. */
  restart(): void {
    if (this.main) this.endMain(this.main, null);
  }

  close(): void {
    clearTimeout(this.timer);
    if (this.main) this.endMain(this.main, null);
    for (const follower of [...this.followers]) this.refuse(follower, false);
    clearTimeout(this.timer);
  }

  private follow(port: Port, { sub, session, after, key }: Extract<ToHub, { type: "follow" }>): void {
    port.post({ type: "taken", sub });
    const sessions = new Set([...this.followers].map((known) => known.session)).add(session);
    if (this.isUnknown || sessions.size > most_sessions) {
      port.post({ type: "alone", sub });
      return;
    }
    this.key = key;
    if (this.main?.isSilent()) this.endMain(this.main, null);
    const follower: Follower = { port, sub, session, cursor: after, begun: false };
    this.followers.add(follower);
    if (this.main?.accepts(follower)) this.main.add(follower);
    else this.reopenIn(gather_ms);
  }

  private leave(port: Port, sub: number): void {
    for (const follower of this.followers) {
      if (follower.port === port && follower.sub === sub) this.drop(follower);
    }
    this.reopenIn(shrink_ms);
  }

  private setRows(port: Port, on: boolean, key: string | null): void {
    this.key = key;
    if (on) this.rows.add(port);
    else this.rows.delete(port);
    if (!on) this.reopenIn(shrink_ms);
    else if (!this.main) this.reopenIn(gather_ms);
    else if (this.main.isOpen || this.leaving) port.post({ type: "rows-open" });
  }

  private drop(follower: Follower): void {
    this.followers.delete(follower);
    this.main?.followers.delete(follower);
    this.joining.get(follower)?.close();
    this.joining.delete(follower);
  }

  private refuse(follower: Follower, refused: boolean): void {
    this.drop(follower);
    follower.port.post({ type: "closed", sub: follower.sub, refused });
  }

  private reopenIn(delay_ms: number): void {
    const at = Date.now() + delay_ms;
    if (at >= this.dueAt) return;
    this.dueAt = at;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.dueAt = Number.POSITIVE_INFINITY;
      this.reopen();
    }, delay_ms);
  }

  /** Who can share the one request, from where each session goes on; who cannot, catches up by another. */
  private reopen(): void {
    const wanted = new Map<string, number | null>();
    const sharing: Follower[] = [];
    const apart: Follower[] = [];
    for (const followers of bySession(this.followers)) {
      const session = followers[0]?.session ?? "";
      const there = followers.filter((follower) => this.main?.followers.has(follower));
      const known = followers.filter(({ cursor }) => cursor !== null);
      const fresh = followers.filter((follower) => !this.joining.has(follower));
      // Whoever is on it stays; else all that go on somewhere; else all that begin.
      const chosen = there.length > 0 ? there : known.length > 0 ? known : fresh;
      apart.push(...fresh.filter((follower) => !chosen.includes(follower)));
      if (chosen.length === 0) continue;
      sharing.push(...chosen);
      const cursors = chosen.flatMap(({ cursor }) => cursor ?? []);
      wanted.set(session, cursors.length === 0 ? null : Math.min(...cursors));
    }
    if (!this.isServed(wanted, sharing)) this.openMain(wanted, sharing);
    for (const follower of apart.slice(0, most_joining - this.joining.size)) this.join(follower);
  }

  /** Whether the stream that is open has just these sessions, and everybody is on it. */
  private isServed(wanted: Map<string, number | null>, sharing: Follower[]): boolean {
    const { main } = this;
    if (!main) return wanted.size === 0 && this.rows.size === 0;
    if (this.followers.size === 0 && this.rows.size === 0) return false;
    return main.size === wanted.size && sharing.every((follower) => main.followers.has(follower));
  }

  private openMain(wanted: Map<string, number | null>, followers: Follower[]): void {
    this.stepDown();
    for (const follower of followers) {
      this.joining.get(follower)?.close();
      this.joining.delete(follower);
    }
    if (wanted.size === 0 && this.rows.size === 0) {
      this.quit();
      return;
    }
    const main: Lane = new Lane({
      key: this.key,
      wanted,
      followers,
      onOpen: () => {
        this.delay_ms = first_delay_ms;
        // Also where the old stream was heard until now: what was still on its way there is lost with it.
        for (const port of this.rows) port.post({ type: "rows-open" });
        this.quit();
      },
      onFrame: (frame) => this.tell(frame),
      onMoved: () => this.takeOver(),
      onGone: (follower) => this.refuse(follower, true),
      onEnd: (status) => this.endMain(main, status),
    });
    this.main = main;
  }

  private quit(): void {
    this.leaving?.close();
    this.leaving = null;
  }

  /** The list is heard on the old stream until the new one is there, so that a row comes as soon as it can. */
  private stepDown(): void {
    const { main } = this;
    this.main = null;
    if (main?.isOpen) {
      main.followers.clear();
      this.quit();
      this.leaving = main;
    } else main?.close();
  }

  private tell({ event, data }: Frame): void {
    const type = event === "sessions" ? "row" : event === "sessions-gone" ? "row-gone" : null;
    if (type) for (const port of this.rows) port.post({ type, data });
  }

  /** The tabs come back by themselves, each when it thinks fit; for the list it is done here. */
  private endMain(main: Lane, status: number | null): void {
    main.close();
    if (this.leaving === main) this.leaving = null;
    if (this.main !== main) return;
    this.quit();
    this.main = null;
    if (status === 404) {
      this.giveUp();
      return;
    }
    for (const follower of [...main.followers]) this.refuse(follower, status !== null);
    for (const port of this.rows) port.post({ type: "rows-closed" });
    this.reopenIn(this.delay_ms);
    this.delay_ms = Math.min(this.delay_ms * 2, longest_delay_ms);
  }

  private giveUp(): void {
    this.isUnknown = true;
    for (const follower of [...this.followers]) {
      this.drop(follower);
      follower.port.post({ type: "alone", sub: follower.sub });
    }
    for (const port of this.rows) port.post({ type: "rows-closed" });
    this.rows.clear();
  }

  /** Those that have caught up go over to the shared stream; where that is ahead, their own goes on until it is not. */
  private takeOver(): void {
    for (const [follower, lane] of this.joining) {
      if (follower.cursor === null) continue;
      const isTaken = this.main?.accepts(follower) ?? false;
      if (isTaken) this.main?.add(follower);
      else if (this.main?.has(follower.session)) continue;
      lane.close();
      this.joining.delete(follower);
      this.reopenIn(gather_ms);
    }
  }

  private join(follower: Follower): void {
    const lane = new Lane({
      key: this.key,
      wanted: new Map([[follower.session, follower.cursor]]),
      followers: [follower],
      onOpen: () => {},
      onFrame: () => {},
      onMoved: () => this.takeOver(),
      onGone: () => {
        this.refuse(follower, true);
        this.reopenIn(gather_ms);
      },
      onEnd: (status) => {
        this.refuse(follower, status !== null);
        this.reopenIn(gather_ms);
      },
    });
    this.joining.set(follower, lane);
  }
}

function bySession(followers: Iterable<Follower>): Follower[][] {
  const groups = new Map<string, Follower[]>();
  for (const follower of followers) {
    const group = groups.get(follower.session);
    if (group) group.push(follower);
    else groups.set(follower.session, [follower]);
  }
  return [...groups.values()];
}
