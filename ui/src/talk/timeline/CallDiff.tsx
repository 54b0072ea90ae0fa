import type { DiffHunk } from "../../api/types";
import { DiffTable } from "../../changes/DiffTable";

interface CallDiffProps {
  path: string;
  hunks: DiffHunk[];
  /** Of a part of the file, whose place in it is not known. */
  withoutNumbers?: boolean;
}

/** A change in the timeline or in a question, scrolled by itself where it is long. */
export function CallDiff(props: CallDiffProps) {
  return (
    <div class="call-diff" classList={{ "without-numbers": props.withoutNumbers ?? false }} tabindex="0">
      <DiffTable hunks={props.hunks} mode="unified" path={props.path} />
    </div>
  );
}
