import { createEffect, createMemo, createSignal, For, mapArray, on, onCleanup, onMount, Show } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { sentence } from "../../api/client";
import { pagesApi } from "../../api/pages";
import type { Setting, SettingValue } from "../../api/types";
import { Button, IconButton } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { Spinner } from "../../kit/Spinner";
import type { Shell } from "../../shell/shell";
import { watch_only, watchesOnly } from "../../state/device";
import { closeSettings, go, pageHref, route } from "../../state/route";
import { deviceRows, themeText } from "./DeviceRows";
import { openMainAi } from "./openMainAi";
import { ProviderRow } from "./ProviderRow";
import { matches, type SettingsRow, synonyms } from "./rows";
import { ServerSetting } from "./ServerSetting";
import { SettingRow } from "./SettingRow";
import { SettingsNav } from "./SettingsNav";
import { type Section, sections } from "./sections";
import { shownValue, sourceText } from "./settingText";

const saved_ms = 2_000;

/** Every setting: what it means, what applies, where that comes from, and what can be chosen here. */
export function SettingsPage(props: { shell: Shell }) {
  const { agents, server } = props.shell;
  const version = () => server.info()?.version;
  const sectionId = () => {
    const now = route();
    return now.kind === "page" ? now.section : undefined;
  };
  const [settings, setSettings] = createStore<Setting[]>([]);
  const [loads, setLoads] = createSignal(0);
  const isLoaded = createMemo(() => loads() > 0);
  const [failure, setFailure] = createSignal<string | null>(null);
  const [query, setQuery] = createSignal("");
  const [isSaved, setSaved] = createSignal(false);
  let pane!: HTMLDivElement;
  let savedTimer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(savedTimer));
  const load = async () => {
    try {
      // Rows that stay are the same rows: what is half typed in another one is not lost, nor is focus.
      setSettings(reconcile((await pagesApi.settings()).settings, { key: "key" }));
      setLoads(loads() + 1);
      setFailure(null);
    } catch (error) {
      setFailure(sentence(error));
    }
  };
  onMount(() => {
    if (!watchesOnly()) void load();
  });
  const refresh = async () => {
    await load();
    server.refresh();
  };
  const change = async (key: string, value: SettingValue) => {
    await pagesApi.changeSettings({ [key]: value });
    await refresh();
    setSaved(true);
    clearTimeout(savedTimer);
    savedTimer = setTimeout(() => setSaved(false), saved_ms);
  };
  const toRow = (setting: Setting): SettingsRow => ({
    key: setting.key,
    section: setting.section,
    title: setting.title,
    about: setting.about,
    also: [setting.key.replaceAll("_", " "), setting.variable, ...(synonyms[setting.key] ?? [])],
    Control: ({ labelledBy }) =>
      setting.key === "model_provider" ? (
        <ProviderRow setting={setting} loads={loads()} onChanged={refresh} />
      ) : (
        <ServerSetting
          setting={setting}
          agents={agents.list()}
          labelledBy={labelledBy}
          onChange={(value) => change(setting.key, value)}
        />
      ),
  });
  const serverRows = createMemo(mapArray(() => settings.filter(isShown), toRow));
  const rows = createMemo(() => [...serverRows(), ...deviceRows]);
  const words = () => query().trim();
  const found = createMemo(() => (words() === "" ? [] : rows().filter((row) => matches(row, words()))));
  const current = () => sections.find(({ id }) => id === sectionId());
  createEffect(
    on([sectionId, isLoaded], () => {
      const section = current();
      if (section) document.getElementById(`settings-${section.id}`)?.scrollIntoView({ block: "start" });
      else pane.scrollTop = 0;
    }),
  );
  const shownOf = (key: string) => {
    const setting = settings.find((one) => one.key === key);
    return setting ? shownValue(setting) : "";
  };
  /** What a section comes to, in a word, for the list on a phone. */
  const summaries: Record<string, () => string> = {
    general: () => shownOf("title").replace("Not set", ""),
    appearance: themeText,
    "main-ai": () => shownOf("model"),
    agents: () =>
      agents.list().find(({ id }) => id === settings.find(({ key }) => key === "agent")?.effective)?.title ?? "",
    permissions: () => shownOf("permission_policy"),
    server: () => version() ?? "",
  };
  return (
    <main
      class="settings-frame"
      classList={{ "in-section": current() !== undefined && words() === "", searching: words() !== "" }}
    >
      <SettingsNav
        current={current()}
        query={query()}
        summary={(id) => summaries[id]?.() ?? ""}
        onQuery={setQuery}
        onBack={closeSettings}
      />
      <div class="pane">
        <header class="page-head">
          <IconButton class="menu-button" icon="back" label="All settings" onClick={() => go(pageHref("settings"))} />
          <h1 class="settings-one">{current()?.name}</h1>
          <b class="settings-all">Settings</b>
          <span class="settings-hint soft">Changes are saved as you make them</span>
          <span class="settings-saved" role="status">
            <Show when={isSaved()}>
              <Icon name="check" size="small" /> Saved
            </Show>
          </span>
        </header>
        {/* Read only, it has nothing else to scroll it by keys with. */}
        <div class="settings-scroller" ref={pane} tabindex="0" role="group" aria-label="Settings">
          <div class="settings-page">
            <InlineError message={failure()} />
            <Show when={watchesOnly()}>
              <p class="setting-note">{watch_only} Server settings are shown only to devices with full access.</p>
            </Show>
            <Show when={isLoaded() || failure() !== null || watchesOnly()} fallback={<Spinner />}>
              <Show when={words() === ""} fallback={<Found rows={found()} query={words()} />}>
                <For each={sections}>
                  {(section) => (
                    <SectionPart
                      section={section}
                      isCurrent={section === current()}
                      rows={rows().filter((row) => row.section === section.name)}
                      settings={settings}
                      version={version()}
                      onMainAi={() => void refresh()}
                    />
                  )}
                </For>
              </Show>
            </Show>
          </div>
        </div>
      </div>
    </main>
  );
}

/** What can't be chosen here and isn't set says nothing, but in the list of the server's own. */
const isShown = ({ changeable, effective, section, key, origin }: Setting): boolean =>
  changeable || section === "Server" || key === "model_provider" || (effective !== null && origin.kind !== "here");

function Found(props: { rows: SettingsRow[]; query: string }) {
  const count = () => (props.rows.length === 1 ? "1 setting" : `${props.rows.length} settings`);
  return (
    <section aria-label="Found settings">
      <p class="settings-count soft" role="status">
        {props.rows.length === 0 ? "No matches." : `${count()} for “${props.query}”`}
      </p>
      <Show when={props.rows.length > 0}>
        <ul class="card settings">
          <For each={props.rows}>{(row) => <SettingRow row={row} query={props.query} />}</For>
        </ul>
      </Show>
    </section>
  );
}

interface SectionPartProps {
  section: Section;
  isCurrent: boolean;
  rows: SettingsRow[];
  settings: Setting[];
  version: string | undefined;
  onMainAi(): void;
}

function SectionPart(props: SectionPartProps) {
  const heading = () => `settings-${props.section.id}`;
  return (
    <Show when={props.rows.length > 0}>
      <section
        id={heading()}
        class="settings-section"
        classList={{ current: props.isCurrent }}
        aria-labelledby={`${heading()}-name`}
      >
        <header>
          <h2 id={`${heading()}-name`}>{props.section.name}</h2>
          <Show when={props.section.id === "agents"}>
            <a href={pageHref("agents")}>Manage agents</a>
          </Show>
          <Show when={props.section.id === "main-ai"}>
            <Button small icon="plus" onClick={() => openMainAi({ onAdded: () => props.onMainAi() })}>
              Add a main AI
            </Button>
          </Show>
        </header>
        <Show when={props.section.note}>{(note) => <p class="mute">{note()}</p>}</Show>
        <Show
          when={props.section.id !== "server"}
          fallback={<ServerList settings={props.settings} version={props.version} />}
        >
          <ul class="card settings">
            <For each={props.rows}>{(row) => <SettingRow row={row} />}</For>
          </ul>
        </Show>
      </section>
    </Show>
  );
}

/** What the server was started with. */
function ServerList(props: { settings: Setting[]; version: string | undefined }) {
  return (
    <dl class="card settings-fixed">
      <div>
        <dt>Version</dt>
        <dd>
          <code>{props.version}</code>
        </dd>
        <dd />
      </div>
      <For each={props.settings.filter(({ section }) => section === "Server")}>
        {(setting) => (
          <div data-key={setting.key}>
            <dt title={setting.about}>{setting.title}</dt>
            <dd>
              <code>{shownValue(setting)}</code>
            </dd>
            <dd title={setting.origin.name ?? undefined}>{sourceText(setting)}</dd>
          </div>
        )}
      </For>
    </dl>
  );
}
