import { createMemo, createSignal, For, Show, useContext } from "solid-js";
import type { PermissionAnswer, PermissionRequest } from "../../api/types";
import { Button } from "../../kit/Button";
import { Icon } from "../../kit/Icon";
import { InlineError } from "../../kit/InlineError";
import { Kbd } from "../../kit/small";
import { createSubmit } from "../../kit/submit";
import { clock } from "../../kit/time";
import { Visible } from "../../kit/Visible";
import { watch_only, watchesOnly } from "../../state/device";
import { visible } from "../../state/visible";
import { isProtected } from "../askText";
import { AskCard } from "./AskCard";
import { Asked } from "./Asked";
import { createAnswerKeys } from "./keys";
import { labelOf, type Option } from "./options";
import { Pager } from "./pager";
import { questionOf } from "./question";
import { reachesOf } from "./scopes";

interface PermissionCardProps {
  request: PermissionRequest;
  /** The title of the agent that asks. */
  agent: string;
  onChoose(answer: PermissionAnswer): Promise<void>;
}

const reason_max = 2_000;

/** What an agent wants to do, exactly, and the answers to it. */
export function PermissionCard(props: PermissionCardProps) {
  const { busy, error, submit } = createSubmit();
  const pager = useContext(Pager);
  const choose = (answer: PermissionAnswer) => submit(() => props.onChoose(answer));
  const [tray, setTray] = createSignal(false);
  const [denying, setDenying] = createSignal(false);
  const [seen, setSeen] = createSignal<() => boolean>(() => true);
  const of = (kind: Option["kind"]) => props.request.options.find((option) => option.kind === kind);
  /** Answers that are not just yes and no are told apart by the agent's own words, behind ours. */
  const isPlain = createMemo(() => {
    const kinds = props.request.options.map((option) => option.kind);
    return new Set(kinds).size === kinds.length && props.request.kind !== "switch_mode";
  });
  const allow = () => (isPlain() ? of("allow_once") : undefined);
  const deny = () => of("reject_once") ?? of("reject_always");
  const reaches = createMemo(() => (isPlain() ? reachesOf(props.request) : []));
  const always = (index: number) => {
    const reach = reaches()[index];
    const option = of("allow_always") ?? of("allow_once");
    if (reach && option) void choose({ option_id: option.option_id, ...reach.answer });
  };
  const disabled = () => busy() || watchesOnly() || !seen()();
  const once = (option: Option | undefined) => {
    if (option) void choose({ option_id: option.option_id });
  };
  createAnswerKeys(
    () => !disabled() && !denying() && (pager?.isCurrent(props.request.request_id) ?? true),
    (key) => {
      if (key === "enter" && allow()) once(allow());
      else if (key === "d" && deny()) once(deny());
      else if (key === "a" && reaches().length > 0) setTray(!tray());
      else if (tray() && /^[1-9]$/.test(key)) always(Number(key) - 1);
      else return false;
      return true;
    },
  );
  const asked = () => props.request.asked_at;
  return (
    <AskCard
      label={visible(`${props.request.session_name} asks: ${props.request.title}`)}
      title={questionOf(props.request)}
      agent={props.agent}
      session={props.request.session_name}
      why={props.request.reason ?? whyOf(props.request)}
      foot={(isSeen) => {
        setSeen(() => isSeen);
        return (
          <footer>
            <InlineError message={error()} />
            <Show when={!isSeen()}>
              <p class="ask-note">Scroll to what is asked to answer it.</p>
            </Show>
            <Show
              when={!denying()}
              fallback={
                <DenyReason
                  disabled={disabled()}
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
                        <Button
                          kind={kindOf(option)}
                          disabled={disabled()}
                          title={watchesOnly() ? watch_only : undefined}
                          onClick={() => once(option)}
                        >
                          <Visible text={labelOf(option)} />
                        </Button>
                      )}
                    </For>
                  }
                >
                  <Show when={allow()}>
                    <Button
                      class="ask-allow"
                      kind="main"
                      disabled={disabled()}
                      title={watchesOnly() ? watch_only : undefined}
                      onClick={() => once(allow())}
                    >
                      Allow <Kbd keys="↵" />
                    </Button>
                  </Show>
                  <Show when={reaches().length > 0}>
                    <Button
                      class="ask-always"
                      aria-expanded={tray()}
                      disabled={disabled()}
                      onClick={() => setTray(!tray())}
                    >
                      Always <Icon name="more" size="small" />
                    </Button>
                  </Show>
                  <Show when={deny()}>
                    {(option) => (
                      <Button class="ask-deny" kind="deny" disabled={disabled()} onClick={() => once(option())}>
                        {labelOf(option())}
                      </Button>
                    )}
                  </Show>
                  <Show when={deny()}>
                    <Button class="ask-reason" kind="quiet" disabled={disabled()} onClick={() => setDenying(true)}>
                      Deny with a reason
                    </Button>
                  </Show>
                </Show>
                <p class="ask-note">
                  <Show when={isProtected(props.request)}>A protected file is asked for every time. </Show>
                  <Show when={watchesOnly()}>{watch_only} </Show>
                  <Show when={asked()}>{(at) => <>Asked at {clock(at())}. </>}</Show>
                  Waits until you answer.
                </p>
              </div>
              <Show when={tray()}>
                <ul class="ask-tray" aria-label="How far always reaches">
                  <For each={reaches()}>
                    {(reach, index) => (
                      <li>
                        <button type="button" disabled={disabled()} onClick={() => always(index())}>
                          <span class="grow">
                            <Show when={reach.command}>
                              {(command) => (
                                <>
                                  <code class="cut" title={visible(command())}>
                                    <Visible text={command()} />
                                  </code>{" "}
                                </>
                              )}
                            </Show>
                            <span>
                              <Visible text={reach.text} />
                            </span>
                          </span>
                          <Kbd keys={String(index() + 1)} />
                        </button>
                      </li>
                    )}
                  </For>
                </ul>
              </Show>
            </Show>
          </footer>
        );
      }}
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
  disabled: boolean;
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
        if (!props.disabled) props.onDeny(reason().trim());
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
      <Button type="submit" kind="deny" disabled={props.disabled}>
        Deny
      </Button>
      <Button kind="quiet" onClick={() => props.onCancel()}>
        Cancel
      </Button>
    </form>
  );
}
