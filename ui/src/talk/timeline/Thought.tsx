import { duration } from "../../kit/duration";
import type { ThoughtPart } from "../../state/flow";
import { Fold } from "../Fold";
import { Markdown } from "../markdown/Markdown";
import { createSpan } from "../spans";
import { Event } from "./Timeline";

/** What an agent thought, folded. */
export function Thought(props: { part: ThoughtPart; scope: string; running: boolean }) {
  const key = () => `${props.scope}:${props.part.id}`;
  const span = createSpan(
    key(),
    () => props.running,
    () => props.part.heard,
  );
  const head = () => {
    if (props.running) return "Thinking";
    const ms = span();
    return ms === null || ms < 1_000 ? "Thought" : `Thought for ${duration(ms)}`;
  };
  return (
    <Event icon="think" dot={props.running} class="thought">
      <Fold key={key()} head={head()}>
        <div class="fold-text">
          <Markdown class="thought-text" text={props.part.text} streaming={props.running} />
        </div>
      </Fold>
    </Event>
  );
}
