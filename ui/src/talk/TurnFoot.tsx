import { createMemo, Show } from "solid-js";
import { IconButton } from "../kit/Button";
import { CopyButton } from "../kit/CopyButton";
import { duration } from "../kit/duration";
import { clock } from "../kit/time";
import { watchesOnly } from "../state/device";
import type { SessionState } from "../state/model";
import { RawAnswer } from "./rawLater";
import { turnOf } from "./turns";

interface TurnFootProps {
  state: SessionState;
  /** Where the turn ends in the entries. */
  index: number;
  onAgain: ((turnId: string, content: string) => void) | null;
}

/** Below a turn that has ended: what can be done with its words, how long it took and when it ended. Its room is there from the start. */
export function TurnFoot(props: TurnFootProps) {
  const turn = createMemo(() => turnOf(props.state, props.index));
  const running = () => props.state.runningTurn !== null && turn().turnId === props.state.runningTurn;
  const words = () => {
    const { from, to, waited, cost } = turn();
    const time = from === null || to === null ? "" : duration(Math.max(0, to - from - waited));
    const at = to === null ? "" : clock(new Date(to));
    return [time, cost, at].filter(Boolean).join(" · ");
  };
  return (
    <div class="turn-foot">
      <Show when={!running() && turn().answer}>{(answer) => <CopyButton label="Copy answer" text={answer} />}</Show>
      <Show when={!running() && props.onAgain && !watchesOnly() && turn().asked !== null && turn().turnId}>
        <IconButton
          icon="retry"
          label="Retry"
          title="Retry: sends your message once more"
          onClick={() => props.onAgain?.(turn().turnId ?? "", turn().asked ?? "")}
        />
      </Show>
      <Show when={!running()}>
        <span class="turn-words num">{words()}</span>
        <RawAnswer calls={turn().calls} />
      </Show>
    </div>
  );
}
