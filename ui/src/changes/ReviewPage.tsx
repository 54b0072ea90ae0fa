import { createMemo, createResource, createSignal, onCleanup, untrack } from "solid-js";
import { Dynamic } from "solid-js/web";
import { api } from "../api/client";
import type { Since } from "../api/types";
import { openSession } from "../state/openSession";
import { createMedia, createVisits, phone_query } from "./look";
import { ReviewDesk } from "./ReviewDesk";
import { ReviewDialogs, type Wish } from "./ReviewDialogs";
import { ReviewPhone } from "./ReviewPhone";
import { createReview, type Review } from "./review";
import { sessionSource } from "./source";
import { changeNews } from "./summary";
import "./review.css";

/** Everything that a session changed, to be looked at, talked about, taken back and committed. */
interface ReviewPageProps {
  sessionId: string;
  /** Since when, and at which file, where somebody came from there. */
  since?: Since | undefined;
  file?: string | undefined;
  onClose(): void;
}

export function ReviewPage(props: ReviewPageProps) {
  const open = openSession(props.sessionId);
  onCleanup(() => open.close());
  // Agents tell of what they change; whoever was in an editor comes back.
  const visits = createVisits();
  const news = createMemo(() => `${changeNews(open.state)}/${visits()}`);
  const review = createReview(
    sessionSource(props.sessionId),
    { of: news, isTold: true },
    untrack(() => props.since),
  );
  const [session] = createResource(
    () => props.sessionId,
    (id) => api.session(id).catch(() => undefined),
  );
  return (
    <ReviewFrame
      review={review}
      title={session()?.title ?? "Changes"}
      commitIn={props.sessionId}
      firstFile={props.file}
      onClose={() => props.onClose()}
    />
  );
}

interface ReviewFrameProps {
  review: Review;
  title: string;
  /** The session whose work can be committed. */
  commitIn?: string;
  /** The one to begin with. */
  firstFile?: string | undefined;
  onClose(): void;
}

/** A review with its dialogs. */
export function ReviewFrame(props: ReviewFrameProps) {
  const isPhone = createMedia(phone_query);
  const [wish, setWish] = createSignal<Wish | null>(null);
  const isGit = () => props.review.changes()?.source === "git";
  const canRevert = () => props.review.source.work !== null;
  return (
    <>
      <Dynamic
        component={isPhone() ? ReviewPhone : ReviewDesk}
        review={props.review}
        title={props.title}
        firstFile={props.firstFile}
        onClose={() => props.onClose()}
        onSend={() => setWish("send")}
        onCommit={props.commitIn !== undefined && isGit() ? () => setWish("commit") : undefined}
        onRevert={canRevert() ? (file, hunk) => setWish({ file, hunk }) : undefined}
      />
      <ReviewDialogs
        review={props.review}
        wish={wish()}
        commitIn={props.commitIn}
        onClose={() => setWish(null)}
        onSent={() => props.onClose()}
      />
    </>
  );
}
