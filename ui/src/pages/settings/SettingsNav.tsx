import { For, onCleanup, onMount } from "solid-js";
import { IconButton } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { Kbd } from "../../kit/small";
import { settingsHref } from "../../state/route";
import { type Section, sections } from "./sections";

interface SettingsNavProps {
  current: Section | undefined;
  query: string;
  summary(id: string): string;
  onQuery(query: string): void;
  onBack(): void;
}

/** In the place of the sessions: the way back, the search, and the sections. */
export function SettingsNav(props: SettingsNavProps) {
  let field!: HTMLInputElement;
  onMount(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      field.focus();
    };
    document.addEventListener("keydown", onKeyDown);
    onCleanup(() => document.removeEventListener("keydown", onKeyDown));
  });
  return (
    <nav class="sidebar settings-nav" aria-label="Settings sections">
      <div class="side-top">
        <IconButton icon="back" label="Back" onClick={() => props.onBack()} />
        <h1 class="settings-name">Settings</h1>
      </div>
      <label class="find">
        <span class="visually-hidden">Search settings</span>
        <Icon name="search" size="small" />
        <input
          ref={field}
          type="search"
          placeholder="Search settings"
          autocomplete="off"
          spellcheck={false}
          value={props.query}
          onInput={(event) => props.onQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") props.onQuery("");
          }}
        />
        <Kbd keys="/" />
      </label>
      <ul>
        <For each={sections}>
          {(section) => (
            <li>
              <a
                class="session-link"
                href={settingsHref(section.id)}
                aria-current={(props.current ?? sections[0]) === section && props.query === "" ? "page" : undefined}
                onClick={() => props.onQuery("")}
              >
                <Icon name={section.icon} />
                <span class="cut">{section.name}</span>
                <span class="session-end">{props.summary(section.id)}</span>
                <span class="settings-next">
                  <Icon name="next" size="small" />
                </span>
              </a>
            </li>
          )}
        </For>
      </ul>
    </nav>
  );
}
