import { createMemo, For, Show } from "solid-js";
import { pagesApi } from "../api/pages";
import type { TraceDirection, TraceFilter } from "../api/types";
import { Dialog } from "../kit/Dialog";
import { Icon } from "../kit/Icon";
import { Spinner } from "../kit/Spinner";
import { clock } from "../kit/time";
import { createTrace } from "../state/trace";
import { TraceLine } from "./TraceLine";

interface InspectorProps {
  sessionId: string;
  /** Only these lines, until somebody asks for others. */
  wanted: TraceFilter;
  onClose(): void;
}

/** The raw traffic between the server and the agents of a session. */
export function Inspector(props: InspectorProps) {
  const trace = createTrace(props.sessionId, props.wanted);
  const filtered = () => Object.values(trace.filter()).some((value) => value);
  const missing = createMemo(() => {
    const runners = trace.runners();
    return runners.some((runner) => (runner.first_seq ?? 2) > 1 && !(runner.running && runner.first_seq === undefined));
  });
  const span = () => {
    const { from_ms, until_ms } = trace.filter();
    if (from_ms === undefined) return "";
    const at = (ms: number) => clock(new Date(ms), "second");
    return until_ms === undefined ? `Since ${at(from_ms)}` : `From ${at(from_ms)} to ${at(until_ms)}`;
  };
  const count = () => {
    const lines = trace.entries().length;
    const more = trace.next() === null ? "" : ", and older ones";
    return `${lines} ${lines === 1 ? "line" : "lines"}${more}`;
  };

  return (
    <Dialog
      title="Agent traffic"
      wide
      class="inspector"
      actions={
        <a class="button small" href={pagesApi.captureUrl(props.sessionId)} download="">
          <Icon name="download" /> Download
        </a>
      }
      onClose={() => props.onClose()}
    >
      <form class="inspector-filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Text</span>
          <input
            class="field"
            type="search"
            autocomplete="off"
            spellcheck={false}
            value={props.wanted.text ?? ""}
            onInput={(event) => trace.narrow({ text: event.currentTarget.value })}
          />
        </label>
        <label>
          <span>Method or id</span>
          <input
            class="field"
            type="search"
            autocomplete="off"
            spellcheck={false}
            placeholder="session/update"
            onInput={(event) => trace.narrow({ method: event.currentTarget.value })}
          />
        </label>
        <label>
          <span>Direction</span>
          <span class="select">
            <select
              class="field"
              onChange={(event) => trace.narrow({ direction: readDirection(event.currentTarget.value) })}
            >
              <option value="">both</option>
              <option value="to-agent">to the agent</option>
              <option value="from-agent">from the agent</option>
              <option value="remark">remarks</option>
            </select>
            <Icon name="more" size="small" />
          </span>
        </label>
        <div class="inspector-live">
          <button type="button" class="button small" disabled={trace.loading()} onClick={() => void trace.refresh()}>
            Refresh
          </button>
          <label class="inspector-follow">
            <input type="checkbox" onChange={(event) => trace.setFollowing(event.currentTarget.checked)} />
            <span>Follow</span>
          </label>
        </div>
      </form>
      <Show when={span()}>
        {(words) => (
          <p class="inspector-span">
            {words()}{" "}
            <button
              type="button"
              class="button small"
              onClick={() => trace.narrow({ from_ms: undefined, until_ms: undefined })}
            >
              Show all times
            </button>
          </p>
        )}
      </Show>
      <p class="inspector-status" role="status">
        <Show
          when={trace.loaded()}
          fallback={
            <Show when={!trace.error()}>
              {
                <>
                  <Spinner /> Loading the traffic…
                </>
              }
            </Show>
          }
        >
          {count()}
        </Show>
      </p>
      <Show when={trace.error()}>
        {(message) => (
          <p class="inline-error" role="alert">
            {message()}{" "}
            <button type="button" class="button small" onClick={() => void trace.refresh()}>
              Try again
            </button>
          </p>
        )}
      </Show>
      <div class="inspector-lines">
        <Show when={trace.loaded() && trace.entries().length === 0}>
          <p class="inspector-empty">
            {filtered()
              ? "No matches."
              : trace.runners().length === 0
                ? "No agent has started in this session yet. Send a message to see its traffic here."
                : "The traffic of this session is no longer kept."}
          </p>
        </Show>
        <ol>
          <For each={trace.entries()}>{(entry) => <TraceLine sessionId={props.sessionId} entry={entry} />}</For>
        </ol>
        <Show when={trace.next() !== null}>
          <button type="button" class="button show-more" disabled={trace.loading()} onClick={() => void trace.older()}>
            Older lines
          </button>
        </Show>
        <Show when={trace.next() === null && missing() && trace.entries().length > 0}>
          <p class="inspector-empty">Older traffic of this session is no longer kept.</p>
        </Show>
      </div>
    </Dialog>
  );
}

function readDirection(value: string): TraceDirection | undefined {
  return value === "to-agent" || value === "from-agent" || value === "remark" ? value : undefined;
}
