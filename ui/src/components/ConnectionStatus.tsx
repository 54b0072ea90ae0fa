import { Show } from "solid-js";
import type { Break } from "../state/breaks";
import { clock } from "./time";

/** Says that the connection is gone, once it has been for a while. */
export function ConnectionStatus(props: { broken: Break | null }) {
  return (
    <div class="connection" classList={{ shown: props.broken !== null }}>
      <p role="status">
        <Show when={props.broken}>
          {(broken) => (
            <>
              <strong>Reconnecting…</strong> No connection since {clock(broken().since, "second")}. Your unsent messages
              are kept.
            </>
          )}
        </Show>
      </p>
      {/* Not read out: it changes with every attempt. */}
      <Show when={props.broken?.tries}>
        {(tries) => <p class="connection-tries">{tries() === 1 ? "1 try" : `${tries()} tries`} so far</p>}
      </Show>
    </div>
  );
}
