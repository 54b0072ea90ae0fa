import { createSignal, For, Show } from "solid-js";
import type { MeanwhileChange } from "../api/types";
import { Icon } from "../kit/Icon";
import { PlusMinus } from "../kit/small";
import { Visible } from "../kit/Visible";
import { turnReviewHref } from "../state/route";
import { Meanwhile, Writers } from "./Meanwhile";

const first_files = 10;

/** Below the files of a turn: what else changed while it ran. */
export function TurnMeanwhile(props: { sessionId: string; files: MeanwhileChange[] }) {
  const [isOpen, setOpen] = createSignal(false);
  return (
    <Meanwhile files={props.files} isOpen={isOpen()} onOpen={setOpen}>
      <ul>
        <For each={props.files.slice(0, first_files)}>
          {(file) => (
            <li>
              <Icon name="read" size="small" />
              <a class="cut" href={turnReviewHref(props.sessionId, file.path)}>
                <code>
                  <Visible text={file.path} />
                </code>
              </a>
              <Writers file={file} />
              <PlusMinus additions={file.additions} deletions={file.deletions} />
            </li>
          )}
        </For>
        <Show when={props.files.length > first_files}>
          <li>
            <a href={turnReviewHref(props.sessionId)}>{props.files.length - first_files} more</a>
          </li>
        </Show>
      </ul>
    </Meanwhile>
  );
}
