import { Show } from "solid-js";
import { Button } from "../kit/Button";
import { InlineError } from "../kit/InlineError";
import { Dot, type Status } from "../kit/small";
import { createSubmit } from "../kit/submit";
import type { EndingEntry } from "../state/model";
import type { Resume } from "../state/resume";
import { firstLine } from "./callText";
import { Prose } from "./Prose";

interface EndingViewProps {
  ending: EndingEntry;
  /** An agent was at work and did not get to its end. */
  isBroken: boolean;
  /** The agent's card right above has told the reason. */
  isExplained: boolean;
  /** The agent whose answer did not come, by its name. */
  agent?: string | undefined;
  resume: Resume | null;
  onSend(content: string): void;
  /** Sends the message once more, with all that went along with it. */
  onAgain(content: string): Promise<void>;
}

interface Kind {
  title: string;
  dot: Status;
  again: string;
  goOn: string;
}

const kinds: Record<EndingEntry["state"], Kind> = {
  failed: { title: "Failed", dot: "failed", again: "Try again", goOn: "Continue" },
  interrupted: { title: "Interrupted", dot: "interrupted", again: "Start over", goOn: "Continue" },
  unknown: { title: "No answer came", dot: "unknown", again: "Run again", goOn: "Check" },
};

/** How a turn ended that did not end well, and what can be done about it. */
export function EndingView(props: EndingViewProps) {
  const { busy, error, submit } = createSubmit();
  const state = () => (props.ending.state === "failed" && props.isBroken ? "interrupted" : props.ending.state);
  const kind = () => kinds[state()];
  const goOnWords = () => (state() === "unknown" && props.agent ? `Let ${props.agent} check` : kind().goOn);
  const text = () => {
    if (props.isExplained) return "What was done until then is kept.";
    // What an agent had said until then follows in paragraphs of its own, and is in its card already.
    return props.isBroken
      ? `${firstLine(props.ending.text).replace(/\.$/, "")}. What was done until then is kept.`
      : props.ending.text;
  };
  return (
    <div class={`ending ${state()}`}>
      <Dot status={kind().dot} quiet />
      <div class="ending-words" role="alert">
        <strong>{kind().title}</strong>{" "}
        <span class="notice-text">
          <Prose text={text() ?? ""} />
        </span>
        <Show when={state() === "unknown"}>
          <span class="notice-text"> What it did last may have been done.</span>
        </Show>
      </div>
      <Show when={props.resume}>
        {(resume) => (
          <div class="ending-acts">
            <Show when={resume().again}>
              {(content) => (
                <Button
                  small
                  kind={resume().goOn ? "quiet" : undefined}
                  title="Sends your message once more"
                  disabled={busy()}
                  onClick={() => void submit(() => props.onAgain(content()))}
                >
                  {kind().again}
                </Button>
              )}
            </Show>
            <Show when={resume().goOn}>
              {(content) => (
                <Button small kind="main" title={`Sends: ${content()}`} onClick={() => props.onSend(content())}>
                  {goOnWords()}
                </Button>
              )}
            </Show>
          </div>
        )}
      </Show>
      <InlineError message={error()} />
    </div>
  );
}
