import { createMemo, createUniqueId, For, Match, Show, Switch } from "solid-js";
import type { FormContent, PermissionRequest } from "../../api/types";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";
import { Visible } from "../../kit/Visible";
import { watch_only, watchesOnly } from "../../state/device";
import { visible } from "../../state/visible";
import { AnswerButton } from "./AnswerButton";
import { AskCard } from "./AskCard";
import { type FormField, readContent, readForm } from "./form";

interface FormCardProps {
  request: PermissionRequest;
  /** The title of the agent that asks. */
  agent: string;
  onAnswer(optionId: string, content?: FormContent): Promise<void>;
}

/** What an agent wants to know, to be filled in. */
export function FormCard(props: FormCardProps) {
  const { busy, error, submit } = createSubmit();
  const fields = createMemo(() => readForm(props.request.form));
  const answer = (optionId: string, content?: FormContent) => submit(() => props.onAnswer(optionId, content));
  const id = createUniqueId();
  return (
    <AskCard
      id={props.request.request_id}
      label={visible(`${props.request.session_name} asks: ${props.request.title}`)}
      title={props.request.title}
      agent={props.agent}
      session={props.request.session_name}
      foot={(gate) => (
        <footer>
          <InlineError message={error()} />
          <div class="card-actions">
            <AnswerButton gate={gate} busy={busy()} class="ask-allow" kind="main" type="submit" form={id}>
              Send
            </AnswerButton>
            <AnswerButton
              gate={gate}
              busy={busy()}
              class="ask-deny"
              kind="deny"
              onAnswer={() => void answer("decline")}
            >
              Decline
            </AnswerButton>
            <AnswerButton gate={gate} busy={busy()} kind="quiet" onAnswer={() => void answer("cancel")}>
              Cancel
            </AnswerButton>
            <p class="ask-note">{watchesOnly() ? watch_only : "Waits until you answer."}</p>
          </div>
        </footer>
      )}
    >
      <form
        id={id}
        class="agent-form"
        onSubmit={(event) => {
          event.preventDefault();
          void answer("accept", readContent(fields(), event.currentTarget));
        }}
      >
        <For each={fields()}>{(field) => <Field field={field} />}</For>
      </form>
    </AskCard>
  );
}

function Field(props: { field: FormField }) {
  const id = createUniqueId();
  const hint = () => (props.field.description === "" ? undefined : `${id}-hint`);
  return (
    <div class="form-field">
      <Show
        when={props.field.kind !== "choices"}
        fallback={
          <fieldset aria-describedby={hint()}>
            <legend>
              <Visible text={props.field.label} />
            </legend>
            <For each={props.field.choices}>
              {(choice) => (
                <label class="form-switch">
                  <input
                    type="checkbox"
                    name={props.field.name}
                    value={choice.value}
                    checked={Array.isArray(props.field.initial) && props.field.initial.includes(choice.value)}
                  />
                  <span>
                    <Visible text={choice.label} />
                  </span>
                </label>
              )}
            </For>
          </fieldset>
        }
      >
        <label for={id}>
          <Visible text={props.field.label} />
          <Show when={props.field.required}>
            <span aria-hidden="true"> *</span>
          </Show>
        </label>
        <Input field={props.field} id={id} hint={hint()} />
      </Show>
      <Show when={props.field.description}>
        {(text) => (
          <p id={`${id}-hint`}>
            <Visible text={text()} />
          </p>
        )}
      </Show>
    </div>
  );
}

function Input(props: { field: FormField; id: string; hint: string | undefined }) {
  const field = () => props.field;
  return (
    <Switch
      fallback={
        <input
          id={props.id}
          class="field"
          name={field().name}
          type={field().input}
          value={field().initial === undefined ? "" : String(field().initial)}
          required={field().required}
          min={field().kind === "number" ? field().min : undefined}
          max={field().kind === "number" ? field().max : undefined}
          step={field().kind === "number" ? field().step : undefined}
          minLength={field().kind === "text" ? field().min : undefined}
          maxLength={field().kind === "text" ? field().max : undefined}
          aria-describedby={props.hint}
          autocomplete="off"
        />
      }
    >
      <Match when={field().kind === "switch"}>
        <input
          id={props.id}
          name={field().name}
          type="checkbox"
          checked={field().initial === true}
          aria-describedby={props.hint}
        />
      </Match>
      <Match when={field().kind === "choice"}>
        <select
          id={props.id}
          class="field"
          name={field().name}
          required={field().required}
          aria-describedby={props.hint}
        >
          <Show when={!field().required || field().initial === undefined}>
            <option value="">…</option>
          </Show>
          <For each={field().choices}>
            {(choice) => (
              <option value={choice.value} selected={choice.value === field().initial}>
                {visible(choice.label)}
              </option>
            )}
          </For>
        </select>
      </Match>
    </Switch>
  );
}
