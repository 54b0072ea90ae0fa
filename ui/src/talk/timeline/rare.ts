// What few agents tell of: what draws it is loaded when it is there.

import type { Update } from "../../api/types";
import { later } from "../../kit/later";

export const RareUpdate = later(async () => (await import("./RareUpdate")).RareUpdate);

export const SubAgent = later(async () => (await import("./SubAgent")).SubAgent);

/** Only where nobody is asked. */
export const ApprovedList = later(async () => (await import("../ApprovedList")).ApprovedList);

/** The way to the rule that decided. */
export const ViewRule = later(async () => (await import("../RuleRow")).ViewRule);

/** Comes with the question that was denied. */
export const HeldLine = later(async () => (await import("../ask/HeldFoot")).HeldLine);

const types: Update["type"][] = ["compaction", "user_message", "content", "unknown", "rule"];

export const isRare = ({ type }: Update) => types.includes(type);
