import { Show } from "solid-js";
import type { TraceFilter } from "../../api/types";
import { IconButton } from "../../kit/Button";
import { watchesOnly } from "../../state/device";
import type { Heard } from "../../state/flow";
import type { StreamingToolCall } from "../../state/model";
import { useSessionHands } from "../nextSteps";
import { callSpan, heardSpan, spokenSpan } from "../rawSpans";

const words = "Show in agent traffic";

interface RawLinesProps {
  /** What stands in the lines. */
  text?: string;
  /** When they came; without it there is nothing to show of a thought or a plan. */
  heard?: Heard | null;
  /** All that its agent said. */
  call?: StreamingToolCall;
  file?: string;
}

/** The ways from a call to its file, and from anything to the lines in which the agent said it, for whoever may read them. */
export function RawLines(props: RawLinesProps) {
  const hands = useSessionHands();
  const wanted = (): TraceFilter | null => {
    const text = props.text === undefined ? {} : { text: props.text };
    if (props.call) return callSpan(props.call);
    return props.heard ? { ...text, ...heardSpan(props.heard) } : props.heard === null ? null : text;
  };
  return (
    <Show when={props.file || wanted()}>
      <p class="call-ways">
        <Show when={props.file}>
          {/* biome-ignore lint/a11y/useValidAnchor: without an address it is no link, only a place for one */}
          <a data-file={props.file}>Open the file</a>
        </Show>
        <Show when={!watchesOnly() && hands && wanted()}>
          {(lines) => (
            <button type="button" class="raw-lines" onClick={() => hands?.showTraffic(lines())}>
              {words}
            </button>
          )}
        </Show>
      </p>
    </Show>
  );
}

/** The lines of an agent's closing words, where those are the answer. */
export function RawAnswer(props: { calls: StreamingToolCall[] }) {
  const hands = useSessionHands();
  return (
    <Show when={!watchesOnly() && hands && spokenSpan(props.calls)}>
      {(span) => <IconButton icon="traffic" label={words} onClick={() => hands?.showTraffic(span())} />}
    </Show>
  );
}
