import type { JSX } from "solid-js";
import { Icon } from "./Icon";

/** The head of a page that is no session. */
export function PageHeader(props: { title: string; onMenu(): void; children?: JSX.Element }) {
  return (
    <header class="session-header">
      <div class="header-row">
        <button type="button" class="icon-button menu-button" aria-label="Show sessions" onClick={() => props.onMenu()}>
          <Icon name="menu" />
        </button>
        <h1 class="page-title">{props.title}</h1>
        {props.children}
      </div>
    </header>
  );
}
