import { Show } from "solid-js";
import type { Row } from "../api/types";
import { IconButton } from "../kit/Button";
import { Icon, Logo } from "../kit/Icon";
import { Dot, Kbd } from "../kit/small";
import { Visible } from "../kit/Visible";
import { watch_only, watchesOnly } from "../state/device";
import { devices_href, pageHref } from "../state/route";
import type { Group } from "../state/rows";
import { Bell } from "./Bell";
import { composerId } from "./keyboard";
import { SessionList } from "./SessionList";
import type { SessionActions } from "./SessionMenu";

interface SidebarProps {
  project: string;
  rows: Row[];
  groups: Group[];
  loaded: boolean;
  hasMore: boolean;
  error: string | null;
  isConnected: boolean;
  actions: SessionActions;
  renaming: string | null;
  onRenamed(id: string, title: string | null): void;
  onMore(): void;
  onHide(): void;
  onFresh(): void;
  onSearch(): void;
}

/** The sessions, beside the page on a desk and a page of their own on a phone. */
export function Sidebar(props: SidebarProps) {
  return (
    <nav class="sidebar" aria-label="Sessions">
      <a
        class="skip"
        href={`#${composerId}`}
        onClick={(event) => {
          event.preventDefault();
          document.getElementById(composerId)?.focus();
        }}
      >
        Skip to the message
      </a>
      <div class="side-top">
        <span class="project">
          <Logo />
          {/* On a phone the list is a page of its own. */}
          <h1 class="cut">
            <Visible text={props.project} />
          </h1>
        </span>
        <IconButton class="side-hide" icon="panel" label="Hide sidebar" onClick={() => props.onHide()} />
        <IconButton
          class="side-new"
          icon="new"
          label="New session"
          title={watchesOnly() ? watch_only : "New session (Ctrl Shift O)"}
          disabled={watchesOnly()}
          onClick={() => props.onFresh()}
        />
        <span class="phone-only">
          <FootLinks />
        </span>
      </div>
      <button type="button" class="find" onClick={() => props.onSearch()}>
        <Icon name="search" size="small" />
        <span class="grow">Search</span>
        <Kbd keys="Ctrl K" />
      </button>
      <Show when={props.error}>
        {(message) => (
          <p class="sidebar-error inline-error" role="alert">
            {message()}
          </p>
        )}
      </Show>
      <SessionList {...props} />
      <div class="side-foot">
        <Show when={watchesOnly()}>
          <p class="sidebar-note">{watch_only}</p>
        </Show>
        <FootLinks />
        <span class="link-state">
          <LinkState isConnected={props.isConnected} />
        </span>
      </div>
    </nav>
  );
}

/** Whether the page hears from the server: a dot and, where there is room, its words. */
export function LinkState(props: { isConnected: boolean; short?: boolean }) {
  return (
    <>
      <Dot status={props.isConnected ? "done" : "failed"} quiet />
      <span classList={{ "visually-hidden": props.short }}>{props.isConnected ? "Connected" : "No connection"}</span>
    </>
  );
}

/** The other pages, and whether this device is told of what waits. */
export function FootLinks() {
  return (
    <>
      <a class="icon-button" href={pageHref("agents")} title="Agents" aria-label="Agents">
        <Icon name="agents" />
      </a>
      <a class="icon-button" href={pageHref("conversations")} title="Resume a session" aria-label="Resume a session">
        <Icon name="history" />
      </a>
      <a class="icon-button" href={devices_href} title="Devices" aria-label="Devices">
        <Icon name="devices" />
      </a>
      <a class="icon-button" href={pageHref("settings")} title="Settings" aria-label="Settings">
        <Icon name="settings" />
      </a>
      <Bell />
    </>
  );
}
