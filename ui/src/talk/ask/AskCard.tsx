import { createEffect, createSignal, type JSX, on, onCleanup, onMount, Show, useContext } from "solid-js";
import { IconButton } from "../../kit/Button";
import { createSettling, isTabbed, type Settling, shield, uncover } from "../../kit/deliberate";
import { AgentMark } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import { focusComposer } from "../../shell/keyboard";
import { HeldFoot } from "./HeldFoot";
import { Pager } from "./pager";

/** So much of what is asked has to be in sight for anybody to answer it. */
const seen_px = 40;

const fields = "input, textarea, select, [contenteditable]";
const pressables = "button, a, summary, [role='button']";

/** Whether a question can be answered at this moment, and how. */
export interface Gate extends Settling {
  /** Enough of what is asked is in sight. */
  isSeen(): boolean;
  /** Somebody clicked or tabbed into the card: its keys work. */
  isEngaged(): boolean;
}

interface AskCardProps {
  /** By which the pager knows it. */
  id: string;
  /** For everybody who does not see it. */
  label: string;
  title: string;
  /** Who asks: the agent and its session. */
  agent?: string;
  session?: string;
  why?: string | null | undefined;
  class?: string;
  /** Exactly what would be done. */
  children: JSX.Element;
  /** The answers; not to be had while what they answer is out of sight. */
  foot: (gate: Gate) => JSX.Element;
  /** A key that was pressed for this question; says whether it was an answer. */
  onKey?(key: string): boolean;
}

/** A question: who asks, what exactly, and the answers below it. */
export function AskCard(props: AskCardProps) {
  const pager = useContext(Pager);
  const [isSeen, setSeen] = createSignal(true);
  const [isEngaged, setEngaged] = createSignal(false);
  const gate: Gate = { ...createSettling(() => pager?.isCurrent(props.id) ?? true), isSeen, isEngaged };
  let card!: HTMLElement;
  let what!: HTMLDivElement;
  onMount(() => onCleanup(watchSight(what, setSeen)));
  onCleanup(() => {
    shield(card.getBoundingClientRect());
    if (card.contains(document.activeElement)) queueMicrotask(() => pager?.moveOn());
  });
  const held = () => pager?.heldUntil(props.id);
  // The buttons are covered, and one of them may have had the focus.
  createEffect(
    on(
      held,
      (until) => {
        const { activeElement } = document;
        if (until !== undefined && (activeElement === document.body || card.contains(activeElement)))
          card.focus({ preventScroll: true });
        uncover();
      },
      { defer: true },
    ),
  );
  /** A dialog of the card has its own presses and keys. */
  const isOwn = ({ target }: Event) => !(target instanceof Element && target.closest("dialog"));
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!isOwn(event) || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented)
      return;
    // The focus was brought here, and somebody goes on writing.
    if (!isEngaged() && target === card && /^[\p{L}\p{N}]$/u.test(event.key)) return focusComposer();
    if (held() !== undefined || !isEngaged() || !gate.takes(event) || !isSeen() || target?.closest(fields)) return;
    if (event.key === "Enter" && target?.closest(pressables)) return;
    if (props.onKey?.(event.key.toLowerCase())) event.preventDefault();
  };
  return (
    <article
      ref={card}
      class={`ask ${props.class ?? ""}`}
      classList={{ engaged: isEngaged() && held() === undefined, held: held() !== undefined }}
      tabindex="-1"
      aria-label={props.label}
      // What was meant for something else does not take the focus along.
      onMouseDown={(event) => isOwn(event) && !gate.isSettled() && event.preventDefault()}
      onClick={(event) => isOwn(event) && gate.takes(event) && setEngaged(card.contains(document.activeElement))}
      onFocusIn={() => gate.isSettled() && isTabbed() && setEngaged(true)}
      onFocusOut={(event) => !card.contains(event.relatedTarget as Node | null) && setEngaged(false)}
      onKeyDown={onKeyDown}
    >
      <Show when={pager}>
        {(pages) => (
          <button
            type="button"
            class="sheet-handle"
            aria-label="Put aside"
            onPointerDown={(event) => dragDown(event, card, () => pages().putAside())}
            onClick={(event) => gate.takes(event) && pages().putAside()}
          />
        )}
      </Show>
      <header>
        <Show when={props.agent}>{(agent) => <AgentMark agent={agent()} />}</Show>
        <h2>
          <Visible text={props.title} />
        </h2>
        <Show when={props.agent}>
          <span class="ask-who cut">
            <span class="robot">🤖 </span>
            <Visible text={props.agent ?? ""} />{" "}
            <span class="mono">
              [<Visible text={props.session ?? ""} />]
            </span>
          </span>
        </Show>
        <Show when={pager && pager.count() > 1 && pager}>
          {(pages) => (
            <span class="pager num">
              <IconButton icon="previous" label="Previous question" onClick={() => pages().go(-1)} />
              {pages().at() + 1} of {pages().count()}
              <IconButton icon="next" label="Next question" onClick={() => pages().go(1)} />
            </span>
          )}
        </Show>
      </header>
      <Show when={props.why}>
        {(why) => (
          <p class="ask-why">
            <Visible text={why()} />
          </p>
        )}
      </Show>
      <div ref={what} class="card-detail">
        {props.children}
      </div>
      <div class="ask-foot">
        {props.foot(gate)}
        <Show when={held()}>
          {(until) => (
            <HeldFoot
              class="held-foot"
              agent={props.agent ?? "The agent"}
              until={until()}
              onUndo={() => pager?.undo(props.id) ?? Promise.resolve()}
            />
          )}
        </Show>
      </div>
    </article>
  );
}

/** So far down, and it was meant. */
const drag_px = 64;

/** The sheet follows the finger, and goes where it was dragged far enough. */
function dragDown(event: PointerEvent, sheet: HTMLElement, onDragged: () => void): void {
  const handle = event.currentTarget as HTMLElement;
  const start = event.clientY;
  const way = (moved: PointerEvent) => Math.max(0, moved.clientY - start);
  const onMove = (moved: PointerEvent) => {
    sheet.style.translate = `0 ${way(moved)}px`;
  };
  const onEnd = (ended: PointerEvent) => {
    handle.removeEventListener("pointermove", onMove);
    handle.removeEventListener("pointerup", onEnd);
    handle.removeEventListener("pointercancel", onEnd);
    sheet.style.translate = "";
    if (ended.type === "pointerup" && way(ended) >= drag_px) onDragged();
  };
  handle.setPointerCapture(event.pointerId);
  handle.addEventListener("pointermove", onMove);
  handle.addEventListener("pointerup", onEnd);
  handle.addEventListener("pointercancel", onEnd);
}

/** Whether enough of an element is on the screen, also where a keyboard lies over a part of it. */
function watchSight(element: HTMLElement, tell: (seen: boolean) => void): () => void {
  if (typeof IntersectionObserver === "undefined") return () => {};
  const look = () => {
    const box = element.getBoundingClientRect();
    const view = window.visualViewport;
    const top = Math.max(0, view?.offsetTop ?? 0);
    const bottom = top + (view?.height ?? window.innerHeight);
    const shown = Math.min(box.bottom, bottom) - Math.max(box.top, top);
    // One that is not the question of now has no height, and no buttons to press.
    tell(box.height === 0 || shown >= Math.min(seen_px, box.height));
  };
  const observer = new IntersectionObserver(look, { threshold: [0, 0.1, 0.5, 1] });
  observer.observe(element);
  window.visualViewport?.addEventListener("resize", look);
  window.visualViewport?.addEventListener("scroll", look);
  return () => {
    observer.disconnect();
    window.visualViewport?.removeEventListener("resize", look);
    window.visualViewport?.removeEventListener("scroll", look);
  };
}
