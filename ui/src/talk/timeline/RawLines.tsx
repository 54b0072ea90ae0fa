import { Show } from "solid-js";
import { watchesOnly } from "../../state/device";
import { useSessionHands } from "../nextSteps";

/** The ways from a call to its file, and to the lines in which the agent said it, for whoever may read them. */
export function RawLines(props: { text: string; file: string }) {
  const hands = useSessionHands();
  return (
    <p class="call-ways">
      <Show when={props.file}>
        {/* biome-ignore lint/a11y/useValidAnchor: without an address it is no link, only a place for one */}
        <a data-file={props.file}>Open the file</a>
      </Show>
      <Show when={!watchesOnly() && hands}>
        {(session) => (
          <button type="button" class="raw-lines" onClick={() => session().showTraffic(props.text)}>
            Show in agent traffic
          </button>
        )}
      </Show>
    </p>
  );
}
