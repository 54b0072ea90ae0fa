import { type JSX, Show } from "solid-js";
import type { Row } from "../api/types";
import { IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { later } from "../kit/later";
import { Menu } from "../kit/Menu";
import { PlusMinus } from "../kit/small";
import { Visible } from "../kit/Visible";
import { watch_only, watchesOnly } from "../state/device";
import { home_href } from "../state/route";
import type { SessionActions } from "./SessionMenu";

const InlineEdit = later(async () => (await import("../kit/InlineEdit")).InlineEdit);
const HeaderMenu = later(async () => (await import("./SessionMenu")).HeaderMenu);

/** The bar above every page: the way back to the list on a phone, then whatever the page says. */
export function Head(props: { bare?: boolean; children?: JSX.Element }) {
  return (
    <header class="head" classList={{ bare: props.bare ?? false }}>
      <a class="icon-button phone-only" href={home_href} aria-label="Show sessions" title="Sessions">
        <Icon name="back" />
      </a>
      {props.children}
    </header>
  );
}

interface SessionHeaderProps {
  session: Row | undefined;
  project: string;
  branch: string | null;
  /** Null where it is not known. */
  changes: { files: number; additions: number; deletions: number } | null;
  isPanelOpen: boolean;
  actions: SessionActions;
  renaming: boolean;
  onRenaming(on: boolean): void;
  onRename(title: string): void;
  onFresh(): void;
  onChanges(): void;
  onRules(): void;
  onTraffic(): void;
}

/** What is open, where it works, what it changed, and the rest. */
export function SessionHeader(props: SessionHeaderProps) {
  return (
    <Head>
      <Show when={props.session}>
        {(session) => (
          <>
            <div class="head-words">
              <Show
                when={!props.renaming}
                fallback={
                  <InlineEdit
                    label="Session title"
                    value={session().title}
                    onSave={(title) => {
                      props.onRenaming(false);
                      props.onRename(title);
                    }}
                    onCancel={() => props.onRenaming(false)}
                  />
                }
              >
                <h1 class="cut">
                  <button
                    type="button"
                    class="cut"
                    title={watchesOnly() ? watch_only : "Rename"}
                    disabled={watchesOnly()}
                    onClick={() => props.onRenaming(true)}
                  >
                    <Visible text={session().title || "Untitled"} />
                  </button>
                </h1>
                <span class="where">
                  <span class="desk-only" aria-hidden="true">
                    ·
                  </span>
                  <Icon name="branch" size="small" />
                  <span class="cut">
                    <span class="desk-only">
                      <Visible text={props.project} />
                      {props.branch ? " / " : ""}
                    </span>
                    <Visible text={props.branch ?? ""} />
                  </span>
                </span>
              </Show>
            </div>
            <Show when={props.changes?.files}>
              {(files) => (
                <button
                  type="button"
                  class="chip num"
                  aria-pressed={props.isPanelOpen}
                  title="Changes (Ctrl Shift D)"
                  onClick={() => props.onChanges()}
                >
                  {files() === 1 ? "1 file" : `${files()} files`}
                  <PlusMinus additions={props.changes?.additions ?? 0} deletions={props.changes?.deletions ?? 0} />
                </button>
              )}
            </Show>
            <IconButton
              class="phone-only head-new"
              icon="new"
              label="New session"
              disabled={watchesOnly()}
              onClick={() => props.onFresh()}
            />
            <Menu
              label="This session"
              align="end"
              load={HeaderMenu.preload}
              button={(button) => <IconButton {...button} class="head-more" icon="dots" label="More" />}
            >
              {(close) => (
                <HeaderMenu
                  session={session()}
                  close={close}
                  actions={{ ...props.actions, rename: () => props.onRenaming(true) }}
                  onChanges={() => props.onChanges()}
                  onRules={() => props.onRules()}
                  onTraffic={() => props.onTraffic()}
                />
              )}
            </Menu>
          </>
        )}
      </Show>
    </Head>
  );
}
