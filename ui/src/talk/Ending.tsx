import { createMemo, Show } from "solid-js";
import { watchesOnly } from "../state/device";
import type { EndingEntry } from "../state/model";
import type { OpenSession } from "../state/openSession";
import { brokenCall, failedCall, isTold, resume } from "../state/resume";
import { isStraight } from "../state/straight";
import { useAgentNames } from "./agentNames";
import { EndingFoot } from "./EndingFoot";
import { EndingView } from "./EndingView";
import { callEnding } from "./endings";

interface EndingProps {
  open: OpenSession;
  ending: EndingEntry;
  isRelay: boolean;
  onAgain(turnId: string, content: string): Promise<void>;
}

/** How a turn of this session ended that did not end well. */
export function Ending(props: EndingProps) {
  const state = props.open.state;
  const names = useAgentNames();
  const broken = createMemo(() => brokenCall(state, props.ending));
  const agent = () => {
    const call = broken();
    return call ? names.of(call) : undefined;
  };
  const offer = () =>
    props.open.outbox.items.length === 0 && !watchesOnly() ? resume(state, props.ending, props.isRelay) : null;
  /** Straight talk that its agent did not bring to an end: the agent's own ending says it. */
  const own = createMemo(() => {
    const call = broken() ?? failedCall(state, props.ending);
    const known = call && isStraight(call) && props.ending.state === "failed" ? callEnding(call) : null;
    return call && known?.says ? { call, ending: known } : null;
  });
  return (
    <Show when={own()} fallback={<TurnEnding />}>
      {(known) => (
        <div class="ending-card">
          <EndingFoot call={known().call} ending={known().ending} />
        </div>
      )}
    </Show>
  );

  function TurnEnding() {
    return (
      <EndingView
        ending={props.ending}
        isBroken={broken() !== undefined}
        isExplained={isTold(state, props.ending)}
        agent={agent()}
        resume={offer()}
        onSend={(content) => props.open.outbox.send(content)}
        onAgain={(content) => props.onAgain(props.ending.turnId, content)}
      />
    );
  }
}
