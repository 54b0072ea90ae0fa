// The one set of icons: a grid of 16, strokes of 1.5, round caps. Those that a first screen has no use for are in `moreIcons`.

import { createSignal } from "solid-js";
import { insist } from "./later";
import type { MoreShapes } from "./moreIcons";

const shapes = {
  agents:
    "M5 5.25h6a2.5 2.5 0 0 1 2.5 2.5v3a2.5 2.5 0 0 1-2.5 2.5H5a2.5 2.5 0 0 1-2.5-2.5v-3A2.5 2.5 0 0 1 5 5.25zM8 5.25V2.5M6 8.5V10M10 8.5V10",
  back: "M13 8H3.5M7.5 4l-4 4 4 4",
  bell: "M4 6.5a4 4 0 0 1 8 0c0 3.5 1.5 4.5 1.5 4.5h-11S4 10 4 6.5zM6.75 13.5h2.5",
  bellOff:
    "M4.3 5a4 4 0 0 1 7.7 1.5c0 3.5 1.5 4.5 1.5 4.5H6M4 7.5C3.8 10.2 2.5 11 2.5 11H4M6.75 13.5h2.5M2.5 2.5l11 11",
  bolt: "M9 1.75 3.5 9H8l-1 5.25L12.5 7H8z",
  branch:
    "M6 3.75a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0zM6 12.25a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0zM13 5.25a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0zM4.5 5.25v5.5M11.5 6.75c0 2.4-2.6 2.5-5 2.75-1.2.13-2 .5-2 1.25",
  camera: "M2 5.25h2.5L5.75 3.5h4.5l1.25 1.75H14v7.25H2zM10 8.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
  changes: "M8 2.5v6M5 5.5h6M5 12.5h6",
  check: "M3.5 8.5l3 3 6-7",
  clip: "M13 7.5l-5.2 5.2a3 3 0 0 1-4.3-4.3l5.6-5.6a2 2 0 0 1 2.9 2.9l-5.4 5.4a1 1 0 0 1-1.5-1.4l4.9-4.9",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 5.5h6.5c.55 0 1 .45 1 1V13c0 .55-.45 1-1 1H6c-.55 0-1-.45-1-1V6.5c0-.55.45-1 1-1zM11 5.5V3c0-.55-.45-1-1-1H3.5c-.55 0-1 .45-1 1v6.5c0 .55.45 1 1 1H5",
  devices:
    "M8.25 11.25H3c-.7 0-1.25-.55-1.25-1.25V4c0-.7.55-1.25 1.25-1.25h8c.7 0 1.25.55 1.25 1.25M4.5 13.25h3.75M11 7h2.25c.55 0 1 .45 1 1v5.25c0 .55-.45 1-1 1H11c-.55 0-1-.45-1-1V8c0-.55.45-1 1-1z",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "M8 3v10M4 9l4 4 4-4",
  edit: "M10.75 2.75l2.5 2.5L5.5 13l-3.25.75L3 10.5z",
  execute:
    "M3.25 2.75h9.5c.83 0 1.5.67 1.5 1.5v7.5c0 .83-.67 1.5-1.5 1.5h-9.5c-.83 0-1.5-.67-1.5-1.5v-7.5c0-.83.67-1.5 1.5-1.5zM4.5 6l2 2-2 2M8.5 10.25h3",
  fetch: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM2 8h12M8 2c2.2 1.8 2.2 10.2 0 12M8 2C5.8 3.8 5.8 12.2 8 14",
  file: "M9 1.75H4.5c-.7 0-1.25.55-1.25 1.25v10c0 .7.55 1.25 1.25 1.25h7c.7 0 1.25-.55 1.25-1.25V5.5zM9 1.75V5.5h3.75",
  folder: "M1.75 4.25c0-.55.45-1 1-1h3l1.5 1.75h6c.55 0 1 .45 1 1v6.25c0 .55-.45 1-1 1H2.75c-.55 0-1-.45-1-1z",
  menu: "M2.5 5h11M2.5 11h7",
  more: "M4.5 6.5 8 10l3.5-3.5",
  move: "M2.5 8h11M9.5 4l4 4-4 4",
  new: "M8 2.75H4c-.83 0-1.5.67-1.5 1.5V12c0 .83.67 1.5 1.5 1.5h7.75c.83 0 1.5-.67 1.5-1.5V8M12 2.25 13.75 4 8.5 9.25l-2.25.5.5-2.25z",
  next: "M6.5 4.5 10 8l-3.5 3.5",
  no: "M14.25 8a6.25 6.25 0 1 1-12.5 0 6.25 6.25 0 0 1 12.5 0zM3.6 3.6l8.8 8.8",
  other: "M10.5 8a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM8 2v2M8 12v2M2 8h2M12 8h2",
  panel:
    "M3.5 2.75h9c.83 0 1.5.67 1.5 1.5v7.5c0 .83-.67 1.5-1.5 1.5h-9c-.83 0-1.5-.67-1.5-1.5v-7.5c0-.83.67-1.5 1.5-1.5zM6 2.75v10.5",
  plan: "M7 4h6.5M7 8h6.5M7 12h6.5M2.25 4l.9.9 1.6-1.7M2.25 8l.9.9 1.6-1.7M3 12h.75",
  plus: "M8 3v10M3 8h10",
  read: "M9 1.75H4.5c-.7 0-1.25.55-1.25 1.25v10c0 .7.55 1.25 1.25 1.25h7c.7 0 1.25-.55 1.25-1.25V5.5zM9 1.75V5.5h3.75M5.75 8.5h4.5M5.75 11h3",
  search: "M11.25 7a4.25 4.25 0 1 1-8.5 0 4.25 4.25 0 0 1 8.5 0zM10.2 10.2l3.3 3.3",
  send: "M8 13V3M4 7l4-4 4 4",
  settings:
    "M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M11.5 5a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0zM7.5 11a1.5 1.5 0 1 1-3 0 1.5 1.5 0 0 1 3 0z",
  shield: "M8 1.75l5 1.75v4c0 3.25-2.1 5.6-5 6.75-2.9-1.15-5-3.5-5-6.75v-4z",
  think: "M5.75 10.5c-1.15-.8-2-2.1-2-3.75a4.25 4.25 0 0 1 8.5 0c0 1.65-.85 2.95-2 3.75v1h-4.5zM6.25 13.75h3.5",
  warning: "M8 2.5l6 10.75H2zM8 6.75v3M8 11.5h.01",
} as const;

const [more, setMore] = createSignal<MoreShapes | null>(null);
let isLoading = false;

/** Loads the other icons, whose room is kept until they are here. */
export async function loadMoreIcons(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  const { shapes } = await insist(() => import("./moreIcons"));
  setMore(shapes);
}

export type IconName = keyof typeof shapes | keyof MoreShapes;

function shapeOf(name: IconName): string {
  if (name in shapes) return shapes[name as keyof typeof shapes];
  void loadMoreIcons();
  return more()?.[name as keyof MoreShapes] ?? "";
}

/** Decoration beside a text or a label, never the only carrier of a meaning. */
export function Icon(props: { name: IconName; size?: "small" | "tiny" }) {
  return (
    <svg class={props.size ? `icon ${props.size}` : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapeOf(props.name)} />
    </svg>
  );
}

export const iconNames = (): IconName[] => Object.keys({ ...shapes, ...more() }) as IconName[];

/** The mark of the product. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M2.5 6v4M6.25 3.5v9M10 8v9.5M13.75 3.5v9M17.5 6v4" />
    </svg>
  );
}

export function kindIcon(kind: string | null | undefined): IconName {
  switch (kind) {
    case "read":
    case "edit":
    case "move":
    case "search":
    case "execute":
    case "think":
    case "fetch":
      return kind;
    case "delete":
      return "trash";
    default:
      return "other";
  }
}
