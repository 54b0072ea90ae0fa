import { createEffect, For, on, Show } from "solid-js";
import type { PermissionRequest } from "../api/types";
import { firstQuestion, waitingCount } from "../state/model";
import { allowNotifications, permission } from "../state/notify";
import type { OpenSession } from "../state/openSession";
import { useAgentNames } from "./agentNames";
import { ConfirmCard } from "./ConfirmCard";
import { FormCard } from "./FormCard";
import { focusConversation } from "./keyboard";
import { type LoginAgent, LoginCard } from "./LoginCard";
import { PermissionCard } from "./PermissionCard";

/** What waits for an answer, where it cannot be overlooked. */
export function Approvals(props: { open: OpenSession; agent: LoginAgent | undefined }) {
  const state = props.open.state;
  const names = useAgentNames();
  const asking = ({ tool_call_id }: PermissionRequest) => {
    const call = state.calls[tool_call_id];
    return call ? names.of(call) : names.own();
  };
  let box!: HTMLElement;

  // Somebody who does nothing else is taken to the question; somebody who types is left alone.
  createEffect(
    on(
      () => waitingCount(state),
      (count, before = 0) => {
        if (count > before && document.activeElement === document.body)
          box.querySelector<HTMLElement>(".card")?.focus();
      },
    ),
  );
  /** The button that had the focus is gone with its card. */
  const moveOn = () => {
    const next = box.querySelector<HTMLElement>(".card");
    if (next) next.focus();
    else focusConversation();
  };

  return (
    <section ref={box} class="approvals" aria-label="Waiting for you">
      <p class="visually-hidden" aria-live="assertive">
        {firstQuestion(state) ?? ""}
      </p>
      <Show when={waitingCount(state) > 0 || state.login}>
        <div class="approval-list">
          <Show when={props.agent}>
            {(agent) => (
              <Show when={state.login}>
                {(login) => <LoginCard login={login()} agent={agent()} onTried={() => props.open.loginTried()} />}
              </Show>
            )}
          </Show>
          <For each={state.permissions}>
            {(request) => (
              <Show
                when={request.form}
                fallback={
                  <PermissionCard
                    request={request}
                    agent={asking(request)}
                    onChoose={async (answer) => {
                      await props.open.permit(request.request_id, answer);
                      moveOn();
                    }}
                  />
                }
              >
                <FormCard
                  request={request}
                  agent={asking(request)}
                  onAnswer={async (option, content) => {
                    await props.open.permit(
                      request.request_id,
                      content ? { option_id: option, content } : { option_id: option },
                    );
                    moveOn();
                  }}
                />
              </Show>
            )}
          </For>
          <For each={state.confirms}>
            {(call) => (
              <ConfirmCard
                call={call}
                onAnswer={async (approved) => {
                  await props.open.confirm(call.id, approved);
                  moveOn();
                }}
              />
            )}
          </For>
          <Show when={permission() === "default"}>
            <button type="button" class="button small approval-notify" onClick={() => void allowNotifications()}>
              Notify me when something waits
            </button>
          </Show>
        </div>
      </Show>
    </section>
  );
}
