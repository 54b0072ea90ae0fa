import { Show } from "solid-js";
import type { PermissionRequest } from "../../api/types";
import { Button } from "../../kit/Button";
import { Icon, kindIcon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { Visible } from "../../kit/Visible";
import { isBroken } from "../../state/delegation";
import type { StreamingToolCall } from "../../state/model";
import type { AgentStop } from "../agentStop";
import { questionOf } from "../ask/question";
import { showQuestion } from "../ask/shown";
import { ContextMeter } from "../ContextMeter";
import { denialText, isDenied } from "../callStatus";
import { firstLine } from "../callText";
import { Prose } from "../Prose";
import { TokenCount } from "../TokenCount";

interface AgentFootProps {
  call: StreamingToolCall;
  asks: PermissionRequest | undefined;
  stop: AgentStop;
}

/** Below an agent's work: what it asks, why it failed or was declined, how full its context is and what it has used. */
export function AgentFoot(props: AgentFootProps) {
  const usage = () => props.call.copilotStream?.usage ?? null;
  return (
    <>
      <Show when={isDenied(props.call)}>
        <p class="agent-foot denial">
          <strong>Declined</strong> <Visible text={denialText(props.call)} />
          <span class="mute"> Write what it should do instead.</span>
        </p>
      </Show>
      <Show when={!isDenied(props.call) && !isBroken(props.call) && props.call.isError && props.call.result}>
        {(text) => (
          <p class="agent-foot inline-error">
            <Prose text={firstLine(text())} />
          </p>
        )}
      </Show>
      <InlineError message={props.stop.error()} />
      <Show when={usage()}>
        <p class="agent-usage num">
          <ContextMeter usage={usage()} />
          <TokenCount usage={usage()} />
        </p>
      </Show>
      <Show when={props.asks}>
        {(request) => (
          <div class="ask-line">
            <Icon name={kindIcon(request().kind)} size="small" />
            <span class="grow cut">
              <Visible text={questionOf(request())} />
            </span>
            <Button kind="main" small onClick={() => showQuestion(request().request_id)}>
              Answer
            </Button>
          </div>
        )}
      </Show>
    </>
  );
}
