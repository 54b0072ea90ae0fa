import { createMemo, createSignal, For, Show } from "solid-js";
import { Seg } from "../kit/small";
import { isExplained, waitsForLogin } from "../state/explained";
import type { StreamingToolCall } from "../state/model";
import type { OpenSession } from "../state/openSession";
import { readStored, store } from "../state/storage";
import { callStatus } from "./callStatus";
import { ToolCallBlock } from "./ToolCallBlock";

type Layout = "lanes" | "list";
const stored_as = "agents.layout";
const [layout, setLayout] = createSignal<Layout>(readStored(stored_as) === "list" ? "list" : "lanes");

interface AgentGroupProps {
  open: OpenSession;
  ids: string[];
  stopping: boolean;
}

/** Agents that were started together: side by side while they work, or one line each. */
export function AgentGroup(props: AgentGroupProps) {
  const state = props.open.state;
  const calls = createMemo(() => props.ids.flatMap((id) => state.calls[id] ?? []));
  const asks = (call: StreamingToolCall) => state.permissions.filter((request) => request.tool_call_id === call.id);
  const running = () => calls().some((call) => callStatus(call).running);
  const words = createMemo(() => groupWords(calls(), (call) => asks(call).length > 0 || waitsForLogin(state, call)));
  const isLanes = () => running() && layout() === "lanes";
  return (
    <section role="group" class="agent-group" classList={{ wide: isLanes() }} aria-label={`${props.ids.length} agents`}>
      <Show when={running()}>
        <div class="group-head">
          <b>{props.ids.length} agents</b>
          <span class="grow">{words()}</span>
          <Seg
            label="How agents are shown"
            value={layout()}
            choices={[
              { value: "lanes", text: "Side by side", icon: "lanes" },
              { value: "list", text: "List", icon: "list" },
            ]}
            onChange={(next: Layout) => {
              setLayout(next);
              store(stored_as, next);
            }}
          />
        </div>
      </Show>
      <div classList={{ lanes: isLanes(), stack: !isLanes() }}>
        <For each={props.ids}>
          {(id) => (
            <Show when={state.calls[id]}>
              {(call) => (
                <ToolCallBlock
                  call={call()}
                  artifact={state.artifacts[call().artifactId ?? ""]}
                  asks={asks(call())}
                  waitsForLogin={waitsForLogin(state, call())}
                  isExplained={isExplained(state, call())}
                  stopping={props.stopping}
                  isLane={isLanes()}
                  onStop={() => props.open.cancel(id)}
                />
              )}
            </Show>
          )}
        </For>
      </div>
    </section>
  );
}

/** "1 running, 1 needs you, 1 done" */
export function groupWords(calls: StreamingToolCall[], asks: (call: StreamingToolCall) => boolean): string {
  const counts = new Map<string, number>();
  for (const call of calls) {
    const status = callStatus(call);
    const word = !status.running ? status.label : asks(call) ? "needs you" : "running";
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const first = ["running", "needs you"];
  return [...first, ...[...counts.keys()].filter((word) => !first.includes(word))]
    .flatMap((word) => (counts.has(word) ? [`${counts.get(word)} ${word}`] : []))
    .join(", ");
}
