import { createEffect, For, Match, on, onMount, Show, Switch } from "solid-js";
import { fetchAgain } from "../state/attachments";
import { watchesOnly } from "../state/device";
import type {
  ArtifactEntry,
  CallEntry,
  EndingEntry,
  Entry,
  ErrorEntry,
  MessageEntry,
  NoticeEntry,
} from "../state/model";
import { isShown } from "../state/notices";
import type { OpenSession } from "../state/openSession";
import { brokenCall, isExplained, resume, sentWith } from "../state/resume";
import { answerTo, isEarlier, isLastEarlier, isRepetition, isStraight, spokenIn } from "../state/straight";
import { AgentTurn } from "./AgentTurn";
import { useAgentNames } from "./agentNames";
import { EndingView } from "./EndingView";
import { Icon } from "./Icon";
import { MessageView } from "./MessageView";
import { NoticeView } from "./NoticeView";
import { ReviewCard } from "./ReviewCard";
import { Spinner } from "./Spinner";
import { createStick } from "./stick";
import { ToolCallBlock } from "./ToolCallBlock";

const load_older_px = 400;

/** The conversation. */
export function Log(props: { open: OpenSession; isRelay: boolean; stopping: boolean }) {
  const stick = createStick();
  const state = props.open.state;
  let scroller!: HTMLDivElement;
  let content!: HTMLDivElement;

  /** What is read stays where it is, however much is put above it. */
  const keepPlace = (apply: () => void) => {
    const fromEnd = scroller.scrollHeight - scroller.scrollTop;
    // The browser must not do the same a second time.
    scroller.classList.add("prepending");
    apply();
    scroller.scrollTop = scroller.scrollHeight - fromEnd;
    requestAnimationFrame(() => scroller.classList.remove("prepending"));
  };
  const loadOlder = async (): Promise<void> => {
    if (!state.ready || !state.moreBefore || scroller.scrollTop > load_older_px || props.open.loadingOlder()) return;
    const oldest = state.oldestMessage;
    await props.open.loadOlder(keepPlace).catch(() => {});
    // A page that does not fill the view cannot be scrolled to ask for the next one.
    if (state.oldestMessage !== oldest && scroller.scrollHeight <= scroller.clientHeight) await loadOlder();
  };
  onMount(() => stick.attach(scroller, content));
  createEffect(
    on(
      () => [state.ready, state.epoch],
      ([ready]) => {
        if (!ready) return;
        // A later snapshot leaves somebody who reads further up where they are.
        if (stick.atEnd()) stick.toEnd();
        requestAnimationFrame(() => void loadOlder());
      },
    ),
  );
  // Whoever sends something wants to see it.
  createEffect(
    on(
      () => props.open.outbox.items.length,
      (count, before = 0) => count > before && stick.toEnd(),
      { defer: true },
    ),
  );

  const thinking = () => {
    const last = state.entries.at(-1);
    return state.runningTurn !== null && last?.kind === "message" && last.role === "user";
  };

  const names = useAgentNames();
  /** An agent that is talked to straight answers in its own name. */
  const author = (entry: Entry, index: number) => {
    const call = spokenIn(state.entries, index, state.calls);
    if (call) return names.of(call);
    return isEarlier(entry) ? names.own() : "VoxPilot";
  };
  const offer = (ending: EndingEntry) =>
    props.open.outbox.items.length === 0 && !watchesOnly() ? resume(state, ending, props.isRelay) : null;
  const sendAgain = async (content: string, turnId: string) => {
    props.open.outbox.send(content, await fetchAgain(props.open.id, content, sentWith(state, turnId)));
  };

  return (
    <div class="log-frame">
      <div
        ref={scroller}
        class="log"
        role="log"
        aria-label="Conversation"
        aria-busy={state.runningTurn !== null}
        tabindex="0"
        onScroll={() => void loadOlder()}
      >
        <div ref={content} class="log-content">
          <Show when={!state.ready}>
            <p class="log-hint log-opening">
              <Spinner /> Loading the conversation…
            </p>
          </Show>
          <Show when={state.ready && state.entries.length === 0 && state.queue.length === 0}>
            <div class="log-empty">
              <h2>What should be done?</h2>
              <p>Describe a task below. The agent’s work streams in here, and it asks when it needs you.</p>
            </div>
          </Show>
          <For each={state.entries}>
            {(entry, index) => (
              <Switch>
                <Match when={isRepetition(state.entries, index(), state.calls)}>{null}</Match>
                <Match when={entry.kind === "message"}>
                  <MessageView
                    entry={entry as MessageEntry}
                    sessionId={props.open.id}
                    author={author(entry, index())}
                  />
                  <Show when={isLastEarlier(state.entries, index())}>
                    <p class="earlier-end">Continued here from the agent’s own session</p>
                  </Show>
                </Match>
                <Match when={entry.kind === "call" && state.calls[entry.id]}>
                  {(call) => (
                    <Show
                      when={isStraight(call())}
                      fallback={
                        <ToolCallBlock
                          call={call()}
                          artifact={state.artifacts[call().artifactId ?? ""]}
                          waitsForLogin={state.login !== null}
                          stopping={props.stopping}
                          onStop={() => props.open.cancel((entry as CallEntry).id)}
                        />
                      }
                    >
                      <AgentTurn
                        call={call()}
                        answer={answerTo(state.entries, index())}
                        waitsForLogin={state.login !== null}
                        stopping={props.stopping}
                        onStop={() => props.open.cancel((entry as CallEntry).id)}
                      />
                    </Show>
                  )}
                </Match>
                <Match when={entry.kind === "artifact" && state.artifacts[(entry as ArtifactEntry).id]}>
                  {(artifact) => <ReviewCard artifact={artifact()} />}
                </Match>
                <Match when={entry.kind === "notice" && isShown(state, entry)}>
                  <NoticeView notice={(entry as NoticeEntry).notice} />
                </Match>
                <Match when={entry.kind === "ending"}>
                  <EndingView
                    ending={entry as EndingEntry}
                    isBroken={brokenCall(state, entry as EndingEntry) !== undefined}
                    isExplained={isExplained(state, entry as EndingEntry)}
                    resume={offer(entry as EndingEntry)}
                    onSend={(content) => props.open.outbox.send(content)}
                    onAgain={(content) => sendAgain(content, (entry as EndingEntry).turnId)}
                  />
                </Match>
                <Match when={entry.kind === "error"}>
                  <NoticeView notice={{ level: "error", title: "", text: (entry as ErrorEntry).message }} />
                </Match>
              </Switch>
            )}
          </For>
          <Show when={thinking()}>
            <p class="log-hint">
              <Spinner /> Working…
            </p>
          </Show>
        </div>
      </div>
      <Show when={props.open.loadingOlder() && state.entries.length > 0}>
        <p class="log-loading" role="status">
          <Spinner /> Loading older messages…
        </p>
      </Show>
      <Show when={!stick.atEnd()}>
        <button type="button" class="to-end" onClick={() => stick.toEnd()}>
          <Icon name="down" /> Latest
        </button>
      </Show>
    </div>
  );
}
