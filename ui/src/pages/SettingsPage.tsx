import { createMemo, createSignal, For, onMount, Show } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import type { Setting, SettingValue } from "../api/types";
import { InlineError } from "../kit/InlineError";
import { Spinner } from "../kit/Spinner";
import { watch_only, watchesOnly } from "../state/device";
import { Notifications } from "./Notifications";
import { PageHeader } from "./PageHeader";
import { SettingRow } from "./SettingRow";

interface SettingsPageProps {
  onMenu(): void;
  /** Something holds from now on that other parts of the page show. */
  onChanged(): void;
}

/** Every setting: what it means, what it is, where that came from; what can be chosen here is chosen here. */
export function SettingsPage(props: SettingsPageProps) {
  const [settings, setSettings] = createStore<Setting[]>([]);
  const [isLoaded, setLoaded] = createSignal(false);
  const [failure, setFailure] = createSignal<string | null>(null);
  const load = async () => {
    try {
      // Rows that stay are the same rows: what is half typed in another one is not lost, nor is focus.
      setSettings(reconcile((await pagesApi.settings()).settings, { key: "key" }));
      setLoaded(true);
      setFailure(null);
    } catch (error) {
      setFailure(sentence(error));
    }
  };
  onMount(() => {
    if (!watchesOnly()) void load();
  });
  const groups = createMemo(() => [...new Set(settings.map((setting) => setting.group))]);
  const change = async (key: string, value: SettingValue) => {
    await pagesApi.changeSettings({ [key]: value });
    await load();
    props.onChanged();
  };
  return (
    <main class="pane">
      <PageHeader title="Settings" onMenu={() => props.onMenu()} />
      <div class="page settings-page">
        <section aria-labelledby="settings-device">
          <h2 id="settings-device">This device</h2>
          <ul class="card settings">
            <Notifications />
          </ul>
        </section>
        <InlineError message={failure()} />
        <Show
          when={!watchesOnly()}
          fallback={<p class="setting-note">{watch_only} The settings of the server are shown to its owner.</p>}
        >
          <Show when={isLoaded() || failure() !== null} fallback={<Spinner />}>
            <For each={groups()}>
              {(group, index) => (
                <section aria-labelledby={`settings-${index()}`}>
                  <h2 id={`settings-${index()}`}>{group}</h2>
                  <ul class="card settings">
                    <For each={settings.filter((setting) => setting.group === group)}>
                      {(setting) => <SettingRow setting={setting} onChange={(value) => change(setting.key, value)} />}
                    </For>
                  </ul>
                </section>
              )}
            </For>
          </Show>
        </Show>
      </div>
    </main>
  );
}
