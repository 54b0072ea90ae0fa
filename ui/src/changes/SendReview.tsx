import { createResource, createSignal, For, onCleanup, onMount, Show } from "solid-js";
import type { Verdict } from "../api/types";
import { Button } from "../kit/Button";
import { Dialog } from "../kit/Dialog";
import { Icon } from "../kit/Icon";
import { InlineError } from "../kit/InlineError";
import { Menu } from "../kit/Menu";
import { MenuItem } from "../kit/MenuList";
import { Kbd } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { readStored, store } from "../state/storage";
import { visible } from "../state/visible";
import type { Review } from "./review";
import { type Receiver, receivers } from "./source";
import { commentsWords } from "./words";

const verdicts: { value: Verdict; title: string; text: string }[] = [
  { value: "changes", title: "Ask for changes", text: "The agent goes on with your comments." },
  { value: "comment", title: "Comment only", text: "It answers and leaves the code alone." },
  { value: "approve", title: "Looks good", text: "Commit, or open a pull request." },
];

/** What is being written, kept until it is sent. The id makes a second try the same message. */
interface Sending {
  summary: string;
  verdict: Verdict;
  to: string | null;
  client_id: string;
}

function readSending(name: string): Sending {
  const fresh: Sending = { summary: "", verdict: "changes", to: null, client_id: crypto.randomUUID() };
  try {
    return { ...fresh, ...JSON.parse(readStored(name) ?? "{}") };
  } catch {
    return fresh;
  }
}

export function SendReview(props: { review: Review; onClose(): void; onSent(): void }) {
  const name = `review.${props.review.source.key}.sending`;
  const [sending, setSending] = createSignal(readSending(name));
  const change = (part: Partial<Sending>) => {
    setSending({ ...sending(), ...part });
    store(name, JSON.stringify(sending()));
  };
  const session = props.review.source.session();
  const [agents] = createResource(
    () => session,
    (id) => receivers(id).catch((): Receiver[] => []),
  );
  const receiver = () => agents()?.find(({ name }) => name === sending().to) ?? agents()?.[0];
  const count = () => props.review.comments().length;
  const { busy, error, submit } = createSubmit();
  const canSend = () => !busy() && (count() > 0 || sending().summary.trim() !== "" || sending().verdict === "approve");
  const send = async () => {
    if (!canSend()) return;
    const { summary, verdict, client_id } = sending();
    const to = receiver()?.name ?? null;
    const body = { verdict, summary: summary.trim(), client_id, ...(to === null ? {} : { to }) };
    // What was written and not yet added belongs to it.
    const written = props.review.drafts.list.filter((draft) => draft.text.trim() !== "");
    const isSent = await submit(async () => {
      for (const draft of written) await props.review.save(draft);
      await props.review.source.calls.submit(body);
    });
    if (!isSent) return;
    store(name, "");
    props.onSent();
  };
  // From anywhere in it: its cross has the focus at first.
  onMount(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void send();
    };
    document.addEventListener("keydown", listen);
    onCleanup(() => document.removeEventListener("keydown", listen));
  });
  return (
    <Dialog class="send-review" title="Send review" onClose={() => props.onClose()}>
      <div class="send-form">
        <textarea
          class="field"
          aria-label="Summary"
          placeholder="What you think of it, in a sentence"
          maxLength={10_000}
          value={sending().summary}
          onInput={(event) => change({ summary: event.currentTarget.value })}
        />
        <fieldset>
          <legend class="visually-hidden">Verdict</legend>
          <For each={verdicts}>
            {(verdict) => (
              <label class="choice">
                <input
                  type="radio"
                  name="verdict"
                  checked={sending().verdict === verdict.value}
                  onChange={() => change({ verdict: verdict.value })}
                />
                <span>
                  <b>{verdict.title}</b>
                  <span class="soft">{verdict.text}</span>
                </span>
              </label>
            )}
          </For>
        </fieldset>
        <InlineError message={error()} />
        <div class="send-foot">
          <span class="mute">To</span>
          <Menu
            label="To"
            button={(button) => (
              <button type="button" class="pill since-pill" {...button}>
                <Show when={receiver()?.name}>
                  <Icon name="agents" size="small" />
                </Show>
                <span class="cut">{visible(receiver()?.text ?? "…")}</span>
                <Icon name="more" size="small" />
              </button>
            )}
          >
            {(close) => (
              <For each={agents()}>
                {(title) => (
                  <MenuItem
                    chosen={title.name === (receiver()?.name ?? null)}
                    onChoose={() => {
                      close();
                      change({ to: title.name });
                    }}
                  >
                    {visible(title.text)}
                  </MenuItem>
                )}
              </For>
            )}
          </Menu>
          <span class="grow" />
          <Button kind="main" disabled={!canSend()} onClick={() => void send()}>
            {count() === 0 ? "Send" : `Send ${commentsWords(count())}`} <Kbd keys="Ctrl ↵" />
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
