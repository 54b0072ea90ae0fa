import type { ThoughtPart } from "../../state/flow";
import { Fold } from "../Fold";
import { Markdown } from "../markdown/Markdown";
import { RawLines } from "../rawLater";
import { tookText } from "../spans";
import { Event } from "./Timeline";

interface ThoughtProps {
  part: ThoughtPart;
  scope: string;
  running: boolean;
}

/** What an agent is thinking, folded. */
export function Thought(props: ThoughtProps) {
  return (
    <Event icon="think" dot={props.running} class="thought">
      <ThoughtFold {...props} />
    </Event>
  );
}

/** The same among the other things of a row. */
export function ThoughtFold(props: ThoughtProps) {
  const head = () => {
    const took = tookText(props.part.heard);
    return props.running ? "Thinking" : took ? `Thought for ${took}` : "Thought";
  };
  return (
    <Fold key={`${props.scope}:${props.part.id}`} head={head()}>
      <div class="fold-text">
        <Markdown class="thought-text" text={props.part.text} streaming={props.running} />
        <RawLines heard={props.part.heard} />
      </div>
    </Fold>
  );
}
