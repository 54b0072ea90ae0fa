import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from "solid-js";
import { list as rowsApi } from "../api/list";
import type { Row } from "../api/types";
import { Button } from "../kit/Button";
import { InlineError } from "../kit/InlineError";
import { Dot } from "../kit/small";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { freshSessions } from "../state/fresh";
import { activeId, sessionHref } from "../state/route";
import type { Group } from "../state/rows";
import type { SessionActions } from "./SessionMenu";
import { SessionRow } from "./SessionRow";

interface SessionListProps {
  rows: Row[];
  groups: Group[];
  loaded: boolean;
  hasMore: boolean;
  actions: SessionActions;
  renaming: string | null;
  onRenamed(id: string, title: string | null): void;
  onMore(): void;
}

/** What is under way is counted in place. */
export function createNow(): () => number {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => document.visibilityState === "visible" && setNow(Date.now()), 1_000);
  onCleanup(() => clearInterval(timer));
  return now;
}

export function SessionList(props: SessionListProps) {
  const now = createNow();
  const [isHeld, setHeld] = createSignal(false);
  const [stop, setStop] = createSignal<string | null>(null);
  const [archived, setArchived] = createSignal<Row[] | null>(null);
  const { busy, error, submit } = createSubmit();
  let box!: HTMLDivElement;

  const byId = createMemo(() => new Map([...(archived() ?? []), ...props.rows].map((row) => [row.id, row])));
  /** Under the pointer nothing moves from one group to another; what is new waits until it has left. */
  const groups = createMemo<Group[]>((before) => (isHeld() && before.length > 0 ? before : props.groups), []);
  const shown = createMemo(() => {
    const kept = groups().map(({ name, ids }) => ({ name, ids: ids.filter((id) => byId().has(id)) }));
    return kept.filter(({ ids }) => ids.length > 0);
  });
  /** Where Tab enters the list: what was last gone to by keys, else what is open, else the first. */
  const tabStop = createMemo(() => {
    const ids = shown().flatMap((group) => group.ids);
    return [stop(), activeId()].find((id) => id !== null && ids.includes(id)) ?? ids[0] ?? null;
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
    const links = [...box.querySelectorAll<HTMLElement>(".session-link")];
    const row = (event.target as HTMLElement).closest(".session-row");
    const at = links.findIndex((link) => row?.contains(link));
    const next = {
      ArrowDown: links[at + 1],
      ArrowUp: links[Math.max(0, at - 1)],
      Home: links[0],
      End: links.at(-1),
      ArrowRight: row?.querySelector<HTMLElement>(".row-more") ?? undefined,
      ArrowLeft: links[at],
    }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  /** A row that moves loses the focus to nobody; it gets it back. */
  let focused: string | null = null;
  const onPress = (event: Event) => {
    if (!box.contains(event.target as Node)) focused = null;
  };
  document.addEventListener("pointerdown", onPress, true);
  onCleanup(() => document.removeEventListener("pointerdown", onPress, true));
  const focusLink = (id: string) => box.querySelector<HTMLElement>(`[href="${sessionHref(id)}"]`)?.focus();
  createEffect(
    on(shown, () => {
      const id = focused;
      if (id !== null && document.activeElement === document.body) queueMicrotask(() => focusLink(id));
    }),
  );
  const openArchive = () => submit(async () => setArchived((await rowsApi.archived()).sessions));

  const row = (id: string, old: boolean) => (
    <Show when={byId().get(id)}>
      {(session) => (
        <SessionRow
          session={session()}
          active={id === activeId()}
          isStop={id === tabStop()}
          old={old}
          now={now()}
          renaming={props.renaming === id}
          actions={props.actions}
          onRenamed={(title) => {
            props.onRenamed(id, title);
            queueMicrotask(() => focusLink(id));
          }}
        />
      )}
    </Show>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys go from one link to the next
    <div
      ref={box}
      class="session-list"
      onPointerEnter={(event) => event.pointerType === "mouse" && setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={(event) => {
        const link = (event.target as HTMLElement).closest(".session-row")?.querySelector(".session-link");
        focused = link?.getAttribute("href")?.split("/").at(-1) ?? null;
        setStop(focused);
      }}
      onFocusOut={(event) => {
        if (event.relatedTarget) focused = null;
      }}
      onKeyDown={onKeyDown}
    >
      <Show when={freshSessions().length > 0}>
        <h2>Not sent yet</h2>
        <ul>
          <For each={freshSessions()}>
            {(fresh) => (
              <li class="session-row" classList={{ active: fresh.id === activeId() }}>
                <a class="session-link" href={sessionHref(fresh.id)}>
                  <Dot status="seen" />
                  <span class="session-title cut">
                    <Visible text={fresh.title} />
                  </span>
                </a>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <For each={shown().map(({ name }) => name)}>
        {(name) => {
          const ids = createMemo(() => shown().find((group) => group.name === name)?.ids ?? []);
          return (
            <>
              <h2>
                {name}{" "}
                <Show when={name === "Needs you" || name === "Running"}>
                  <span class="num">{ids().length}</span>
                </Show>
              </h2>
              <ul aria-label={name}>
                <For each={ids()}>{(id) => row(id, name === "Earlier")}</For>
              </ul>
            </>
          );
        }}
      </For>
      <Show when={props.loaded && props.rows.length === 0 && freshSessions().length === 0}>
        <p class="list-note">No sessions yet. Your first message starts one.</p>
      </Show>
      <div class="list-end">
        <Show when={props.hasMore}>
          <Button kind="quiet" small onClick={() => props.onMore()}>
            Show more
          </Button>
        </Show>
        <Show when={props.rows.length > 0 || archived()}>
          <Button
            kind="quiet"
            small
            disabled={busy()}
            aria-expanded={archived() !== null}
            onClick={() => (archived() ? setArchived(null) : void openArchive())}
          >
            {archived() ? "Hide archived" : "Show archived"}
          </Button>
        </Show>
      </div>
      <InlineError message={error()} />
      <Show when={archived()}>
        {(rows) => (
          <>
            <h2>Archived</h2>
            <Show when={rows().length > 0} fallback={<p class="list-note">Nothing is archived.</p>}>
              <ul aria-label="Archived">
                <For each={rows().map(({ id }) => id)}>{(id) => row(id, true)}</For>
              </ul>
            </Show>
          </>
        )}
      </Show>
    </div>
  );
}
