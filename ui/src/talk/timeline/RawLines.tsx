import { Show } from "solid-js";
import { watchesOnly } from "../../state/device";
import { useSessionHands } from "../nextSteps";

/** The way to the lines in which the agent said it, for whoever may read them. */
export function RawLines(props: { text: string }) {
  const hands = useSessionHands();
  return (
    <Show when={!watchesOnly() && hands}>
      {(session) => (
        <button type="button" class="raw-lines" onClick={() => session().showTraffic(props.text)}>
          Show in agent traffic
        </button>
      )}
    </Show>
  );
}
