import { createMemo, For, Show } from "solid-js";
import type { Ability, Agent } from "../api/types";
import { Icon } from "../kit/Icon";
import { Visible } from "../kit/Visible";
import { abilityNames, abilityText } from "../state/agents";

/** What all agents can do, beside each other. */
export function AbilityTable(props: { agents: Agent[] }) {
  const names = createMemo(() => abilityNames(props.agents));
  return (
    <section class="abilities" aria-labelledby="abilities-title">
      <h2 id="abilities-title">What each can do</h2>
      <div class="ability-scroller" tabindex="0" role="group" aria-labelledby="abilities-title">
        <table>
          <thead>
            <tr>
              <td />
              <For each={props.agents}>
                {(agent) => (
                  <th scope="col">
                    <Visible text={agent.title} />
                  </th>
                )}
              </For>
            </tr>
          </thead>
          <tbody>
            <For each={names()}>
              {(name) => (
                <tr>
                  <th scope="row">{name.title}</th>
                  <For each={props.agents}>
                    {(agent) => (
                      <td>
                        <AbilityValue ability={agent.abilities.find(({ id }) => id === name.id)} />
                      </td>
                    )}
                  </For>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The same for one agent, where there is no room for a table. */
export function AbilityList(props: { agent: Agent }) {
  return (
    <Show when={props.agent.abilities.length > 0}>
      <details class="fold ability-list">
        <summary class="line">
          What it can do <Icon name="next" size="small" />
        </summary>
        <dl>
          <For each={props.agent.abilities}>
            {(ability) => (
              <div>
                <dt>{ability.title}</dt>
                <dd>
                  <AbilityValue ability={ability} />
                </dd>
              </div>
            )}
          </For>
        </dl>
      </details>
    </Show>
  );
}

function AbilityValue(props: { ability: Ability | undefined }) {
  const text = createMemo(() => abilityText(props.ability));
  return (
    <span class={`ability ${text().tone}`}>
      <span class="ability-words">
        <Visible text={text().words} />
      </span>
      <Show when={text().source}>
        {" "}
        <span class="ability-source">{text().source}</span>
      </Show>
    </span>
  );
}
