import { Show } from "solid-js";
import type { EndingEntry } from "../state/model";
import type { Resume } from "../state/resume";
import { InlineError } from "./InlineError";
import { Prose } from "./Prose";
import { createSubmit } from "./submit";

const titles: Record<EndingEntry["state"], string> = {
  failed: "This did not work",
  interrupted: "Interrupted",
  unknown: "How this ended is not known",
};

interface EndingViewProps {
  ending: EndingEntry;
  /** An agent was at work and did not get to its end. */
  isBroken: boolean;
  /** What stands right above has told the reason. */
  isExplained: boolean;
  resume: Resume | null;
  onSend(content: string): void;
  /** Sends the message once more, with all that went along with it. */
  onAgain(content: string): Promise<void>;
}

/** How a turn ended that did not end well, and what can be done about it. */
export function EndingView(props: EndingViewProps) {
  const { busy, error, submit } = createSubmit();
  const isFailure = () => props.ending.state === "failed" && !props.isBroken;
  const title = () =>
    isFailure() ? titles.failed : titles[props.ending.state].replace(titles.failed, titles.interrupted);
  const text = () => {
    if (props.isExplained) return "What was done until then is kept.";
    // What an agent had said until then follows in paragraphs of its own, and is in its block already.
    return props.isBroken ? props.ending.text.split("\n\n", 1)[0] : props.ending.text;
  };
  return (
    <div class="notice ending" classList={{ error: isFailure(), warning: !isFailure() }}>
      <div role="alert">
        <strong class="notice-head">{title()}</strong>{" "}
        <span class="notice-text">
          <Prose text={text() ?? ""} />
        </span>
      </div>
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
                  disabled={busy()}
                  onClick={() => void submit(() => props.onAgain(content()))}
                >
                  Send again
                </button>
              )}
            </Show>
          </div>
        )}
      </Show>
      <InlineError message={error()} />
    </div>
  );
}
