import { createSignal, Show } from "solid-js";
import { sentence } from "../api/client";
import { pagesApi } from "../api/pages";
import type { TraceEntry } from "../api/types";
import { copyText } from "../kit/copy";
import { clock } from "../kit/time";
import { Visible } from "../kit/Visible";

const directions = {
  "to-agent": { mark: "→", words: "to the agent" },
  "from-agent": { mark: "←", words: "from the agent" },
  remark: { mark: "#", words: "remark" },
} as const;

/** What one line is about, in a few words. */
export function headline(entry: TraceEntry): string {
  if (entry.method) return [entry.method, updateKind(entry.payload)].filter(Boolean).join(" ");
  const id = entry.id === undefined || entry.id === null ? "" : ` ${String(entry.id)}`;
  return `${entry.kind}${id}`;
}

/** Nearly all that an agent says is a `session/update`: its kind tells more. */
function updateKind(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("params" in payload)) return undefined;
  const { update } = (payload.params ?? {}) as { update?: { sessionUpdate?: unknown } };
  return typeof update?.sessionUpdate === "string" ? update.sessionUpdate : undefined;
}

export function payloadText(payload: unknown): string {
  return typeof payload === "string" ? payload : JSON.stringify(payload, null, 2);
}

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** One line of the traffic, its payload folded away. */
export function TraceLine(props: { sessionId: string; entry: TraceEntry }) {
  const [open, setOpen] = createSignal(false);
  const [whole, setWhole] = createSignal<unknown>();
  const [told, setTold] = createSignal("");
  const direction = () => directions[props.entry.direction];
  const isCut = () => props.entry.cut && whole() === undefined;
  const payload = () => payloadText(whole() ?? props.entry.payload);
  const fetchWhole = async () => {
    const { runner, seq } = props.entry;
    const entry = await pagesApi.traceEntry(props.sessionId, runner, seq);
    setWhole(entry.payload);
  };
  const trying = async (action: () => Promise<void>, done: string) => {
    try {
      await action();
      setTold(done);
    } catch (reason) {
      setTold(sentence(reason));
    }
  };
  const copy = () =>
    trying(async () => {
      if (isCut()) await fetchWhole();
      await copyText(payload());
    }, "Copied.");

  return (
    <li class="trace-line" classList={{ bad: props.entry.kind === "error" || props.entry.kind === "text" }}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class={`trace-mark ${props.entry.direction}`} aria-hidden="true">
            {direction().mark}
          </span>
          <span class="visually-hidden">{direction().words}</span>
          <time datetime={props.entry.at}>{clock(props.entry.at, "second")}</time>
          <span class="trace-method">
            <Visible text={headline(props.entry)} />
          </span>
          <Show when={props.entry.method && props.entry.kind === "request"}>
            <span class="trace-kind">request</span>
          </Show>
          <span class="trace-size">{size(props.entry.size)}</span>
        </summary>
        <Show when={open()}>
          <pre class="trace-payload" tabindex="0" role="group" aria-label="Payload">
            <Visible text={payload()} />
            {isCut() ? "…" : ""}
          </pre>
          <div class="trace-actions">
            <button type="button" class="button small" onClick={() => void copy()}>
              Copy
            </button>
            <Show when={isCut()}>
              <button type="button" class="button small" onClick={() => void trying(fetchWhole, "")}>
                Show all {size(props.entry.size)}
              </button>
            </Show>
            <span role="status">{told()}</span>
          </div>
        </Show>
      </details>
    </li>
  );
}
