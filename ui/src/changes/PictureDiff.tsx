import { createSignal, For, Show } from "solid-js";
import type { FileChange } from "../api/types";
import { formatSize } from "../state/attachments";
import { visible } from "../state/visible";
import type { Side } from "./rows";

interface PictureDiffProps {
  file: FileChange;
  url(side: Side): string;
}

const titles: Record<Side, string> = { old: "Before", new: "After" };

/** An image as it was, beside what it is now. */
export function PictureDiff(props: PictureDiffProps) {
  const sides = (): Side[] => {
    if (props.file.status === "added") return ["new"];
    return props.file.status === "deleted" ? ["old"] : ["old", "new"];
  };
  return (
    <div class="picture-diff">
      <For each={sides()}>{(side) => <Picture side={side} file={props.file} url={props.url(side)} />}</For>
    </div>
  );
}

function Picture(props: { side: Side; file: FileChange; url: string }) {
  const [size, setSize] = createSignal("");
  const [isBroken, setBroken] = createSignal(false);
  const bytes = () => (props.side === "old" ? props.file.old_size : props.file.new_size);
  const words = () => [titles[props.side], size(), bytes() == null ? "" : formatSize(bytes() ?? 0)].filter(Boolean);
  const path = () => visible((props.side === "old" && props.file.old_path) || props.file.path);
  return (
    <figure class={props.side}>
      <figcaption class="num">{words().join(" · ")}</figcaption>
      <Show when={!isBroken()} fallback={<p class="mute">This image cannot be shown.</p>}>
        <img
          src={props.url}
          alt={`${path()}, ${titles[props.side].toLowerCase()}`}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setSize(`${naturalWidth} × ${naturalHeight}`)}
          onError={() => setBroken(true)}
        />
      </Show>
    </figure>
  );
}
