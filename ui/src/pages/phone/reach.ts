// Whether a phone can reach this server: found out first, before anything is offered.

import { createSignal } from "solid-js";
import { sentence } from "../../api/client";
import { pagesApi } from "../../api/pages";
import type { Reach, ReachAddress } from "../../api/types";

export type Standing =
  | { kind: "looking" }
  | { kind: "checking"; address: ReachAddress }
  /** Without one it is the address of this page, which is open elsewhere too. */
  | { kind: "answers"; address?: ReachAddress }
  | { kind: "silent"; address: ReachAddress; problem: string }
  | { kind: "ways" }
  | { kind: "failed"; error: string };

export interface ReachState {
  standing: () => Standing;
  view: () => Reach | undefined;
  /** From the start: what there is, and whether it answers. */
  look(): Promise<void>;
  showWays(): void;
  /** Opens the address and finds out whether it answers. */
  turnOn(address: string): Promise<void>;
  turnOff(): Promise<void>;
}

/** `hostname` is where this page was loaded from. */
export function createReach(hostname: string): ReachState {
  const [standing, setStanding] = createSignal<Standing>({ kind: "looking" });
  const [view, setView] = createSignal<Reach>();
  let latest = 0;
  /** What is found out counts only if nobody asked for something else meanwhile. */
  const begin = () => {
    const own = ++latest;
    return (now: Standing) => own === latest && setStanding(now);
  };
  const check = async (addresses: ReachAddress[], put: (now: Standing) => unknown) => {
    let silent: Standing = { kind: "ways" };
    for (const address of addresses) {
      put({ kind: "checking", address });
      const { answers, problem } = await pagesApi.checkReach(address.url);
      if (answers) return void put({ kind: "answers", address });
      if (silent.kind === "ways") silent = { kind: "silent", address, problem: problem ?? "" };
    }
    put(silent);
  };
  const look = async () => {
    const put = begin();
    if (!isLoopback(hostname)) return void put({ kind: "answers" });
    put({ kind: "looking" });
    try {
      const found = await pagesApi.reach();
      setView(found);
      await check(found.addresses, put);
    } catch (error) {
      put({ kind: "failed", error: sentence(error) });
    }
  };
  return {
    standing,
    view,
    look,
    showWays: () => void begin()({ kind: "ways" }),
    async turnOn(address) {
      const put = begin();
      const found = await pagesApi.openNetwork(address);
      setView(found);
      await check(
        found.addresses.filter(({ url }) => url === found.network.url),
        put,
      );
    },
    async turnOff() {
      await pagesApi.closeNetwork();
      await look();
    },
  };
}

/** Nobody but this computer can open a page from there. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
