import { createMemo, Show } from "solid-js";
import type { Usage } from "../state/flow";

const number = new Intl.NumberFormat("en-US");

/** What the agent's models have read and written, as the agent counts it. */
export function TokenCount(props: { usage: Usage | null }) {
  const text = createMemo(() => (props.usage ? tokenText(props.usage) : ""));
  return (
    <Show when={text()}>
      <span class="copilot-usage" title={props.usage ? tokenDetails(props.usage) : ""}>
        {text()}
      </span>
    </Show>
  );
}

export function tokenText({ input, output, total }: Usage): string {
  const text = join([
    [input, "in"],
    [output, "out"],
  ]);
  return text || join([[total, "tokens"]]);
}

function tokenDetails({ total, thought, cachedRead, cachedWrite }: Usage): string {
  return join([
    [total, "tokens in all"],
    [thought, "for thinking"],
    [cachedRead, "read from the cache"],
    [cachedWrite, "written to the cache"],
  ]);
}

function join(counts: [count: number | null, word: string][]): string {
  return counts.flatMap(([count, word]) => (count === null ? [] : [`${number.format(count)} ${word}`])).join(" · ");
}
