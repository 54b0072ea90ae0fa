import { For } from "solid-js";

const shapes = {
  menu: ["M4 7h16", "M4 12h16", "M4 17h16"],
  plus: ["M12 5v14", "M5 12h14"],
  edit: ["M4 20l1-4L16 5l3 3L8 19l-4 1z", "M14 7l3 3"],
  trash: ["M5 7h14", "M9 7V4h6v3", "M7 7l1 13h8l1-13"],
  close: ["M6 6l12 12", "M18 6L6 18"],
  send: ["M12 19V5", "M6 11l6-6 6 6"],
  stop: ["M7 7h10v10H7z"],
  down: ["M12 5v14", "M6 13l6 6 6-6"],
  settings: ["M5 8h8", "M17 8h2", "M5 16h2", "M11 16h8", "M13 6v4h4V6z", "M7 14v4h4v-4z"],
  check: ["M5 13l4 4L19 7"],
  dot: ["M12 11v2"],
  read: ["M6 3h8l4 4v14H6z", "M14 3v4h4", "M9 12h6", "M9 16h6"],
  move: ["M4 12h15", "M13 6l6 6-6 6"],
  search: ["M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12z", "M16 16l4 4"],
  execute: ["M4 6l5 5-5 5", "M12 17h8"],
  think: ["M9 18h6", "M10 21h4", "M12 3a6 6 0 0 0-4 10c1 1 1 2 1 3h6c0-1 0-2 1-3a6 6 0 0 0-4-10z"],
  fetch: ["M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z", "M3 12h18", "M12 3c3 3 3 15 0 18", "M12 3c-3 3-3 15 0 18"],
  other: ["M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", "M12 3v3", "M12 18v3", "M3 12h3", "M18 12h3"],
  key: ["M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", "M11 12l8-8", "M15 8l3 3"],
  shield: ["M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z"],
  traffic: ["M4 8h15", "M15 4l4 4-4 4", "M20 16H5", "M9 12l-4 4 4 4"],
  clip: ["M8 12l6-6a3 3 0 0 1 4 4l-8 8a5 5 0 0 1-7-7l8-8"],
  camera: ["M4 8h4l2-3h4l2 3h4v11H4z", "M12 10a3 3 0 1 0 0 6 3 3 0 0 0 0-6z"],
  history: ["M5 6v4h4", "M5 10a8 8 0 1 1-1 5", "M12 8v4l3 2"],
  agents: ["M5 9h14v10H5z", "M12 9V5", "M10 5h4", "M9 13v2", "M15 13v2"],
  devices: ["M3 5h13v9H3z", "M7 18h6", "M17 9h4v10h-4z"],
  copy: ["M9 9h11v11H9z", "M5 15V4h11"],
  bolt: ["M13 3L5 14h6l-1 7 8-11h-6z"],
  files: ["M8 3h7l4 4v10H8z", "M5 7v14h10"],
} as const;

export type IconName = keyof typeof shapes;

/** Decoration beside a text or a label, never the only carrier of a meaning. */
export function Icon(props: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <For each={shapes[props.name]}>{(path) => <path d={path} />}</For>
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
