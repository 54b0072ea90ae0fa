import { Show } from "solid-js";
import type { EndingEntry } from "../state/model";
import type { Resume } from "../state/resume";

const titles: Record<EndingEntry["state"], string> = {
  failed: "This did not work.",
  interrupted: "Interrupted.",
  unknown: "How this ended is not known.",
};

interface EndingViewProps {
  ending: EndingEntry;
  resume: Resume | null;
  onSend(content: string): void;
}

/** How a turn ended that did not end well, and what can be done about it. */
export function EndingView(props: EndingViewProps) {
  return (
    <div class="notice ending" classList={{ error: props.ending.state === "failed" }}>
      <p role="alert">
        <strong>{titles[props.ending.state]}</strong> {props.ending.text}
      </p>
      <Show when={props.resume}>
        {(resume) => (
          <div class="card-actions">
            <Show when={resume().goOn}>
              {(content) => (
                <button
                  type="button"
                  class="button primary"
                  title={`Sends: ${content()}`}
                  onClick={() => props.onSend(content())}
                >
                  Continue
                </button>
              )}
            </Show>
            <Show when={resume().again}>
              {(content) => (
                <button
                  type="button"
                  class="button"
                  title="Sends your message once more"
                  onClick={() => props.onSend(content())}
                >
                  Send again
                </button>
              )}
            </Show>
          </div>
        )}
      </Show>
    </div>
  );
}
