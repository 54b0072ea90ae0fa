// A list of things to do or to choose from, beside the button that opens it; from below on a phone.

import { createSignal, type JSX, Show } from "solid-js";
import { Portal } from "solid-js/web";
import { later } from "./later";

const MenuList = later(async () => (await import("./MenuList")).MenuList);

/** What the button of a menu spreads onto itself. */
export interface MenuButton {
  ref: (element: HTMLElement) => void;
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
  onPointerEnter: () => void;
  onClick: (event: MouseEvent) => void;
}

interface MenuProps {
  /** Of the list, for everybody who does not see where it hangs. */
  label: string;
  button: (button: MenuButton) => JSX.Element;
  /** Made when it opens; `close` is for items that do not close it by themselves. */
  children: (close: () => void) => JSX.Element;
  /** Below the items, for what is not one: a field to write into. */
  foot?: ((close: () => void) => JSX.Element) | undefined;
  align?: "start" | "end";
  /** Fetches what is in it; it opens when that is here. */
  load?: (() => Promise<unknown>) | undefined;
  onOpen?(): void;
}

export function Menu(props: MenuProps) {
  const [open, setOpen] = createSignal(false);
  let button: HTMLElement | undefined;
  /** Whoever points at the button is about to open it. */
  const load = () => Promise.all([MenuList.preload(), props.load?.()]);
  const close = () => {
    if (!open()) return;
    setOpen(false);
    button?.focus();
  };
  return (
    <>
      {props.button({
        ref: (element) => {
          button = element;
        },
        "aria-haspopup": "menu",
        get "aria-expanded"() {
          return open();
        },
        onPointerEnter: () => void load(),
        onClick: (event) => {
          event.stopPropagation();
          if (open()) return close();
          props.onOpen?.();
          void load().then(() => setOpen(true));
        },
      })}
      <Show when={open()}>
        {/* In the top layer if the button is in it, else in a landmark as everything is. */}
        <Portal
          mount={button?.closest<HTMLElement>("dialog, .panel") ?? document.querySelector("main") ?? document.body}
        >
          <div class="menu-scrim" aria-hidden="true" />
          <MenuList
            label={props.label}
            button={button}
            align={props.align ?? "start"}
            foot={props.foot?.(close)}
            onClose={close}
          >
            {props.children(close)}
          </MenuList>
        </Portal>
      </Show>
    </>
  );
}
