import { createSignal, type JSX, onCleanup, onMount, Show } from "solid-js";
import { IconButton } from "../kit/Button";
import { Logo } from "../kit/Icon";
import { insist } from "../kit/later";
import { Toasts } from "../kit/toasts";
import { route } from "../state/route";
import { readStored, store } from "../state/storage";
import { FootLinks, LinkState } from "./Sidebar";

interface FrameProps {
  /** On a phone the list is a page of its own, with the composer of a new session beneath it. */
  isHome: boolean;
  needsYou: boolean;
  isConnected: boolean;
  top: JSX.Element;
  sidebar: (hide: () => void) => JSX.Element;
  /** A third pane, where there is one. */
  panel: JSX.Element;
  hasPanel: boolean;
  children: JSX.Element;
  onFresh(): void;
  onSearch(): void;
  /** A session is open; from it one wipes to the next or the previous one. */
  isSession: boolean;
  onSwipe(step: 1 | -1): void;
}

const hidden_name = "sidebar";

/** The panes of the page: the list, what is open, and beside it what changed. */
export function Frame(props: FrameProps) {
  const [isAway, setAway] = createSignal(readStored(hidden_name) === "hidden");
  /** A review needs the room; who wants the list beside it has it for that long. */
  const [isBesideReview, setBesideReview] = createSignal(false);
  const isReview = () => route().kind === "review";
  const isHidden = () => (isReview() ? !isBesideReview() : isAway());
  const hide = (hidden: boolean) => {
    if (isReview()) setBesideReview(!hidden);
    else {
      setAway(hidden);
      store(hidden_name, hidden ? "hidden" : "");
    }
    queueMicrotask(() =>
      document.querySelector<HTMLElement>(hidden ? ".rail [aria-label='Show sidebar']" : ".side-hide")?.focus(),
    );
  };
  let frame!: HTMLDivElement;
  onMount(() => {
    // Only a finger needs it.
    if (navigator.maxTouchPoints > 0) {
      const watching = insist(() => import("../kit/swipe")).then(({ watchSwipes }) =>
        watchSwipes(frame, { isOn: () => props.isSession, onSwipe: (step) => props.onSwipe(step) }),
      );
      onCleanup(() => void watching.then((stop) => stop()));
      const fitting = insist(() => import("./screenKeyboard")).then(({ watchKeyboard }) => watchKeyboard());
      onCleanup(() => void fitting.then((stop) => stop()));
    }
  });
  return (
    <div
      ref={frame}
      class="app"
      classList={{
        railed: isHidden(),
        "at-home": props.isHome,
        "with-panel": props.hasPanel,
      }}
    >
      <div class="top">{props.top}</div>
      <Show when={isHidden()}>
        <nav class="rail" aria-label="Shortcuts">
          <Logo />
          <IconButton icon="panel" label="Show sidebar" onClick={() => hide(false)}>
            <Show when={props.needsYou}>
              <span class="rail-badge">
                <span class="visually-hidden">something needs you</span>
              </span>
            </Show>
          </IconButton>
          <IconButton icon="new" label="New session" onClick={() => props.onFresh()} />
          <IconButton icon="search" label="Search" onClick={() => props.onSearch()} />
          <span class="rail-foot">
            <FootLinks />
            <span class="rail-state">
              <LinkState isConnected={props.isConnected} short />
            </span>
          </span>
        </nav>
      </Show>
      {props.sidebar(() => hide(true))}
      {props.children}
      <Show when={props.hasPanel}>
        <div class="panel">{props.panel}</div>
      </Show>
      <Toasts />
    </div>
  );
}
