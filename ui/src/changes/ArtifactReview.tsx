import { createSignal } from "solid-js";
import { goTo } from "../state/route";
import { ReviewFrame } from "./ReviewPage";
import { createReview } from "./review";
import { artifactSource } from "./source";

/** What `git_diff` or `git_show` stored, in the same review. */
export function ArtifactReview(props: { artifactId: string }) {
  const [title, setTitle] = createSignal("Changes");
  const review = createReview(artifactSource(props.artifactId, setTitle));
  const leave = () => {
    const session = review.source.session();
    if (session !== null) goTo(session);
    else history.back();
  };
  return <ReviewFrame review={review} title={title()} onClose={leave} />;
}
