import { Show } from "solid-js";
import type { Update } from "../api/types";
import { InlineError } from "../kit/InlineError";
import { createSubmit } from "../kit/submit";
import { Visible } from "../kit/Visible";
import { watchesOnly } from "../state/device";
import { useSessionHands } from "./nextSteps";
import { useSavedRules } from "./savedRules";

type Saved = Extract<Update, { type: "rule" }>;

const where = { session: "in this session", project: "in this project" } as const;

/** That an answer is remembered, where it was given. It can be undone for as long as it holds. */
export function RuleRow(props: { saved: Saved }) {
  const rules = useSavedRules();
  const { busy, error, submit } = createSubmit();
  const holds = () => rules?.find(props.saved.rule_id) !== undefined;
  const isUndone = () => rules?.list() != null && !holds();
  const words = () => props.saved.text.slice(0, 1).toLowerCase() + props.saved.text.slice(1);
  return (
    <>
      <p class="line rule-row" classList={{ undone: isUndone() }}>
        <span>
          {isUndone() ? "Rule undone: " : "Rule saved: "}
          <span class="rule-words">
            always{" "}
            <Show when={props.saved.command} fallback={<Visible text={words()} />}>
              {(command) => (
                <>
                  {props.saved.effect}{" "}
                  <code>
                    <Visible text={firstLine(command())} />
                  </code>{" "}
                  {where[props.saved.scope]}
                </>
              )}
            </Show>
          </span>
        </span>
        <Show when={holds() && !watchesOnly()}>
          <button
            type="button"
            class="line-action"
            disabled={busy()}
            onClick={() => void submit(() => rules?.remove(props.saved.rule_id) ?? Promise.resolve())}
          >
            Undo
          </button>
        </Show>
      </p>
      <InlineError message={error()} />
    </>
  );
}

/** Leads to the rule that decided. */
export function ViewRule(props: { id: string }) {
  const hands = useSessionHands();
  return (
    <Show when={hands}>
      {(hands) => (
        <button type="button" class="line-action" onClick={() => hands().showRules(props.id)}>
          View rule
        </button>
      )}
    </Show>
  );
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line === text.trimEnd() ? line : `${line} …`;
}
