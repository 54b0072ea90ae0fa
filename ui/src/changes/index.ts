// What the shell shows of changes. All of it is loaded when it is first opened.

import { lazy } from "solid-js";

/** Beside the conversation. */
export const ChangesPanel = lazy(() =>
  import("./ChangesPanel").then(({ ChangesPanel }) => ({ default: ChangesPanel })),
);
/** A page of its own. */
export const ReviewPage = lazy(() => import("./ReviewPage").then(({ ReviewPage }) => ({ default: ReviewPage })));
/** The same for what `git_diff` and `git_show` have stored. */
export const ArtifactReview = lazy(() =>
  import("./ArtifactReview").then(({ ArtifactReview }) => ({ default: ArtifactReview })),
);
