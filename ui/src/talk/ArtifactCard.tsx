import type { ReviewArtifact } from "../api/types";
import { named_files } from "../changes/count";
import { later } from "../kit/later";

const ReviewCard = later(async () => (await import("../changes/ReviewCard")).ReviewCard);

const head_px = 42;
const line_px = 33;

/** A stored set of changes. It is drawn when what draws it is loaded, in the room that is kept for it: nothing below it moves. */
export function ArtifactCard(props: { artifact: ReviewArtifact }) {
  const lines = () => Math.min(props.artifact.files.length, named_files + 1);
  return (
    <div style={{ "min-height": `${head_px + lines() * line_px}px` }}>
      <ReviewCard artifact={props.artifact} />
    </div>
  );
}
