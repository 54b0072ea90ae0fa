// The one dot of each ending, in the list and in the conversation.

import type { Ending } from "../api/types";
import type { Status } from "./small";

export const endingDots: Record<Ending, Status> = {
  completed: "seen",
  stopped: "seen",
  declined: "seen",
  failed: "failed",
  crashed: "failed",
  refused: "failed",
  interrupted: "interrupted",
  limit: "interrupted",
  unknown: "unknown",
  in_use: "unknown",
  needs_sign_in: "waiting",
};
