import { Show } from "solid-js";
import { sentence } from "../api/client";
import type { Row } from "../api/types";
import { insist } from "../kit/later";
import { MenuItem } from "../kit/MenuList";
import { tell } from "../kit/toasts";
import { watch_only, watchesOnly } from "../state/device";
import { setFinding } from "../state/finding";

export interface SessionActions {
  rename(id: string): void;
  set(id: string, change: { pinned: boolean } | { archived: boolean } | { muted: boolean }): void;
  remove(id: string): void;
}

interface SessionMenuProps {
  session: Row;
  actions: SessionActions;
  close(): void;
}

/** What can be done with a session as a whole: the same in its row and above its conversation. */
export function SessionMenu(props: SessionMenuProps) {
  const run = (does: () => void) => () => {
    props.close();
    does();
  };
  const id = () => props.session.id;
  const flip = (name: "pinned" | "archived" | "muted") =>
    run(() => props.actions.set(id(), { [name]: !props.session[name] } as { pinned: boolean }));
  return (
    <Show when={!watchesOnly()} fallback={<p class="menu-heading">{watch_only}</p>}>
      <MenuItem icon="edit" onChoose={run(() => props.actions.rename(id()))}>
        Rename
      </MenuItem>
      <MenuItem icon="pin" onChoose={flip("pinned")}>
        {props.session.pinned ? "Unpin" : "Pin"}
      </MenuItem>
      <MenuItem icon="archive" onChoose={flip("archived")}>
        {props.session.archived ? "Unarchive" : "Archive"}
      </MenuItem>
      <MenuItem icon={props.session.muted ? "bell" : "bellOff"} onChoose={flip("muted")}>
        {props.session.muted ? "Notify me again" : "Mute notifications"}
      </MenuItem>
      <hr />
      <MenuItem icon="trash" danger onChoose={run(() => props.actions.remove(id()))}>
        Delete
      </MenuItem>
    </Show>
  );
}

export async function downloadSession(session: Row): Promise<void> {
  try {
    const { exportSession } = await insist(() => import("./exportSession"));
    await exportSession(session);
  } catch (reason) {
    tell(`Export failed: ${sentence(reason)}`);
  }
}

interface HeaderMenuProps extends SessionMenuProps {
  onChanges(): void;
  onRules(): void;
  onTraffic(): void;
}

/** The same above its conversation, with what belongs to that. */
export function HeaderMenu(props: HeaderMenuProps) {
  const run = (does: () => void) => () => {
    props.close();
    does();
  };
  return (
    <>
      <MenuItem icon="changes" end={<kbd>Ctrl Shift D</kbd>} onChoose={run(() => props.onChanges())}>
        Changes
      </MenuItem>
      <MenuItem icon="search" end={<kbd>Ctrl F</kbd>} onChoose={run(() => setFinding(true))}>
        Find in this conversation
      </MenuItem>
      <MenuItem icon="out" onChoose={run(() => void downloadSession(props.session))}>
        Export as Markdown
      </MenuItem>
      <MenuItem icon="shield" onChoose={run(() => props.onRules())}>
        Saved permissions
      </MenuItem>
      <MenuItem
        icon="traffic"
        disabled={watchesOnly()}
        note={watchesOnly() ? watch_only : undefined}
        onChoose={run(() => props.onTraffic())}
      >
        Agent traffic
      </MenuItem>
      <hr />
      <SessionMenu session={props.session} close={props.close} actions={props.actions} />
    </>
  );
}
