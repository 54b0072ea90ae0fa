// What the next steps below a bad ending need of the session. Who shows them is loaded when there is one.

import { createContext, useContext } from "solid-js";
import type { Agent, PermissionRequest, SessionChange, TraceFilter } from "../api/types";
import type { OpenSession } from "../state/openSession";

export interface SessionHands {
  open: OpenSession;
  isRelay(): boolean;
  agents(): Agent[];
  /** The agent of the session. */
  own(): string | undefined;
  change(fields: SessionChange): Promise<boolean>;
  /** Only the lines that are wanted. */
  showTraffic(wanted?: TraceFilter): void;
  /** The saved permissions, with one of them pointed out. */
  showRules(id?: string): void;
  /** Sends the message that began a turn once more, with all that went along with it. */
  sayAgain(turnId: string, content: string): Promise<void>;
}

export const NextStepsContext = createContext<SessionHands | null>(null);

export const useSessionHands = () => useContext(NextStepsContext);

/** Whether a request was denied and that can still be taken back. */
export function useHeld(): (request: PermissionRequest) => boolean {
  const hands = useSessionHands();
  return ({ request_id }) => hands?.open.state.holds[request_id] !== undefined;
}
