import { createEffect, createMemo, createSignal, on, onCleanup, onMount, Show } from "solid-js";
import { Button, IconButton } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { Spinner } from "../kit/Spinner";
import type { OpenSession } from "../state/openSession";
import { createFinds, most_finds } from "./finds";
import { mark, patternOf, rangesIn } from "./marks";
import type { Find } from "./passages";
import { reveal } from "./reveal";
import type { Stick } from "./stick";

const mark_pause_ms = 120;
/** So much may come between two marks of what is drawn. */
const most_marks = 500;

interface FindBarProps {
  open: OpenSession;
  scroller: HTMLElement;
  stick: Stick;
  /** Puts older messages above what is read, which stays where it is. */
  insert: (apply: () => void) => void;
  onClose(): void;
}

/** Finds words in a conversation, also where it is folded or not loaded yet. */
export function FindBar(props: FindBarProps) {
  const [query, setQuery] = createSignal("");
  const [current, setCurrent] = createSignal<Find | null>(null);
  const { finds, isLooking, isPartial, lookFurther } = createFinds(props.open, query, props.insert);
  const at = createMemo(() => {
    const now = current();
    return now === null ? -1 : finds().findIndex((find) => isSame(find, now));
  });
  let input!: HTMLInputElement;
  const before = document.activeElement;

  let steps = 0;
  const show = async (find: Find) => {
    steps += 1;
    const mine = steps;
    setCurrent(find);
    props.stick.leave();
    await reveal({
      scroller: props.scroller,
      state: props.open.state,
      entry: find.entry,
      query: query(),
      find,
      isOver: () => mine !== steps,
    });
    markAll();
  };
  const step = (by: 1 | -1) => {
    const count = finds().length;
    if (count === 0) return;
    const from = at();
    const next = finds()[from < 0 ? nearest() : (from + by + count) % count];
    if (next) void show(next);
  };
  /** The first from where the reader is on. */
  const nearest = () => {
    const { top } = props.scroller.getBoundingClientRect();
    const shown = [...props.scroller.querySelectorAll<HTMLElement>(".entry")].find(
      (entry) => entry.getBoundingClientRect().bottom > top,
    );
    const order = new Map(props.open.state.entries.map(({ id }, index) => [id, index]));
    const from = order.get(shown?.dataset.entry ?? "") ?? 0;
    const found = finds().findIndex(({ entry }) => (order.get(entry) ?? 0) >= from);
    return found < 0 ? finds().length - 1 : found;
  };
  // The first is shown as it is typed; later finds move nobody.
  createEffect(
    on(query, () => {
      steps += 1;
      setCurrent(null);
      mark("found-here", []);
    }),
  );
  createEffect(() => {
    if (current() === null && finds().length > 0 && query().trim() !== "") step(1);
  });

  /** Marks what is drawn. */
  const markAll = () => {
    const pattern = patternOf(query());
    const ranges: Range[] = [];
    const drawn = pattern ? props.scroller.querySelectorAll(".entry:not(.far)") : [];
    for (const entry of drawn) {
      if (pattern && ranges.length < most_marks) ranges.push(...rangesIn(entry, pattern));
    }
    mark("found", ranges);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const markSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(markAll, mark_pause_ms);
  };
  createEffect(on(() => [query(), finds()], markSoon));
  onMount(() => {
    input.focus();
    props.scroller.addEventListener("scroll", markSoon, { passive: true });
  });
  onCleanup(() => {
    clearTimeout(timer);
    steps += 1;
    props.scroller.removeEventListener("scroll", markSoon);
    mark("found", []);
    mark("found-here", []);
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") props.onClose();
    else return;
    event.preventDefault();
  };
  const count = () => {
    if (query().trim() === "") return "";
    const total = finds().length;
    if (total === 0) return isLooking() ? "" : "No matches";
    const all = total >= most_finds ? `${most_finds.toLocaleString("en")}+` : String(total);
    return at() < 0 ? all : `${at() + 1} of ${all}`;
  };
  return (
    <search class="find-bar" aria-label="Find in this conversation" onKeyDown={onKeyDown}>
      <label class="find-field">
        <Icon name="search" />
        <input
          ref={input}
          type="text"
          aria-label="Find in this conversation"
          placeholder="Find in this conversation"
          title="Searches messages, agent output and changes, including folded ones"
          autocomplete="off"
          spellcheck={false}
          enterkeyhint="search"
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <span class="find-count num" role="status">
          {count()}
        </span>
      </label>
      <IconButton icon="send" label="Previous match" disabled={finds().length === 0} onClick={() => step(-1)} />
      <IconButton icon="down" label="Next match" disabled={finds().length === 0} onClick={() => step(1)} />
      <IconButton icon="close" label="Close find" onClick={() => props.onClose()} />
      <Show when={query().trim() !== "" && isLooking()}>
        <p class="find-note">
          <Spinner /> Searching older messages…
        </p>
      </Show>
      <Show when={query().trim() !== "" && isPartial()}>
        <p class="find-note">
          Older messages were not searched. <Button onClick={() => lookFurther()}>Search older</Button>
        </p>
      </Show>
    </search>
  );
}

const isSame = (one: Find, other: Find) =>
  one.entry === other.entry && one.nth === other.nth && one.passage.folds.join() === other.passage.folds.join();
