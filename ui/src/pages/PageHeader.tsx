import type { JSX } from "solid-js";
import { IconButton } from "../kit/Button";

/** The head of a page that is no session. */
export function PageHeader(props: { title: string; onMenu(): void; children?: JSX.Element }) {
  return (
    <header class="page-head">
      <IconButton class="menu-button" icon="back" label="Show sessions" onClick={() => props.onMenu()} />
      <h1>{props.title}</h1>
      {props.children}
    </header>
  );
}
