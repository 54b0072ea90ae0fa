// What the shell shows of changes. All of it is loaded when it is first opened.

import { later } from "../kit/later";

/** Beside the conversation. */
export const ChangesPanel = later(async () => (await import("./ChangesPanel")).ChangesPanel);
/** A page of its own. */
export const ReviewPage = later(async () => (await import("./ReviewPage")).ReviewPage);
/** The same for what `git_diff` and `git_show` have stored. */
export const ArtifactReview = later(async () => (await import("./ArtifactReview")).ArtifactReview);
