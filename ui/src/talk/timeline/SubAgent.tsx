import { For, Show } from "solid-js";
import type { AgentToolCall, PermissionRequest } from "../../api/types";
import { Visible } from "../../kit/Visible";
import type { GroupPart, UpdatePart } from "../../state/flow";
import { Fold } from "../Fold";
import { CallRow } from "./CallRow";
import { isRunning } from "./rows";
import { Event, WaitLine } from "./Timeline";

const callOf = (part: UpdatePart) => part.update as AgentToolCall;

/** What an agent handed to another one, together. */
export function SubAgent(props: {
  group: GroupPart;
  scope: string;
  running: boolean;
  asks: readonly PermissionRequest[] | undefined;
}) {
  const count = () => props.group.parts.length;
  const asked = (part: UpdatePart) =>
    props.running ? props.asks?.find((request) => request.agent_call === callOf(part).id) : undefined;
  const runs = () => props.running && props.group.parts.some((part) => isRunning(callOf(part)) && !asked(part));
  const waits = () => props.group.parts.some((part) => asked(part));
  return (
    <Event icon="agents" dot={runs() || (waits() && "waiting")} class="sub-agent">
      <Fold
        key={`${props.scope}:${props.group.id}`}
        open
        head={
          <>
            Sub-agent <Visible text={shortId(props.group.agent)} />
          </>
        }
        end={count() === 1 ? "1 call" : `${count()} calls`}
      >
        <div class="merged-rows">
          <For each={props.group.parts}>
            {(part) => (
              <Show
                when={asked(part)}
                fallback={
                  <CallRow
                    call={callOf(part)}
                    scope={props.scope}
                    stream={part.output?.text}
                    heard={part.heard}
                    running={props.running}
                    quiet
                  />
                }
              >
                {(request) => <WaitLine request={request()} call={callOf(part)} />}
              </Show>
            )}
          </For>
        </div>
      </Fold>
    </Event>
  );
}

/** Enough of an id to tell it from the others. */
function shortId(id: string): string {
  return id.replace(/^([0-9a-f]{8})-[0-9a-f-]{27}$/, "$1");
}
