import { createSignal, type JSX, onCleanup, onMount, Show, useContext } from "solid-js";
import { IconButton } from "../../kit/Button";
import { AgentMark } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import { Pager } from "./pager";

/** So much of what is asked has to be in sight for anybody to answer it. */
const seen_px = 40;

interface AskCardProps {
  /** For everybody who does not see it. */
  label: string;
  title: string;
  /** Who asks: the agent and its session. */
  agent?: string;
  session?: string;
  why?: string | null | undefined;
  class?: string;
  /** Exactly what would be done. */
  children: JSX.Element;
  /** The answers; not to be had while what they answer is out of sight. */
  foot: (isSeen: () => boolean) => JSX.Element;
}

/** A question: who asks, what exactly, and the answers below it. */
export function AskCard(props: AskCardProps) {
  const pager = useContext(Pager);
  const [seen, setSeen] = createSignal(true);
  let what!: HTMLDivElement;
  onMount(() => onCleanup(watchSight(what, setSeen)));
  return (
    <article class={`ask ${props.class ?? ""}`} tabindex="-1" aria-label={props.label}>
      <header>
        <Show when={props.agent}>{(agent) => <AgentMark agent={agent()} />}</Show>
        <h2>
          <Visible text={props.title} />
        </h2>
        <Show when={props.agent}>
          <span class="ask-who cut">
            <span class="robot">🤖 </span>
            <Visible text={props.agent ?? ""} />{" "}
            <span class="mono">
              [<Visible text={props.session ?? ""} />]
            </span>
          </span>
        </Show>
        <Show when={pager && pager.count() > 1 && pager}>
          {(pages) => (
            <span class="pager num">
              <IconButton icon="previous" label="Previous question" onClick={() => pages().go(-1)} />
              {pages().at() + 1} of {pages().count()}
              <IconButton icon="next" label="Next question" onClick={() => pages().go(1)} />
            </span>
          )}
        </Show>
      </header>
      <Show when={props.why}>
        {(why) => (
          <p class="ask-why">
            <Visible text={why()} />
          </p>
        )}
      </Show>
      <div ref={what} class="card-detail">
        {props.children}
      </div>
      {props.foot(seen)}
    </article>
  );
}

/** Whether enough of an element is on the screen, also where a keyboard lies over a part of it. */
function watchSight(element: HTMLElement, tell: (seen: boolean) => void): () => void {
  if (typeof IntersectionObserver === "undefined") return () => {};
  const look = () => {
    const box = element.getBoundingClientRect();
    const view = window.visualViewport;
    const top = Math.max(0, view?.offsetTop ?? 0);
    const bottom = top + (view?.height ?? window.innerHeight);
    const shown = Math.min(box.bottom, bottom) - Math.max(box.top, top);
    // One that is not the question of now has no height, and no buttons to press.
    tell(box.height === 0 || shown >= Math.min(seen_px, box.height));
  };
  const observer = new IntersectionObserver(look, { threshold: [0, 0.1, 0.5, 1] });
  observer.observe(element);
  window.visualViewport?.addEventListener("resize", look);
  window.visualViewport?.addEventListener("scroll", look);
  return () => {
    observer.disconnect();
    window.visualViewport?.removeEventListener("resize", look);
    window.visualViewport?.removeEventListener("scroll", look);
  };
}
