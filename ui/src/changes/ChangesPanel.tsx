import { createSignal, onCleanup, onMount, Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import { Button, IconButton } from "../kit/Button";
import { PlusMinus } from "../kit/small";
import { filesWords } from "./count";
import { coverPane } from "./cover";
import { FileList } from "./FileList";
import { createMedia, phone_query } from "./look";
import { ReviewDialogs, type Wish } from "./ReviewDialogs";
import { createReview } from "./review";
import { SinceMenu } from "./SinceMenu";
import { States } from "./States";
import { sessionSource } from "./source";
import { changesNews } from "./summary";
import "./review.css";

interface ChangesPanelProps {
  sessionId: string;
  onClose(): void;
  onReview(): void;
}

/** What changed, beside the conversation. */
export function ChangesPanel(props: ChangesPanelProps) {
  let panel!: HTMLElement;
  const review = createReview(sessionSource(props.sessionId), { of: changesNews, isTold: false });
  const isPhone = createMedia(phone_query);
  const [isSplit, setSplit] = createSignal(false);
  const [wish, setWish] = createSignal<Wish | null>(null);
  const changes = () => review.changes();
  const pending = () => review.comments().length;
  const isGit = () => changes()?.source === "git";
  const mode = () => (isPhone() ? "narrow" : isSplit() ? "split" : "unified");
  onMount(() => {
    const listen = (event: KeyboardEvent) => {
      // A dialog above it has keys of its own.
      if (event.defaultPrevented || (event.target as Element).closest("dialog")) return;
      const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey) && pending() > 0;
      if (event.key !== "Escape" && !isSend) return;
      event.preventDefault();
      event.stopPropagation();
      if (isSend) setWish("send");
      else props.onClose();
    };
    panel.addEventListener("keydown", listen);
    const uncover = coverPane(panel);
    onCleanup(() => {
      uncover();
      panel.removeEventListener("keydown", listen);
    });
  });
  return (
    <aside ref={panel} class="changes-panel" tabindex="-1" aria-label="Changes">
      <header class="panel-head">
        <Dynamic component={isPhone() ? "h1" : "h2"}>Changes</Dynamic>
        <SinceMenu review={review} />
        <span class="grow" />
        <Show when={!isPhone()}>
          <IconButton icon="split" label="Split view" aria-pressed={isSplit()} onClick={() => setSplit(!isSplit())} />
        </Show>
        <IconButton icon="out" label="Open the full review" onClick={() => props.onReview()} />
        <IconButton icon="close" label="Close changes" onClick={() => props.onClose()} />
      </header>
      <States review={review}>
        <FileList review={review} mode={mode()} onRevert={(file, hunk) => setWish({ file, hunk })} />
      </States>
      <Show when={(changes()?.total_files ?? 0) > 0 && changes()}>
        {(known) => (
          <footer class="panel-foot">
            <span class="soft num">{filesWords(known().total_files)}</span>
            <PlusMinus additions={known().total_additions} deletions={known().total_deletions} />
            <span class="grow" />
            <Show when={isGit()}>
              <Button small kind="quiet" onClick={() => setWish("commit")}>
                Commit
              </Button>
            </Show>
            <Button small onClick={() => props.onReview()}>
              Review
            </Button>
            <Show when={pending() > 0}>
              <Button small kind="main" onClick={() => setWish("send")}>
                Send review <span class="num">{pending()}</span>
              </Button>
            </Show>
          </footer>
        )}
      </Show>
      <ReviewDialogs
        review={review}
        wish={wish()}
        commitIn={props.sessionId}
        onClose={() => setWish(null)}
        onSent={() => {
          setWish(null);
          void review.refresh();
        }}
      />
    </aside>
  );
}
