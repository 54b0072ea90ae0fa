import { createRenderEffect, createSignal, onCleanup, untrack } from "solid-js";
import { unwrap } from "solid-js/store";
import { copyText } from "../../kit/copy";
import { tell } from "../../kit/toasts";
import { newText, type TextStream } from "../../state/text";
import { rawText } from "./morph";
import { MarkdownView } from "./view";

/** How much longer than drawing itself the pause behind it is. */
const rest_factor = 8;
const told_ms = 1_500;

interface MarkdownProps {
  text: TextStream;
  class?: string;
  /** More of it may come. */
  streaming?: boolean;
}

/** A text of somebody's, drawn as it grows. What is there stays as it is, and nothing in it is hidden. */
export function Markdown(props: MarkdownProps) {
  const element = (<div class={`markdown ${props.class ?? ""}`} />) as HTMLDivElement;
  const earlier = (
    <button type="button" class="show-earlier" onClick={() => showEarlier()}>
      Show earlier
    </button>
  ) as HTMLButtonElement;
  const view = new MarkdownView(element, earlier);
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let notBefore = 0;
  let isFirst = true;

  const draw = () => {
    frame = 0;
    const began = performance.now();
    element.toggleAttribute("data-open", props.streaming ?? false);
    untrack(() => view.update(unwrap(props.text), props.streaming ?? false));
    const ended = performance.now();
    notBefore = ended + (ended - began) * rest_factor;
  };
  createRenderEffect(() => {
    // What is drawn depends on these, however late it is drawn.
    void props.text.version;
    void props.text.length;
    void props.streaming;
    if (isFirst) {
      isFirst = false;
      draw();
      return;
    }
    if (frame !== 0 || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        frame = requestAnimationFrame(draw);
      },
      Math.max(0, notBefore - performance.now()),
    );
  });
  onCleanup(() => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
  });

  /** What is read stays where it is, however much comes above it. */
  const showEarlier = () => {
    const anchor = earlier.nextElementSibling;
    const before = anchor?.getBoundingClientRect().top ?? 0;
    view.showEarlier();
    const scroller = element.closest<HTMLElement>(".copilot-stream:not(.straight), .log");
    if (anchor && scroller) scroller.scrollTop += anchor.getBoundingClientRect().top - before;
  };
  element.addEventListener("click", (event) => {
    const button = (event.target as Element).closest?.<HTMLElement>(".code-block .copy-button");
    const block = button?.closest(".code-block");
    if (button && block) void copy(button, rawText.get(block) ?? "");
  });
  return element;
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  try {
    await copyText(text);
    button.classList.add("copied");
    button.setAttribute("aria-label", "Copied");
    setTimeout(() => {
      button.classList.remove("copied");
      button.setAttribute("aria-label", "Copy code");
    }, told_ms);
  } catch {
    tell("Copying was blocked by the browser.");
  }
}

/** The same for a text that is there as a whole. */
export function MarkdownText(props: { text: string; class?: string }) {
  let version = 0;
  const [text, setText] = createSignal<TextStream>(newText(0));
  createRenderEffect(() => {
    version += 1;
    setText(newText(version, props.text));
  });
  return <Markdown text={text()} class={props.class ?? ""} />;
}
