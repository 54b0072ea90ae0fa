// The list of a menu and its items, loaded with the first menu that is opened.

import { type JSX, onCleanup, onMount, Show, splitProps } from "solid-js";
import { uncover } from "./deliberate";
import { Icon, type IconName } from "./Icon";

const gap_px = 4;

interface MenuListProps {
  label: string;
  button: HTMLElement | undefined;
  align: "start" | "end";
  foot: JSX.Element;
  onClose(): void;
  children: JSX.Element;
}

/** The list itself, where it has room. */
export function MenuList(props: MenuListProps) {
  let list!: HTMLDivElement;
  const items = () => [...list.querySelectorAll<HTMLElement>(".menu-item:not(:disabled), input")];

  const place = () => {
    const at = props.button?.getBoundingClientRect();
    if (!at) return;
    const { offsetWidth: width, offsetHeight: height } = list;
    const left = props.align === "end" ? at.right - width : at.left;
    const isRoom = at.bottom + gap_px + height <= window.innerHeight;
    list.style.left = `${Math.max(8, Math.min(left, window.innerWidth - width - 8))}px`;
    list.style.top = `${Math.max(8, isRoom ? at.bottom + gap_px : at.top - gap_px - height)}px`;
  };
  const onOutside = (event: Event) => {
    const target = event.target as Node;
    if (!list.contains(target) && !props.button?.contains(target)) props.onClose();
  };
  /** What was focused may be gone from the list, and with it the way that keys take. */
  const onEscape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    props.onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Tab") {
      event.preventDefault();
      event.stopPropagation();
      props.onClose();
    } else if (step !== undefined) {
      event.preventDefault();
      all[(at + step + all.length) % all.length]?.focus();
    } else if (event.key === "Home" || event.key === "End") {
      if (document.activeElement instanceof HTMLInputElement) return;
      event.preventDefault();
      all.at(event.key === "Home" ? 0 : -1)?.focus();
    }
  };
  onMount(() => {
    place();
    const chosen = list.querySelector<HTMLElement>("input, [aria-checked='true']");
    (chosen ?? items()[0])?.focus({ preventScroll: true });
    // What is long may come later, and the window may turn.
    const observer = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(place);
    observer?.observe(list);
    document.addEventListener("pointerdown", onOutside, true);
    document.addEventListener("keydown", onEscape, true);
    window.addEventListener("resize", place);
    onCleanup(() => {
      uncover();
      observer?.disconnect();
      document.removeEventListener("pointerdown", onOutside, true);
      document.removeEventListener("keydown", onEscape, true);
      window.removeEventListener("resize", place);
    });
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the list and of what stands below it
    <div ref={list} class="menu" onKeyDown={onKeyDown}>
      <div role="menu" tabindex="-1" aria-label={props.label}>
        {props.children}
      </div>
      {props.foot}
    </div>
  );
}

interface MenuItemProps extends JSX.ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  /** Of a choice: whether it is the one that holds. */
  chosen?: boolean;
  note?: string | undefined;
  danger?: boolean;
  end?: JSX.Element;
  onChoose(): void;
}

/** Something to do, or one of several choices. */
export function MenuItem(props: MenuItemProps) {
  const [own, rest] = splitProps(props, ["icon", "chosen", "note", "danger", "end", "class", "onChoose", "children"]);
  return (
    <button
      type="button"
      {...(own.chosen === undefined ? { role: "menuitem" } : { role: "menuitemradio", "aria-checked": own.chosen })}
      tabindex="-1"
      {...rest}
      class={["menu-item", own.danger && "danger", own.class].filter(Boolean).join(" ")}
      onClick={() => own.onChoose()}
    >
      <Show when={own.icon}>{(name) => <Icon name={name()} />}</Show>
      <span class="grow">
        {own.children}
        <Show when={own.note}>
          <small>{own.note}</small>
        </Show>
      </span>
      <Show when={own.end}>
        <span class="end">{own.end}</span>
      </Show>
      <Show when={own.chosen}>
        <Icon name="check" />
      </Show>
    </button>
  );
}
