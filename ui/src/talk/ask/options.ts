// What people read on the answers to a question.

import type { PermissionRequest } from "../../api/types";

export type Option = PermissionRequest["options"][number];

const verbs: Record<Option["kind"], string> = {
  allow_once: "Allow",
  allow_always: "Always allow",
  reject_once: "Deny",
  reject_always: "Always deny",
  cancel: "Cancel",
  unknown: "Unknown",
};

/** By what the option means. Its name is the agent's, which may call an answer that allows "Deny". */
export const labelOf = (option: Option): string => option.label || verbs[option.kind];
