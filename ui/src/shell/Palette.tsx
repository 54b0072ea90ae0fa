import { createEffect, createMemo, createSignal, createUniqueId, For, on, onCleanup, onMount, Show } from "solid-js";
import { api } from "../api/client";
import { list } from "../api/list";
import type { Hit, Row } from "../api/types";
import { shieldPress } from "../kit/deliberate";
import { Icon, type IconName } from "../kit/Icon";
import { Dot, Kbd, type Status } from "../kit/small";
import { openAt } from "../state/goal";
import { activeId, goTo } from "../state/route";
import { statusOf, whenText } from "../state/rows";
import { visible } from "../state/visible";
import { sessionCommands } from "./commands";
import { writeInComposer } from "./keyboard";
import type { SessionActions } from "./SessionMenu";

export interface Action {
  text: string;
  icon: IconName;
  keys?: string;
  run(): void;
}

interface Item {
  section: "Sessions" | "Actions" | "Files" | "Messages";
  title: string;
  note?: string;
  end?: string;
  keys?: string | undefined;
  icon?: IconName;
  status?: Status;
  run(): void;
}

interface PaletteProps {
  rows: Row[];
  actions: Action[];
  sessionActions: SessionActions;
  onClose(): void;
}

const pause_ms = 150;
const shortest = 2;
const most = 8;

/** Everything by its name: sessions, things to do, files, and what was said. */
export default function Palette(props: PaletteProps) {
  const [query, setQuery] = createSignal("");
  const [titled, setTitled] = createSignal<Row[]>([]);
  const [hits, setHits] = createSignal<Hit[]>([]);
  const [files, setFiles] = createSignal<string[]>([]);
  const [active, setActive] = createSignal(0);
  let dialog!: HTMLDialogElement;
  const id = createUniqueId();
  const before = document.activeElement;
  onMount(() => dialog.showModal?.());
  onCleanup(() => {
    shieldPress();
    // What lies beneath an open dialog takes no focus.
    dialog.close?.();
    if (before instanceof HTMLElement && before.isConnected && document.activeElement === document.body) before.focus();
  });

  // The server knows more sessions than are listed, and every word of them.
  createEffect(
    on(query, (text) => {
      setActive(0);
      const wanted = text.trim();
      const session = activeId();
      if (wanted.length < shortest) {
        setTitled([]);
        setHits([]);
        setFiles([]);
        return;
      }
      let isOver = false;
      onCleanup(() => {
        isOver = true;
        clearTimeout(timer);
      });
      const take = <T,>(asked: Promise<T>, put: (value: T) => void) =>
        asked.then(
          (value) => !isOver && put(value),
          // What is listed is found without it.
          () => {},
        );
      const timer = setTimeout(() => {
        void take(list.titled(wanted), ({ sessions }) => setTitled(sessions));
        void take(list.search(wanted), (found) => setHits(found.hits));
        if (session) void take(api.files(session, wanted), ({ paths }) => setFiles(paths));
      }, pause_ms);
    }),
  );

  const items = createMemo((): Item[] => {
    const wanted = query().trim().toLowerCase();
    const fits = (text: string) => text.toLowerCase().includes(wanted);
    const known = props.rows.filter(({ title }) => fits(title || "Untitled"));
    const more = titled().filter((row) => !known.some((other) => other.id === row.id));
    return [
      ...[...known, ...more].slice(0, most).map(
        (row): Item => ({
          section: "Sessions",
          title: row.title || "Untitled",
          end: whenText(row.updated_at),
          status: statusOf(row),
          run: () => goTo(row.id),
        }),
      ),
      ...[...props.actions, ...sessionCommands(props.sessionActions)]
        .filter(({ text }) => fits(text))
        .map(({ text, icon, keys, run }): Item => ({ section: "Actions", title: text, icon, keys, run })),
      ...files()
        .slice(0, most)
        .map(
          (path): Item => ({
            section: "Files",
            title: path,
            icon: "read",
            end: "Insert @path",
            run: () => writeInComposer(/\s/.test(path) ? `@"${path}" ` : `@${path} `),
          }),
        ),
      ...hits()
        .filter(({ message_id }) => message_id !== null)
        .slice(0, most)
        .map(
          (hit): Item => ({
            section: "Messages",
            title: hit.title || "Untitled",
            note: hit.excerpt,
            icon: "comment",
            end: whenText(hit.at),
            run: () => openAt({ sessionId: hit.session_id, entries: placesOf(hit), query: query() }),
          }),
        ),
    ];
  });
  const choose = (item: Item | undefined) => {
    if (!item) return;
    props.onClose();
    queueMicrotask(() => item.run());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = items().length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (event.key === "Enter") choose(items()[active()]);
    else if (step !== undefined && count > 0) setActive((active() + step + count) % count);
    else return;
    event.preventDefault();
  };
  createEffect(() => document.getElementById(`${id}-${active()}`)?.scrollIntoView?.({ block: "nearest" }));

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the browser
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Find"
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={(event) => event.target === dialog && props.onClose()}
    >
      <label class="palette-head">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Find a session, an action or a file"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={items().length > 0 ? `${id}-${active()}` : undefined}
          placeholder="Find a session, an action, a file"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <Kbd keys="Esc" />
      </label>
      <div class="palette-list" id={id} role="listbox" aria-label="Found">
        <For each={items()}>
          {(item, index) => (
            <>
              <Show when={item.section !== items()[index() - 1]?.section}>
                <div class="palette-section" role="presentation">
                  {item.section}
                </div>
              </Show>
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text box, which keeps the focus */}
              <div
                id={`${id}-${index()}`}
                role="option"
                tabIndex={-1}
                aria-selected={index() === active()}
                class="palette-item"
                onPointerMove={() => setActive(index())}
                onClick={() => choose(item)}
              >
                <Show when={item.icon} fallback={<Dot status={item.status ?? "seen"} />}>
                  {(name) => <Icon name={name()} />}
                </Show>
                <span class="grow">
                  <span class="palette-title cut">
                    <Marked text={visible(item.title)} query={query().trim()} />
                  </span>
                  <Show when={item.note}>
                    {(note) => (
                      <span class="palette-note cut">
                        <Marked text={visible(note())} query={query().trim()} />
                      </span>
                    )}
                  </Show>
                </span>
                <Show when={item.keys} fallback={<span class="palette-end num">{item.end}</span>}>
                  {(keys) => <Kbd keys={keys()} />}
                </Show>
              </div>
            </>
          )}
        </For>
        <Show when={items().length === 0}>
          <p class="list-note">No matches.</p>
        </Show>
      </div>
    </dialog>
  );
}

/** What an agent did is shown where it was called. */
const placesOf = ({ message_id, tool_call_id }: Hit) => [message_id, tool_call_id].filter((id) => id != null);

/** The words that were looked for, marked. */
function Marked(props: { text: string; query: string }) {
  const at = () => (props.query === "" ? -1 : props.text.toLowerCase().indexOf(props.query.toLowerCase()));
  return (
    <Show when={at() >= 0} fallback={props.text}>
      {props.text.slice(0, at())}
      <mark>{props.text.slice(at(), at() + props.query.length)}</mark>
      {props.text.slice(at() + props.query.length)}
    </Show>
  );
}
