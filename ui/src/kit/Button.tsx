import { type JSX, Show, splitProps } from "solid-js";
import { Icon, type IconName } from "./Icon";

export interface ButtonProps extends JSX.ButtonHTMLAttributes<HTMLButtonElement> {
  /** `main` for the one thing to do here, `quiet` for what is beside it, `deny` for a no. */
  kind?: "main" | "quiet" | "deny" | undefined;
  small?: boolean;
  icon?: IconName;
}

/** A verb that can be pressed. */
export function Button(props: ButtonProps) {
  const [own, rest] = splitProps(props, ["kind", "small", "icon", "class", "children"]);
  return (
    <button
      type="button"
      {...rest}
      class={["button", own.kind, own.small && "small", own.class].filter(Boolean).join(" ")}
    >
      <Show when={own.icon}>{(name) => <Icon name={name()} />}</Show>
      {own.children}
    </button>
  );
}

interface IconButtonProps extends JSX.ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does, for everybody who does not see it; also its tooltip. */
  label: string;
}

export function IconButton(props: IconButtonProps) {
  const [own, rest] = splitProps(props, ["icon", "label", "class", "children"]);
  return (
    <button
      type="button"
      title={own.label}
      aria-label={own.label}
      {...rest}
      class={own.class ? `icon-button ${own.class}` : "icon-button"}
    >
      <Icon name={own.icon} />
      {own.children}
    </button>
  );
}
