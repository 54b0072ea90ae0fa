import { createMemo, Show } from "solid-js";
import type { Row } from "../api/types";
import { IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { later } from "../kit/later";
import { Menu } from "../kit/Menu";
import { Dot, PlusMinus } from "../kit/small";
import { Visible } from "../kit/Visible";
import { sessionHref } from "../state/route";
import { runningText, sinceText, statusOf, whenText } from "../state/rows";
import { visible } from "../state/visible";
import type { SessionActions } from "./SessionMenu";

const InlineEdit = later(async () => (await import("../kit/InlineEdit")).InlineEdit);
const SessionMenu = later(async () => (await import("./SessionMenu")).SessionMenu);

interface SessionRowProps {
  session: Row;
  active: boolean;
  /** The one of all rows that the Tab key stops at. */
  isStop: boolean;
  old: boolean;
  /** Ticks, for what is under way. */
  now: number;
  renaming: boolean;
  actions: SessionActions;
  onRenamed(title: string | null): void;
}

/** One line: how it stands, what it is called, when or how much. */
export function SessionRow(props: SessionRowProps) {
  const title = () => props.session.title || "Untitled";
  const status = createMemo(() => statusOf(props.session));
  let more: HTMLElement | undefined;
  return (
    <li
      class="session-row"
      classList={{ active: props.active, old: props.old, [status()]: true }}
      onContextMenu={(event) => {
        // A long press on a phone, too. Where text is chosen, the browser's own is what is wanted.
        if (event.target instanceof HTMLInputElement || event.ctrlKey) return;
        event.preventDefault();
        more?.click();
      }}
    >
      <Show
        when={!props.renaming}
        fallback={
          <InlineEdit
            label="Session title"
            value={props.session.title}
            onSave={(value) => props.onRenamed(value)}
            onCancel={() => props.onRenamed(null)}
          />
        }
      >
        <a
          class="session-link"
          href={sessionHref(props.session.id)}
          tabindex={props.isStop ? 0 : -1}
          aria-current={props.active ? "page" : undefined}
        >
          <Dot status={status()} />
          <span class="session-title cut">
            <Visible text={title()} />
            <Show when={status() === "waiting"}>
              <span class="session-ask">
                {props.session.question_protected && "Protected file: "}
                <Visible text={props.session.question ?? ""} />
              </span>
            </Show>
          </span>
          <Show when={props.session.muted}>
            <span class="session-muted">
              <Icon name="bellOff" size="tiny" />
              <span class="visually-hidden">muted</span>
            </span>
          </Show>
          <RowEnd session={props.session} now={props.now} />
          <Show when={status() === "waiting"}>
            <span class="session-answer button main">Answer</span>
          </Show>
        </a>
        <Menu
          label={`${visible(title())}: what to do`}
          align="end"
          load={SessionMenu.preload}
          button={(button) => (
            <IconButton
              {...button}
              ref={(element) => {
                more = element;
                button.ref(element);
              }}
              class="row-more"
              icon="dots"
              tabindex="-1"
              label={`More for ${visible(title())}`}
            />
          )}
        >
          {(close) => <SessionMenu session={props.session} actions={props.actions} close={close} />}
        </Menu>
      </Show>
    </li>
  );
}

/** When it was, or how long it has been going on, or what it changed. */
export function RowEnd(props: { session: Row; now: number; question?: boolean }) {
  const changes = () => {
    const { running, waiting, changes } = props.session;
    const busy = waiting > 0 || (running && !props.question);
    return busy || !changes || changes.additions + changes.deletions === 0 ? null : changes;
  };
  const isHeldUp = () => props.session.waiting > 0 && props.session.question_protected;
  const text = () => {
    const { session, now } = props;
    if (session.waiting > 0 && props.question && session.question) return visible(session.question);
    if (isHeldUp()) return "Protected file";
    if (session.waiting > 0) return sinceText(session.updated_at, now);
    if (session.running) return runningText(session, now);
    return whenText(session.updated_at);
  };
  return (
    <span class="session-end num" classList={{ protected: isHeldUp() }}>
      <Show when={changes()} fallback={text()}>
        {(all) => <PlusMinus additions={all().additions} deletions={all().deletions} />}
      </Show>
    </span>
  );
}
