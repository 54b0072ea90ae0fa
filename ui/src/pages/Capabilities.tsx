import { For, Show } from "solid-js";
import type { Agent } from "../api/types";
import { Button } from "../kit/Button";
import { Icon } from "../kit/Icon";
import { Visible } from "../kit/Visible";
import { abilityFacts, summaryOf, testedText } from "../state/agents";

interface CapabilitiesProps {
  agent: Agent;
  /** Whether a test can be begun, and why not. */
  disabled: boolean;
  title: string | undefined;
  onTest(): void;
}

const icons = { yes: "check", no: "close", failed: "warning" } as const;

/** What it can do: only what was tried, or what it says itself. */
export function Capabilities(props: CapabilitiesProps) {
  const facts = () => abilityFacts(props.agent);
  const canTest = () => props.agent.found !== "npx" && props.agent.found !== "remote";
  return (
    <details class="abilities">
      <summary>
        <Icon name="next" size="small" /> Capabilities <span class="soft">{summaryOf(props.agent)}</span>
      </summary>
      <ul>
        <For each={facts()}>
          {(fact) => (
            <li class={fact.tone}>
              <Icon name={icons[fact.tone]} />
              <span>
                <Visible text={fact.words} />
              </span>
              <span>{fact.source}</span>
            </li>
          )}
        </For>
      </ul>
      <div class="abilities-foot">
        <span>
          {testedText(props.agent) ||
            (facts().length > 0
              ? "Not tested. A test takes about 30 s and runs offline in an empty folder."
              : "Nothing known yet. A test takes about 30 s and runs offline in an empty folder.")}
        </span>
        <Show when={canTest()}>
          <Button small disabled={props.disabled} title={props.title} onClick={() => props.onTest()}>
            {props.agent.tested ? "Test again" : "Test"}
          </Button>
        </Show>
      </div>
    </details>
  );
}
