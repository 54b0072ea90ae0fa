import { createMemo, createResource, createSignal, onCleanup, Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import { api } from "../api/client";
import { openSession } from "../state/openSession";
import { CommitDialog } from "./CommitDialog";
import { createMedia, createVisits, phone_query } from "./look";
import { RevertDialog, type Reverting } from "./RevertDialog";
import { ReviewDesk } from "./ReviewDesk";
import { ReviewPhone } from "./ReviewPhone";
import { createReview, type Review } from "./review";
import { SendReview } from "./SendReview";
import { sessionSource } from "./source";
import { changeNews } from "./summary";
import "./review.css";

/** Everything that a session changed, to be looked at, talked about, taken back and committed. */
export function ReviewPage(props: { sessionId: string; onClose(): void }) {
  const open = openSession(props.sessionId);
  onCleanup(() => open.close());
  // Agents tell of what they change; whoever was in an editor comes back.
  const visits = createVisits();
  const news = createMemo(() => `${changeNews(open.state)}/${visits()}`);
  const review = createReview(sessionSource(props.sessionId), { of: news, isTold: true });
  const [session] = createResource(
    () => props.sessionId,
    (id) => api.session(id).catch(() => undefined),
  );
  return (
    <ReviewFrame
      review={review}
      title={session()?.title ?? "Changes"}
      commitIn={props.sessionId}
      onClose={() => props.onClose()}
    />
  );
}

interface ReviewFrameProps {
  review: Review;
  title: string;
  /** The session whose work can be committed. */
  commitIn?: string;
  onClose(): void;
}

/** A review with its dialogs. */
export function ReviewFrame(props: ReviewFrameProps) {
  const isPhone = createMedia(phone_query);
  const [isSending, setSending] = createSignal(false);
  const [isCommitting, setCommitting] = createSignal(false);
  const [reverting, setReverting] = createSignal<Reverting | null>(null);
  const isGit = () => props.review.changes()?.source === "git";
  const canRevert = () => props.review.source.work !== null;
  return (
    <>
      <Dynamic
        component={isPhone() ? ReviewPhone : ReviewDesk}
        review={props.review}
        title={props.title}
        onClose={() => props.onClose()}
        onSend={() => setSending(true)}
        onCommit={props.commitIn !== undefined && isGit() ? () => setCommitting(true) : undefined}
        onRevert={canRevert() ? (file, hunk) => setReverting({ file, hunk }) : undefined}
      />
      <Show when={isSending()}>
        <SendReview review={props.review} onClose={() => setSending(false)} onSent={() => props.onClose()} />
      </Show>
      <Show when={isCommitting() && props.commitIn}>
        {(id) => (
          <CommitDialog
            sessionId={id()}
            onClose={() => setCommitting(false)}
            onDone={() => {
              setCommitting(false);
              void props.review.refresh();
            }}
          />
        )}
      </Show>
      <Show when={reverting()} keyed>
        {(what) => <RevertDialog review={props.review} what={what} onClose={() => setReverting(null)} />}
      </Show>
    </>
  );
}
