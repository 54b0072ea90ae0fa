import { createEffect, createMemo, createSignal, For, on, Show } from "solid-js";
import { sentence } from "../../api/client";
import type { PermissionRequest } from "../../api/types";
import { tell } from "../../kit/toasts";
import { composerId, focusConversation } from "../../shell/keyboard";
import { watchesOnly } from "../../state/device";
import type { OpenSession } from "../../state/openSession";
import { turnPushOn } from "../../state/push";
import { permission, pushState } from "../../state/pushState";
import { useAgentNames } from "../agentNames";
import { ConfirmCard } from "./ConfirmCard";
import { FormCard } from "./FormCard";
import { type LoginAgent, LoginCard } from "./LoginCard";
import { PermissionCard } from "./PermissionCard";
import { Pager } from "./pager";
import { login_id, wantedQuestion } from "./shown";

interface QuestionsProps {
  open: OpenSession;
  agent: LoginAgent | undefined;
  /** All that are open, the one that waits longest first. */
  ids: string[];
  /** What they stand in. */
  box: HTMLElement;
}

/** The questions themselves, one at a time. */
export function Questions(props: QuestionsProps) {
  const state = props.open.state;
  const names = useAgentNames();
  const asking = ({ tool_call_id }: PermissionRequest) => {
    const call = state.calls[tool_call_id];
    return call ? names.of(call) : names.own();
  };
  const ids = () => props.ids;
  const [chosen, setChosen] = createSignal<string | null>(null);
  /** The one that was chosen as long as it is there; else the one that waits longest. */
  const current = createMemo(() => {
    const wish = chosen();
    return wish !== null && ids().includes(wish) ? wish : (ids()[0] ?? null);
  });
  const at = () => Math.max(0, ids().indexOf(current() ?? ""));
  const pages = {
    at,
    count: () => ids().length,
    go: (step: number) => setChosen(ids()[(at() + step + ids().length) % ids().length] ?? null),
    isCurrent: (id: string) => current() === id,
  };
  const card = () => props.box.querySelector<HTMLElement>(".ask-page:not([hidden]) .ask");
  /** A question keeps its place while it is answered; what comes meanwhile stands behind it. */
  createEffect(on(current, (id) => id !== null && chosen() !== id && setChosen(id)));

  // Somebody who does nothing else is taken to the question; a half-written message is left alone.
  createEffect(
    on(
      () => ids().length,
      (count, before = 0) => {
        const focused = document.activeElement;
        const composer = document.getElementById(composerId);
        const isFree = focused === document.body || focused === null;
        const isIdle = focused === composer && composer instanceof HTMLTextAreaElement && composer.value === "";
        if (count > before && (isFree || isIdle)) card()?.focus({ preventScroll: true });
      },
    ),
  );
  createEffect(
    on(
      wantedQuestion,
      (wanted) => {
        if (!wanted || !ids().includes(wanted.id)) return;
        setChosen(wanted.id);
        card()?.focus();
      },
      { defer: true },
    ),
  );
  /** The button that had the focus is gone with its card. */
  const moveOn = () => {
    const next = card();
    if (next) next.focus({ preventScroll: true });
    else focusConversation();
  };

  return (
    <Pager.Provider value={pages}>
      <Show when={props.agent}>
        {(agent) => (
          <Show when={state.login}>
            {(login) => (
              <div class="ask-page" hidden={current() !== login_id}>
                <LoginCard login={login()} agent={agent()} onTried={() => props.open.loginTried()} />
              </div>
            )}
          </Show>
        )}
      </Show>
      <For each={state.permissions}>
        {(request) => (
          <div class="ask-page" hidden={current() !== request.request_id}>
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
          </div>
        )}
      </For>
      <For each={state.confirms}>
        {(call) => (
          <div class="ask-page" hidden={current() !== call.id}>
            <ConfirmCard
              call={call}
              onAnswer={async (approved) => {
                await props.open.confirm(call.id, approved);
                moveOn();
              }}
            />
          </div>
        )}
      </For>
      <Show when={ids().length > 0 && permission() === "default" && pushState() === "off" && !watchesOnly()}>
        <button
          type="button"
          class="approval-notify"
          onClick={() => void turnPushOn().catch((error) => tell(sentence(error)))}
        >
          Notify me when something waits
        </button>
      </Show>
    </Pager.Provider>
  );
}
