import { createEffect, createSignal, on, onCleanup, onMount, Show } from "solid-js";
import { ApiError } from "../api/client";
import type { NewAttachment } from "../api/types";
import { Spinner } from "../kit/Spinner";
import { setFailedStart } from "../state/failedStart";
import { dropSession, freshSessions, makeSession } from "../state/fresh";
import { createOutbox } from "../state/outbox";
import { goTo } from "../state/route";
import { store } from "../state/storage";
import { addToDraft, addToDraftFiles, choices_name } from "./Composer";
import { Dock } from "./Dock";
import { focusComposerOnDesk } from "./keyboard";
import { OutboxList } from "./outboxPart";
import { Head } from "./SessionHeader";
import type { Shell } from "./shell";

/** A session that the server has not made yet: its first message waits here until it has. */
export function FreshSession(props: { id: string; shell: Shell }) {
  const { sessions } = props.shell;
  const fresh = () => freshSessions().find(({ id }) => id === props.id);
  let reason: unknown;
  const outbox = createOutbox(props.id, async () => {
    try {
      await makeSession(props.id);
    } catch (error) {
      reason = error;
      throw error;
    }
    void sessions.refresh();
    // From here on it is the session's own outbox that sends, under the same ids.
    return new Promise<never>(() => {});
  });
  onCleanup(() => outbox.close());
  // Somebody may go on writing while the session is made.
  onMount(focusComposerOnDesk);
  const [attempt, setAttempt] = createSignal(1);
  const giveBack = async (content: string, attachments: NewAttachment[]) => {
    addToDraft("new", content);
    await addToDraftFiles("new", attachments);
    setAttempt(attempt() + 1);
  };
  /** The server does not make it: what was written goes back to where it was written, with what was chosen. */
  const giveAllBack = async (error: string | null) => {
    const draft = fresh()?.draft;
    const written = [...outbox.items];
    for (const { clientId, content } of written) {
      addToDraft("new", content);
      await addToDraftFiles("new", await outbox.filesOf(clientId));
    }
    store(choices_name, JSON.stringify(draft ?? {}));
    const isProvider = reason instanceof ApiError && reason.code === "no_provider";
    setFailedStart({ text: error ?? "", model: isProvider ? (draft?.model ?? null) : null });
    for (const { clientId } of written) outbox.discard(clientId);
  };
  createEffect(
    on(
      () => outbox.items.find(({ state }) => state === "refused")?.error,
      (error) => error !== undefined && void giveAllBack(error),
    ),
  );
  // Nothing is left of it: then there is no session to make.
  createEffect(
    on(
      () => outbox.items.length,
      (count) => {
        if (count > 0 || !fresh()) return;
        dropSession(props.id);
        goTo(null);
      },
      { defer: true },
    ),
  );
  return (
    <>
      <Head>
        <div class="head-words">
          <h1 class="cut">{fresh()?.title}</h1>
        </div>
      </Head>
      <div class="log-frame">
        <p class="log-hint log-opening" role="status">
          <Spinner /> Starting the session…
        </p>
      </div>
      <Dock
        draftKey={props.id}
        attempt={attempt()}
        isRelay={false}
        running={false}
        stopping={false}
        placeholder="Add to it"
        onSend={(content, attachments) => outbox.send(content, attachments)}
        onStop={() => {}}
      >
        <Show when={outbox.items.length > 0}>
          <OutboxList outbox={outbox} onWithdrawn={giveBack} />
        </Show>
      </Dock>
    </>
  );
}
