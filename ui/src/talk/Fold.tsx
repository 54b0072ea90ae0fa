import { createMemo, type JSX, Show } from "solid-js";
import { Icon } from "../kit/Icon";
import { handOf, setHand } from "./folds";

interface FoldProps {
  /** Under which name the reader's choice is kept. */
  key: string;
  /** Whether it is open as long as nobody has touched it. */
  open?: boolean;
  class?: string;
  head: JSX.Element;
  /** At the right of the line. */
  end?: JSX.Element;
  /** It is there without being opened: small, and to be found by whoever searches the page. */
  eager?: boolean;
  /** Made when it is first opened. */
  children: JSX.Element;
}

/** A line that opens what belongs to it. */
export function Fold(props: FoldProps) {
  const open = createMemo(() => handOf(props.key) ?? props.open ?? false);
  const isMade = createMemo<boolean>((made) => made || open() || (props.eager ?? false), false);
  return (
    <details
      class={`fold ${props.class ?? ""}`}
      data-fold={props.key}
      open={open()}
      onToggle={(event) => {
        const now = event.currentTarget.open;
        if (now !== open()) setHand(props.key, now);
      }}
    >
      <summary class="line">
        <span class="cut line-words">{props.head}</span>
        <Icon name="next" size="small" />
        <Show when={props.end}>
          <span class="line-end num">{props.end}</span>
        </Show>
      </summary>
      <Show when={isMade()}>{props.children}</Show>
    </details>
  );
}
