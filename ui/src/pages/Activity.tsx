import { createSignal, For, Show } from "solid-js";
import { pagesApi } from "../api/pages";
import type { AuditEntry } from "../api/types";
import { Icon } from "../kit/Icon";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { ago } from "../kit/time";
import { Visible } from "../kit/Visible";

const page_size = 30;

/** Who did what, newest first; read when somebody opens it. */
export function Activity() {
  const [entries, setEntries] = createSignal<AuditEntry[] | null>(null);
  const [next, setNext] = createSignal<number | null>(null);
  const { busy, error, submit } = createSubmit();
  const load = (before?: number) =>
    submit(async () => {
      const page = await pagesApi.audit(page_size, before);
      setEntries((known) => [...(before === undefined ? [] : (known ?? [])), ...page.entries]);
      setNext(page.next ?? null);
    });
  return (
    <details class="fold activity" onToggle={(event) => event.currentTarget.open && void load()}>
      <summary class="line">
        Recent activity <Icon name="next" size="small" />
      </summary>
      <InlineError message={error()} />
      <Show when={entries()?.length === 0}>
        <p>Nothing yet.</p>
      </Show>
      <ul>
        <For each={entries()}>
          {(entry) => (
            <li>
              <time dateTime={entry.at} title={new Date(entry.at).toLocaleString()}>
                {ago(entry.at)}
              </time>
              <span>
                <strong>
                  <Visible text={entry.device} />
                </strong>{" "}
                <Visible text={entry.action.replaceAll("-", " ")} />
                <Show when={entry.detail}>
                  {(detail) => (
                    <>
                      : <Visible text={detail()} />
                    </>
                  )}
                </Show>
                <Show when={entry.address}>{(address) => <span class="activity-address"> from {address()}</span>}</Show>
              </span>
            </li>
          )}
        </For>
      </ul>
      <Show when={next()}>
        {(before) => (
          <button type="button" class="button small show-more" disabled={busy()} onClick={() => void load(before())}>
            Older
          </button>
        )}
      </Show>
    </details>
  );
}
