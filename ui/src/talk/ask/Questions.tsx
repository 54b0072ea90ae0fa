import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from "solid-js";
import { sentence } from "../../api/client";
import { pagesApi } from "../../api/pages";
import type { PermissionAnswer, PermissionRequest } from "../../api/types";
import { Button } from "../../kit/Button";
import { createSettling, isWriting, shield, uncover } from "../../kit/deliberate";
import { tell } from "../../kit/toasts";
import { Visible } from "../../kit/Visible";
import { composerId, focusConversation, isPhone } from "../../shell/keyboard";
import { watchesOnly } from "../../state/device";
import type { OpenSession } from "../../state/openSession";
import { turnPushOn } from "../../state/push";
import { permission, pushState } from "../../state/pushState";
import { useAgentNames } from "../agentNames";
import { ConfirmCard } from "./ConfirmCard";
import { FormCard } from "./FormCard";
import { HeldFoot } from "./HeldFoot";
import { type LoginAgent, LoginCard } from "./LoginCard";
import { PermissionCard } from "./PermissionCard";
import { Pager } from "./pager";
import { questionOf } from "./question";
import { login_id, wantedQuestion } from "./shown";

interface QuestionsProps {
  open: OpenSession;
  agent: LoginAgent | undefined;
  /** All that are open, the one that waits longest first. */
  ids: string[];
  /** What they stand in. */
  box: HTMLElement;
  /** Shows what is remembered. */
  onRules(): void;
}

/** Whether the agent is told of an answer later: of a denial that is not remembered, in a form as well. */
function isHeld({ options }: PermissionRequest, { option_id, scope, remember }: PermissionAnswer): boolean {
  const kind = options.find((option) => option.option_id === option_id)?.kind;
  return (kind?.startsWith("reject") ?? option_id === "decline") && scope === undefined && remember === undefined;
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
  const undo = async (id: string) => void (await pagesApi.undoDenial(props.open.id, id));
  const pages = {
    at,
    count: () => ids().length,
    go: (step: number) => setChosen(ids()[(at() + step + ids().length) % ids().length] ?? null),
    isCurrent: (id: string) => current() === id,
    putAside: () => putAside(),
    heldUntil: (id: string) => state.holds[id],
    undo,
    moveOn: () => moveOn(),
  };
  const card = () => props.box.querySelector<HTMLElement>(".ask-page:not([hidden]) .ask");
  /** On a phone, the question that somebody has put aside. */
  const [aside, setAside] = createSignal<string | null>(null);
  const isAside = () => aside() !== null && aside() === current();
  const sheet = createSettling(() => current() !== null && !isAside());
  const putAside = () => {
    const place = card()?.getBoundingClientRect();
    setAside(current());
    if (place) shield(place);
    focusConversation();
  };
  const bringBack = () => {
    setAside(null);
    uncover();
    // A sheet that was put aside is there only after this.
    queueMicrotask(() => card()?.focus());
  };
  const held = () => state.holds[current() ?? ""];
  createEffect(() => props.box.classList.toggle("aside", isAside() || held() !== undefined));
  onMount(() => {
    const onPress = (event: MouseEvent) => event.target === props.box && isPhone() && sheet.takes(event) && putAside();
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || !isPhone() || !sheet.isSettled()) return;
      if (document.querySelector("dialog[open], .menu")) return;
      event.preventDefault();
      putAside();
    };
    props.box.addEventListener("click", onPress);
    document.addEventListener("keydown", onKeyDown);
    onCleanup(() => {
      props.box.removeEventListener("click", onPress);
      document.removeEventListener("keydown", onKeyDown);
    });
  });
  /** A question keeps its place while it is answered; what comes meanwhile stands behind it. */
  createEffect(on(current, (id) => id !== null && chosen() !== id && setChosen(id)));

  // Somebody who does nothing else is taken to the question; whoever writes, or is about to, is left alone.
  createEffect(
    on(
      () => ids().length,
      (count, before = 0) => {
        const focused = document.activeElement;
        const composer = document.getElementById(composerId);
        const isFree = focused === document.body || focused === null;
        const isIdle = focused === composer && composer instanceof HTMLTextAreaElement && composer.value === "";
        if (count > before && !isWriting() && (isFree || isIdle)) card()?.focus({ preventScroll: true });
      },
    ),
  );
  createEffect(
    on(
      wantedQuestion,
      (wanted) => {
        if (!wanted || !ids().includes(wanted.id)) return;
        setChosen(wanted.id);
        bringBack();
      },
      { defer: true },
    ),
  );
  /** The question of now, in a line. */
  const asked = () => {
    const request = state.permissions.find(({ request_id }) => request_id === current());
    if (request) {
      const agent = asking(request);
      return { title: questionOf(request), agent, who: `${agent} [${request.session_name}]` };
    }
    const call = state.confirms.find(({ id }) => id === current());
    if (call) return { title: `Run ${call.name}?`, agent: "The main AI", who: "" };
    const agent = props.agent?.title ?? "";
    return { title: "Sign-in required", agent, who: agent };
  };
  const moveOn = () => {
    if (document.activeElement !== document.body) return;
    const next = card();
    if (next) next.focus({ preventScroll: true });
    else focusConversation();
  };

  return (
    <Pager.Provider value={pages}>
      <Show when={held()}>
        {(until) => (
          <HeldFoot
            class="ask-bar held-bar"
            agent={asked().agent}
            until={until()}
            onUndo={() => undo(current() ?? "")}
          />
        )}
      </Show>
      <Show when={isAside() && held() === undefined && asked()}>
        {(words) => (
          <div class="ask-bar">
            <p class="cut">
              <b>
                <Visible text={words().title} />
              </b>{" "}
              <Visible text={words().who} />
            </p>
            <Button onClick={bringBack}>Answer</Button>
          </div>
        )}
      </Show>
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
                  onRules={() => props.onRules()}
                  onChoose={async (answer) => {
                    await props.open.permit(request.request_id, answer, isHeld(request, answer));
                  }}
                />
              }
            >
              <FormCard
                request={request}
                agent={asking(request)}
                onAnswer={async (option, content) => {
                  const answer = content ? { option_id: option, content } : { option_id: option };
                  await props.open.permit(request.request_id, answer, isHeld(request, answer));
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
          Notify me when an agent needs me
        </button>
      </Show>
    </Pager.Provider>
  );
}
