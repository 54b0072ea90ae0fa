// What the server says of itself: the project, the policy of new sessions, its disk.

import { createSignal, onCleanup } from "solid-js";
import { api } from "../api/client";
import type { Policy, ServerInfo } from "../api/types";
import { keepLooking } from "./look";

const poll_ms = 60_000;

export interface ServerState {
  info: () => ServerInfo | null;
  refresh(): void;
  /** The policy that new sessions get from now on. */
  choose(policy: Policy): Promise<void>;
}

export function createServerState(): ServerState {
  const [info, setInfo] = createSignal<ServerInfo | null>(null);
  const refresh = () =>
    void api.server().then(setInfo, () => {
      // What was known stays; the next look asks again.
    });
  keepLooking(refresh);
  const timer = setInterval(() => document.visibilityState === "visible" && refresh(), poll_ms);
  onCleanup(() => clearInterval(timer));
  return {
    info,
    refresh,
    async choose(policy) {
      await api.choosePolicy(policy);
      setInfo((before) => before && { ...before, permission_policy: policy, policy_chosen: true });
      refresh();
    },
  };
}

/** What holds where nobody has chosen: with a main AI, or in straight talk. */
export function defaultPolicyOf(isRelay: boolean, info: ServerInfo | null): Policy | null {
  return (isRelay ? info?.relay_policy : info?.permission_policy) ?? null;
}
