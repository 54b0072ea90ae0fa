// What the next message goes to and how: small buttons at the foot of the composer, each with its list.

import { type JSX, Show } from "solid-js";
import type { Agent, Policy } from "../api/types";
import { Icon, type IconName } from "../kit/Icon";
import { later } from "../kit/later";
import { Menu } from "../kit/Menu";
import { type AgentOptions, modeOf } from "../state/agentOptions";
import { titleOf } from "../state/agents";
import { watch_only, watchesOnly } from "../state/device";
import { visible } from "../state/visible";
import type { Kind } from "./PillItems";

const PillItems = later(async () => (await import("./PillItems")).PillItems);
const UsageCard = later(async () => (await import("./UsageCard")).UsageCard);
const ModelField = later(async () => (await import("./PillItems")).ModelField);

export interface Choices {
  agents: Agent[];
  agent: string | undefined;
  model: string | undefined;
  /** Null where the server's default holds. */
  policy: Policy | null;
  /** What that is. */
  defaultPolicy: Policy | null;
  branch: string | null;
  options?: AgentOptions;
  setAgent(id: string): void;
  setModel(id: string): void;
  setPolicy(policy: Policy | null): void;
  setOption?(name: string, option: string, value: string | boolean): void;
  onChanges?(): void;
  /** How many remembered answers hold. */
  rules?: number;
  sessionId?: string;
  onRules?(): void;
}

const policy_words: Record<Policy, string> = {
  ask: "Ask",
  auto: "Auto",
  "auto-all": "Auto, all files",
  "read-only": "Read only",
  deny: "Deny",
};
export const policyText = (policy: Policy | null) => (policy && policy_words[policy]) || "Server default";

export function Pills(props: Choices) {
  const mode = () => modeOf(props.options?.main());
  const agentTitle = () => visible(titleOf(props.agents, props.agent ?? ""));
  const modelText = () => modelTitle(props.model);
  const held = () => props.policy ?? props.defaultPolicy;
  const items = (kinds: Kind[]) => (close: () => void) => <PillItems kinds={kinds} choices={props} close={close} />;
  const field = (close: () => void) => <ModelField choices={props} close={close} />;
  /** The ring has no room on a phone. */
  const fieldAndUsage = (close: () => void) => (
    <>
      {field(close)}
      <Show when={props.options?.sessions.some(({ usage }) => usage != null)}>
        <UsageCard sessions={props.options?.sessions ?? []} />
      </Show>
    </>
  );
  return (
    <>
      <Show when={props.agents.length > 0 || props.agent}>
        <Pill label={`Agent: ${agentTitle()}`} icon="agents" text={agentTitle()}>
          {items(["agent"])}
        </Pill>
      </Show>
      <Pill class="model" label={`Model: ${modelText()}`} text={modelText()} foot={field}>
        {items(["model"])}
      </Pill>
      <Show when={mode()}>
        {(name) => (
          <Pill class="optional" label={`Mode: ${visible(name())}`} icon="bolt" text={visible(name())}>
            {items(["mode"])}
          </Pill>
        )}
      </Show>
      <Pill
        class="policy"
        label={`Permissions: ${policyText(held())}${held()?.startsWith("auto") ? ", approves automatically" : ""}${rulesText(props.rules, ", ", " applies", " apply")}`}
        icon="shield"
        count={props.rules ?? 0}
        text={policyText(held())}
      >
        {items(["policy"])}
      </Pill>
      <Show when={props.branch}>
        {(branch) => (
          <Pill class="optional" label={`Branch: ${visible(branch())}`} icon="branch" text={visible(branch())}>
            {items(["branch"])}
          </Pill>
        )}
      </Show>
      <Pill class="sliders" label="Model, mode, branch" icon="settings" foot={fieldAndUsage}>
        {items(["model", ...(mode() ? (["mode"] as const) : []), ...(props.branch ? (["branch"] as const) : [])])}
      </Pill>
    </>
  );
}

const rulesText = (count = 0, before = "", one = "", many = "") =>
  count === 0 ? "" : `${before}${count} ${count === 1 ? `rule${one}` : `rules${many}`}`;

interface PillProps {
  label: string;
  icon?: IconName;
  text?: string;
  class?: string;
  /** Of the rules. */
  count?: number;
  children: (close: () => void) => JSX.Element;
  foot?: (close: () => void) => JSX.Element;
}

function Pill(props: PillProps) {
  return (
    <Menu
      label={props.label}
      load={PillItems.preload}
      foot={watchesOnly() ? undefined : props.foot}
      button={(button) => (
        <button
          type="button"
          {...button}
          class={props.class ? `pill ${props.class}` : "pill"}
          aria-label={props.label}
          title={props.label}
        >
          <Show when={props.icon}>{(name) => <Icon name={name()} size="small" />}</Show>
          <Show when={props.text}>
            <span class="pill-text cut">{props.text}</span>
            <Show when={props.count}>
              {(count) => (
                <span class="pill-count num">
                  {count()} <span class="pill-unit">{count() === 1 ? "rule" : "rules"}</span>
                </span>
              )}
            </Show>
            <Icon name="more" size="tiny" />
          </Show>
        </button>
      )}
    >
      {(close) => (
        <Show when={!watchesOnly()} fallback={<p class="menu-heading">{watch_only}</p>}>
          {props.children(close)}
        </Show>
      )}
    </Menu>
  );
}

export function modelTitle(model: string | undefined): string {
  return model === "relay" ? "No main AI" : visible(model ?? "");
}
