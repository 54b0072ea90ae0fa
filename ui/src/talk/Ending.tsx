import { createMemo } from "solid-js";
import { watchesOnly } from "../state/device";
import type { EndingEntry } from "../state/model";
import type { OpenSession } from "../state/openSession";
import { brokenCall, isTold, resume } from "../state/resume";
import { useAgentNames } from "./agentNames";
import { EndingView } from "./EndingView";

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
