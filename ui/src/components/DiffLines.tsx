import { For, Show } from "solid-js";
import type { DiffLine } from "../diff/lines";
import { visible } from "../state/visible";
import { Visible } from "./Visible";

const signs: Record<DiffLine["kind"], string> = { added: "+", removed: "−", same: " ", skipped: "⋯", header: "" };

/** A change, line by line. The signs tell what the colours tell. */
export function DiffLines(props: { path?: string; isPart?: boolean; lines: DiffLine[] }) {
  return (
    <figure class="diff">
      <Show when={props.path}>
        <figcaption>
          <Visible text={props.path ?? ""} />
          <Show when={props.isPart}>
            {" "}
            <span class="badge">only the changed part</span>
          </Show>
        </figcaption>
      </Show>
      <div
        class="diff-lines"
        tabindex="0"
        role="group"
        aria-label={props.path ? `Change of ${visible(props.path)}` : "Change"}
      >
        <For each={props.lines}>
          {(line) => (
            <div class={`diff-line ${line.kind}`}>
              <span class="diff-sign">{signs[line.kind]}</span>
              <span class="diff-text">
                <Visible text={line.text} />
              </span>
            </div>
          )}
        </For>
      </div>
    </figure>
  );
}
