import type { ThoughtPart } from "../../state/flow";
import { Fold } from "../Fold";
import { Markdown } from "../markdown/Markdown";
import { tookText } from "../spans";
import { Event } from "./Timeline";

/** What an agent thought, folded. */
export function Thought(props: { part: ThoughtPart; scope: string; running: boolean }) {
  const key = () => `${props.scope}:${props.part.id}`;
  const head = () => {
    const took = tookText(props.part.heard);
    return props.running ? "Thinking" : took ? `Thought for ${took}` : "Thought";
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
