import { createMemo, For, Show } from "solid-js";
import { Button } from "../kit/Button";
import { Dot } from "../kit/small";
import { watchesOnly } from "../state/device";
import type { StreamingToolCall } from "../state/model";
import { useAgentNames } from "./agentNames";
import { createNextSteps, stepButtons } from "./createNextSteps";
import type { Ending } from "./endings";
import { useSessionHands } from "./nextSteps";
import { Prose } from "./Prose";
import { type Step, sayingOf } from "./sayings";
import { sumOf } from "./timeline/hunks";
import { callsOf } from "./timeline/rows";

interface EndingFootProps {
  call: StreamingToolCall;
  ending: Ending;
}

/** They look, and change nothing. */
const harmless: Step[] = ["traffic", "review", "install"];

/** Below what ended badly: its sign, one sentence, and what can be done next. */
export function EndingFoot(props: EndingFootProps) {
  const names = useAgentNames();
  const hands = useSessionHands();
  const next = hands && createNextSteps(hands);
  const files = () => sumOf(callsOf(props.call.copilotStream)).files;
  const saying = () => props.ending.says && sayingOf(props.ending.says);
  const text = () =>
    saying()?.text({ agent: names.of(props.call), reason: props.call.result ?? "", files: files() }) ?? "";
  const buttons = createMemo(() =>
    (next ? stepButtons(saying()?.steps ?? [], props.call, next) : [])
      .filter(({ step }) => step !== "review" || files() > 0)
      .filter(({ step }) => !watchesOnly() || harmless.includes(step)),
  );
  return (
    <div class="ending-foot" role={props.ending.tone === "bad" ? "alert" : "note"}>
      <Dot status={props.ending.dot} quiet />
      <span class="grow">
        <Prose text={text()} />
      </span>
      <Show when={buttons().length > 0}>
        <span class="ending-acts">
          <For each={buttons()}>
            {(button, index) => {
              const isLast = () => index() === buttons().length - 1;
              const kind = () =>
                !isLast() ? "quiet" : button.step === "continue" || button.step === "sign_in" ? "main" : "";
              return (
                <Show
                  when={button.href}
                  fallback={
                    <Button small kind={kind() || undefined} onClick={() => button.run?.()}>
                      {button.text}
                    </Button>
                  }
                >
                  {(href) => (
                    <a class={`button small ${kind()}`} href={href()}>
                      {button.text}
                    </a>
                  )}
                </Show>
              );
            }}
          </For>
        </span>
      </Show>
    </div>
  );
}
