// What the menus of a session offer, for the palette.

import { watchesOnly } from "../state/device";
import { setFinding } from "../state/finding";
import { opened } from "../state/opened";
import { go, reviewHref } from "../state/route";
import type { Action } from "./Palette";
import type { SessionActions } from "./SessionMenu";
import { downloadSession } from "./SessionMenu";

export function sessionCommands(actions: SessionActions): Action[] {
  const doings = opened();
  const session = doings?.session();
  if (!doings || !session) return [];
  const { id, pinned, archived, muted } = session;
  return [
    { text: "Find in this conversation", icon: "search", keys: "Ctrl F", run: () => setFinding(true) },
    { text: "Review changes", icon: "read", run: () => go(reviewHref(id)) },
    { text: "Export as Markdown", icon: "out", run: () => void downloadSession(session) },
    { text: "Saved permissions", icon: "shield", run: () => doings.rules() },
    ...(watchesOnly()
      ? []
      : ([
          { text: "Agent traffic", icon: "traffic", run: () => doings.traffic() },
          { text: "Rename session", icon: "edit", run: () => doings.rename() },
          {
            text: pinned ? "Unpin session" : "Pin session",
            icon: "pin",
            run: () => actions.set(id, { pinned: !pinned }),
          },
          {
            text: archived ? "Unarchive session" : "Archive session",
            icon: "archive",
            run: () => actions.set(id, { archived: !archived }),
          },
          {
            text: muted ? "Unmute notifications" : "Mute notifications",
            icon: muted ? "bell" : "bellOff",
            run: () => actions.set(id, { muted: !muted }),
          },
          { text: "Delete session", icon: "trash", run: () => actions.remove(id) },
        ] as Action[])),
  ];
}
