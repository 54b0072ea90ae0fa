import {
  createEffect,
  createMemo,
  createSignal,
  For,
  getOwner,
  on,
  onCleanup,
  onMount,
  runWithOwner,
  Show,
  untrack,
} from "solid-js";
import type { NewAttachment } from "../api/types";
import { Icon } from "../kit/Icon";
import { insist, later } from "../kit/later";
import { Spinner } from "../kit/Spinner";
import { finding, setFinding } from "../state/finding";
import { goal } from "../state/goal";
import type { OpenSession } from "../state/openSession";
import { readingPlace } from "../state/readingPlace";
import { Entry } from "./Entry";
import { EntryView } from "./EntryView";
import { loadAllParts, loadParts } from "./parts";
import { usePath } from "./paths";
import { createStick } from "./stick";
import { tailOf } from "./tail";
import { createWindow } from "./window";

const FindBar = later(async () => (await import("./FindBar")).FindBar);

const load_older_px = 400;

interface LogProps {
  open: OpenSession;
  isRelay: boolean;
  stopping: boolean;
  /** Puts a message that was sent into the composer, to be sent as a new one. */
  onEdit?: (content: string, attachments: NewAttachment[]) => Promise<void>;
}

/** The conversation. */
export function Log(props: LogProps) {
  const stick = createStick();
  const owner = getOwner();
  onCleanup(() => setFinding(false));
  const state = props.open.state;
  const path = usePath();
  const drawn = createWindow(() => state.entries.length);
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
  onMount(() => {
    stick.attach(scroller, content);
    drawn.attach(scroller);
    // The question in the dock names files too.
    const pane = scroller.closest<HTMLElement>(".pane") ?? scroller;
    const links = insist(() => import("../viewer/chips")).then((chips) => chips.watchPaths(pane, props.open.id, path));
    onCleanup(() => void links.then((stop) => stop()));
  });
  const [isDrawn, setDrawn] = createSignal(false);
  let isOpening = false;
  const drawWithParts = () => {
    const draw = () => {
      setDrawn(true);
      loadAllParts();
    };
    const parts = untrack(() => loadParts(state));
    if (parts) void parts.then(draw);
    else draw();
  };
  createEffect(() => {
    if (!state.ready || isOpening) return;
    isOpening = true;
    const isElsewhere = untrack(() => goal()?.sessionId === props.open.id || readingPlace(props.open.id) !== null);
    const reading = insist(() => import("./reading")).then(({ createReading }) =>
      runWithOwner(owner, () =>
        createReading({ open: props.open, stick, scroller, isDrawn, insert: keepPlace, isElsewhere }),
      ),
    );
    // What is not to be seen at its end is fetched before anything is drawn.
    if (isElsewhere) void reading.then(drawWithParts);
    else drawWithParts();
  });
  // Whoever reads the end of a conversation that grew for days needs no more than its end.
  createEffect(
    on(
      () => state.entries.length,
      () => stick.atEnd() && !finding() && props.open.dropOldest(),
    ),
  );
  createEffect(
    on(
      () => [isDrawn(), state.epoch],
      ([drawn]) => {
        if (!drawn) return;
        // A later snapshot leaves somebody who reads further up where they are.
        if (stick.atEnd()) stick.toEnd();
        requestAnimationFrame(() => void loadOlder());
      },
    ),
  );
  /** Something has come since the reader left the end. */
  const [hasNew, setHasNew] = createSignal(false);
  const tail = createMemo(() => (state.ready ? tailOf(state) : null));
  createEffect(on(tail, (now, before) => before != null && now !== before && !stick.atEnd() && setHasNew(true)));
  createEffect(() => stick.atEnd() && setHasNew(false));
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
          <Show when={!isDrawn()}>
            <p class="log-hint log-opening">
              <Spinner /> Loading the conversation…
            </p>
          </Show>
          <Show when={isDrawn() && !props.open.gone() && state.entries.length === 0 && state.queue.length === 0}>
            <div class="log-empty">
              <h2>What should be done?</h2>
              <p>Describe a task below. The agent’s work streams in here, and it asks when it needs you.</p>
            </div>
          </Show>
          <For each={isDrawn() ? state.entries : []}>
            {(entry, index) => (
              <Entry window={drawn} id={entry.id} index={index()}>
                <EntryView
                  open={props.open}
                  entry={entry}
                  index={index()}
                  isRelay={props.isRelay}
                  stopping={props.stopping}
                  onEdit={props.onEdit}
                />
              </Entry>
            )}
          </For>
          <Show when={thinking()}>
            <p class="log-hint">
              <Spinner /> Working…
            </p>
          </Show>
        </div>
      </div>
      <Show when={finding() && isDrawn()}>
        <FindBar
          open={props.open}
          scroller={scroller}
          stick={stick}
          insert={keepPlace}
          onClose={() => setFinding(false)}
        />
      </Show>
      <Show when={!finding() && props.open.loadingOlder() && state.entries.length > 0}>
        <p class="log-loading" role="status">
          <Spinner /> Loading older messages…
        </p>
      </Show>
      <Show when={!stick.atEnd()}>
        <button type="button" class="to-end" classList={{ bare: !hasNew() }} onClick={() => stick.toEnd()}>
          <Icon name="down" />
          <span classList={{ "visually-hidden": !hasNew() }}>{hasNew() ? "New" : "Go to the end"}</span>
        </button>
      </Show>
    </div>
  );
}
