import { createEffect, createSignal, For, type JSX, onCleanup, Show } from "solid-js";
import { sentence } from "../api/client";
import type { Session } from "../api/types";
import { watch_only, watchesOnly } from "../state/device";
import { activeId, activePage, type Page, pageHref } from "../state/route";
import type { Sessions } from "../state/sessions";
import { DeleteDialog } from "./DeleteDialog";
import { Icon } from "./Icon";
import { SessionRow } from "./SessionRow";
import type { LiveState } from "./SessionView";

interface SidebarProps {
  sessions: Sessions;
  /** How the open session stands, ahead of the list. */
  live: LiveState | null;
  /** On a phone: whether the drawer is open. */
  open: boolean;
  /** Matches where the sidebar is a drawer. */
  modal: MediaQueryList | undefined;
  onClose(): void;
  onStart(): Promise<void>;
  /** Somebody wants to see who is let in. */
  onDevices(): void;
  onRemoved(id: string): void;
}

export function Sidebar(props: SidebarProps) {
  const [isDrawer, setDrawer] = createSignal(props.modal?.matches ?? false);
  const [doomed, setDoomed] = createSignal<Session | null>(null);
  const [error, setError] = createSignal<string | null>(null);
  let panel: HTMLElement | undefined;

  const onChange = (event: MediaQueryListEvent) => setDrawer(event.matches);
  props.modal?.addEventListener("change", onChange);
  onCleanup(() => props.modal?.removeEventListener("change", onChange));

  let cameFrom: Element | null = null;
  createEffect(() => {
    if (!isDrawer()) return;
    if (props.open) {
      cameFrom = document.activeElement;
      panel?.querySelector<HTMLElement>("button")?.focus();
    } else if (cameFrom instanceof HTMLElement) {
      if (panel?.contains(document.activeElement)) cameFrom.focus();
      cameFrom = null;
    }
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && props.open && doomed() === null) props.onClose();
  };
  window.addEventListener("keydown", onKeyDown);
  onCleanup(() => window.removeEventListener("keydown", onKeyDown));

  const attempt = async (run: () => Promise<void>) => {
    setError(null);
    try {
      await run();
    } catch (reason) {
      setError(sentence(reason));
    }
  };

  return (
    <>
      <Show when={isDrawer() && props.open}>
        <button type="button" class="scrim" aria-label="Close the list of sessions" onClick={() => props.onClose()} />
      </Show>
      <nav
        ref={panel}
        class="sidebar"
        classList={{ open: props.open }}
        aria-label="Sessions"
        inert={isDrawer() && !props.open}
      >
        <div class="sidebar-head">
          <span class="brand">VoxPilot</span>
          <button
            type="button"
            class="button primary"
            disabled={watchesOnly()}
            title={watchesOnly() ? watch_only : undefined}
            onClick={() => attempt(props.onStart)}
          >
            <Icon name="plus" /> New session
          </button>
        </div>
        <PageLink page="conversations" onOpen={() => props.onClose()}>
          <Icon name="history" /> All conversations
        </PageLink>
        <Show when={error() ?? props.sessions.error()}>
          {(message) => (
            <p class="sidebar-error" role="alert">
              {message()}
            </p>
          )}
        </Show>
        <ul class="session-list">
          <For each={props.sessions.list}>
            {(session) => (
              <SessionRow
                session={session.id === activeId() && props.live ? { ...session, ...props.live } : session}
                active={session.id === activeId()}
                onOpen={() => props.onClose()}
                onRename={(title) => attempt(() => props.sessions.change(session.id, { title }))}
                onDelete={() => setDoomed(session)}
              />
            )}
          </For>
          <Show when={props.sessions.hasMore()}>
            <li>
              <button type="button" class="button small show-more" onClick={() => props.sessions.showMore()}>
                Show more
              </button>
            </li>
          </Show>
        </ul>
        <Show when={props.sessions.loaded() && props.sessions.list.length === 0}>
          <p class="sidebar-empty">No sessions yet. Your first message starts one.</p>
        </Show>
        <div class="sidebar-foot">
          <Show when={watchesOnly()}>
            <p class="sidebar-note">{watch_only}</p>
          </Show>
          <PageLink page="agents" onOpen={() => props.onClose()}>
            <Icon name="agents" /> Agents
          </PageLink>
          <button type="button" class="button small" onClick={() => props.onDevices()}>
            <Icon name="devices" /> Devices
          </button>
        </div>
      </nav>
      <Show when={doomed()} keyed>
        {(session) => (
          <DeleteDialog
            title={session.title}
            onCancel={() => setDoomed(null)}
            onConfirm={() =>
              attempt(async () => {
                setDoomed(null);
                await props.sessions.remove(session.id);
                props.onRemoved(session.id);
              })
            }
          />
        )}
      </Show>
    </>
  );
}

function PageLink(props: { page: Page; onOpen(): void; children: JSX.Element }) {
  return (
    <a
      class="button small page-link"
      href={pageHref(props.page)}
      aria-current={activePage() === props.page ? "page" : undefined}
      onClick={() => props.onOpen()}
    >
      {props.children}
    </a>
  );
}
