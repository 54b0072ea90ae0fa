import { createMemo, createSignal, For, Show } from "solid-js";
import type { PermissionAnswer, PermissionRequest, RuleEffect } from "../../api/types";
import { Button } from "../../kit/Button";
import { InlineError } from "../../kit/InlineError";
import { createSubmit } from "../../kit/submit";
import { clock } from "../../kit/time";
import { Visible } from "../../kit/Visible";
import { watch_only, watchesOnly } from "../../state/device";
import { visible } from "../../state/visible";
import { isProtected } from "../askText";
import { AlwaysDialog } from "./AlwaysDialog";
import { AnswerButton } from "./AnswerButton";
import { AskCard, type Gate } from "./AskCard";
import { Asked } from "./Asked";
import { labelOf, type Option } from "./options";
import { questionOf } from "./question";
import { type Reach, reachesOf } from "./scopes";

interface PermissionCardProps {
  request: PermissionRequest;
  /** The title of the agent that asks. */
  agent: string;
  onChoose(answer: PermissionAnswer): Promise<void>;
  /** Shows what is remembered already. */
  onRules?: (() => void) | undefined;
}

const reason_max = 2_000;

/** What an agent wants to do, exactly, and the answers to it. */
export function PermissionCard(props: PermissionCardProps) {
  const { busy, error, submit } = createSubmit();
  const choose = (answer: PermissionAnswer) => submit(() => props.onChoose(answer));
  const [isAlwaysOpen, setAlwaysOpen] = createSignal(false);
  const [denying, setDenying] = createSignal(false);
  let alwaysButton: HTMLButtonElement | undefined;
  const of = (kind: Option["kind"]) => props.request.options.find((option) => option.kind === kind);
  /** Answers that are not just yes and no are told apart by the agent's own words, behind ours. */
  const isPlain = createMemo(() => {
    const kinds = props.request.options.map((option) => option.kind);
    return new Set(kinds).size === kinds.length && props.request.kind !== "switch_mode";
  });
  const allow = () => (isPlain() ? of("allow_once") : undefined);
  const deny = () => of("reject_once") ?? of("reject_always");
  const reaches = createMemo(() => (isPlain() ? reachesOf(props.request, props.agent) : []));
  const always = (reach: Reach, effect: RuleEffect) => {
    const option =
      effect === "allow" ? (of("allow_always") ?? of("allow_once")) : (of("reject_always") ?? of("reject_once"));
    if (option) void choose({ option_id: option.option_id, ...reach.answer });
  };
  const closeAlways = () => {
    setAlwaysOpen(false);
    alwaysButton?.focus();
  };
  const once = (option: Option | undefined) => {
    if (option) void choose({ option_id: option.option_id });
  };
  const onKey = (key: string) => {
    if (busy() || watchesOnly() || denying()) return false;
    if (key === "enter" && allow()) once(allow());
    else if (key === "d" && deny()) once(deny());
    else if (key === "a" && reaches().length > 0) setAlwaysOpen(true);
    else return false;
    return true;
  };
  const asked = () => props.request.asked_at;
  return (
    <AskCard
      id={props.request.request_id}
      label={visible(`${props.request.session_name} asks: ${props.request.title}`)}
      title={questionOf(props.request)}
      agent={props.agent}
      session={props.request.session_name}
      why={props.request.reason ?? whyOf(props.request)}
      onKey={onKey}
      foot={(gate) => (
        <footer>
          <InlineError message={isAlwaysOpen() ? null : error()} />
          <Show when={!gate.isSeen()}>
            <p class="ask-note">Scroll to what is asked to answer it.</p>
          </Show>
          <Show
            when={!denying()}
            fallback={
              <DenyReason
                gate={gate}
                busy={busy()}
                onDeny={(reason) => {
                  const option = deny();
                  if (option) void choose({ option_id: option.option_id, ...(reason ? { reason } : {}) });
                }}
                onCancel={() => setDenying(false)}
              />
            }
          >
            <div class="card-actions">
              <Show
                when={isPlain()}
                fallback={
                  <For each={props.request.options}>
                    {(option) => (
                      <AnswerButton gate={gate} busy={busy()} kind={kindOf(option)} onAnswer={() => once(option)}>
                        <Visible text={labelOf(option)} />
                      </AnswerButton>
                    )}
                  </For>
                }
              >
                <Show when={allow()}>
                  <AnswerButton
                    gate={gate}
                    busy={busy()}
                    class="ask-allow"
                    kind="main"
                    keys="↵"
                    onAnswer={() => once(allow())}
                  >
                    Allow
                  </AnswerButton>
                </Show>
                <Show when={reaches().length > 0}>
                  <AnswerButton
                    ref={alwaysButton}
                    gate={gate}
                    busy={busy()}
                    class="ask-always"
                    keys="A"
                    aria-haspopup="dialog"
                    onAnswer={() => setAlwaysOpen(true)}
                  >
                    Always…
                  </AnswerButton>
                </Show>
                <Show when={deny()}>
                  {(option) => (
                    <AnswerButton
                      gate={gate}
                      busy={busy()}
                      class="ask-deny"
                      kind="deny"
                      keys="D"
                      onAnswer={() => once(option())}
                    >
                      {labelOf(option())}
                    </AnswerButton>
                  )}
                </Show>
                <Show when={deny()}>
                  <AnswerButton
                    gate={gate}
                    busy={busy()}
                    class="ask-reason"
                    kind="quiet"
                    onAnswer={() => setDenying(true)}
                  >
                    Deny with a reason
                  </AnswerButton>
                </Show>
              </Show>
              <p class="ask-note">
                <Show when={isProtected(props.request)}>Protected files always ask. </Show>
                <Show when={watchesOnly()}>{watch_only} </Show>
                <Show when={asked()}>{(at) => <>Asked at {clock(at())}. </>}</Show>
                Waits until you answer.
              </p>
            </div>
          </Show>
          <Show when={isAlwaysOpen()}>
            <AlwaysDialog
              request={props.request}
              agent={props.agent}
              reaches={reaches()}
              busy={busy() || watchesOnly()}
              error={error()}
              onChoose={always}
              onRules={props.onRules}
              onClose={closeAlways}
            />
          </Show>
        </footer>
      )}
    >
      <Asked request={props.request} />
    </AskCard>
  );
}

function kindOf({ kind }: Option): "main" | "deny" | undefined {
  if (kind === "allow_once") return "main";
  return kind.startsWith("reject") ? "deny" : undefined;
}

/** Agents that give no reason say in their title what it is about. */
function whyOf(request: PermissionRequest): string | null {
  const { title, command } = request;
  const isSaid = questionOf(request).startsWith(title) || title === command;
  return isSaid ? null : title;
}

interface DenyReasonProps {
  gate: Gate;
  busy: boolean;
  onDeny(reason: string): void;
  onCancel(): void;
}

/** The agent reads it, and goes on with something else. */
function DenyReason(props: DenyReasonProps) {
  const [reason, setReason] = createSignal("");
  return (
    <form
      class="deny-reason"
      onSubmit={(event) => {
        event.preventDefault();
        if (!props.busy && props.gate.isSettled()) props.onDeny(reason().trim());
      }}
    >
      <input
        class="field"
        aria-label="Reason"
        placeholder="What should it do instead?"
        maxLength={reason_max}
        autocomplete="off"
        ref={(input) => queueMicrotask(() => input.focus())}
        onInput={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          props.onCancel();
        }}
      />
      <AnswerButton gate={props.gate} busy={props.busy} type="submit" kind="deny">
        Deny
      </AnswerButton>
      <Button kind="quiet" onClick={() => props.onCancel()}>
        Cancel
      </Button>
    </form>
  );
}
