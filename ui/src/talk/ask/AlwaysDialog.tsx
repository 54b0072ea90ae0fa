import { createMemo, createSignal, createUniqueId, For, Show } from "solid-js";
import type { PermissionRequest, RuleEffect } from "../../api/types";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";
import { createSettling, distance, lastPointer, near_px, settle_ms, shield } from "../../kit/deliberate";
import { InlineError } from "../../kit/InlineError";
import { AgentMark, Seg } from "../../kit/small";
import { Visible } from "../../kit/Visible";
import { AnswerButton } from "./AnswerButton";
import { Asked } from "./Asked";
import { grantOf, hintOf, type Reach } from "./scopes";

interface AlwaysDialogProps {
  request: PermissionRequest;
  /** The title of the agent that asks. */
  agent: string;
  reaches: readonly Reach[];
  busy: boolean;
  error: string | null;
  onChoose(reach: Reach, effect: RuleEffect): void;
  onRules?: (() => void) | undefined;
  onClose(): void;
}

const effects = [
  { value: "allow", text: "Allow" },
  { value: "deny", text: "Deny" },
] as const;

/** A rule, spelled out before it is made. Nothing in it can be pressed by the press that opened it. */
export function AlwaysDialog(props: AlwaysDialogProps) {
  const name = createUniqueId();
  const [effect, setEffect] = createSignal<RuleEffect>(props.reaches.some(has("allow")) ? "allow" : "deny");
  const [index, setIndex] = createSignal(0);
  const reaches = createMemo(() => props.reaches.filter(has(effect())));
  const chosen = () => reaches()[Math.min(index(), reaches().length - 1)];
  const isChoice = () => props.reaches.some(has("allow")) && props.reaches.some(has("deny"));
  const gate = { ...createSettling(() => true), isSeen: () => true };
  return (
    <Dialog
      class="always"
      title="Stop asking about this?"
      onShown={(dialog) => watchPresses(dialog, gate.takes)}
      onClose={() => gate.isSettled() && props.onClose()}
      foot={
        <>
          <Show when={props.onRules}>
            {(open) => (
              <button type="button" class="always-rules" onClick={() => open()()}>
                Saved permissions
              </button>
            )}
          </Show>
          <Button onClick={() => props.onClose()}>Cancel</Button>
          <Show when={chosen()}>
            {(reach) => (
              <AnswerButton
                class="always-grant"
                kind={effect() === "allow" ? "main" : "deny"}
                gate={gate}
                busy={props.busy}
                onAnswer={() => props.onChoose(reach(), effect())}
              >
                {grantOf(reach(), effect())}
              </AnswerButton>
            )}
          </Show>
        </>
      }
    >
      <p class="always-who">
        <AgentMark agent={props.agent} />
        <b>
          <Visible text={props.agent} />
        </b>
        <span class="mono">
          [<Visible text={props.request.session_name} />]
        </span>
        <span>asks</span>
      </p>
      <div class="always-what">
        <Asked request={props.request} />
      </div>
      <div class="always-effect">
        <b>From now on</b>
        <Show when={isChoice()} fallback={effect() === "allow" ? "Allow" : "Deny"}>
          <Seg label="From now on" choices={[...effects]} value={effect()} onChange={setEffect} />
        </Show>
      </div>
      <div class="always-scopes" role="radiogroup" aria-label="How far it reaches" aria-disabled={!gate.isSettled()}>
        <For each={reaches()}>
          {(reach, at) => (
            <label class="always-scope">
              <input
                ref={(input) => at() === 0 && input.setAttribute("autofocus", "")}
                type="radio"
                name={name}
                checked={reach === chosen()}
                onChange={() => setIndex(at())}
              />
              <span>
                <Visible text={reach.text} />
                <small>
                  <Visible text={hintOf(reach, effect(), props.agent)} />
                </small>
              </span>
            </label>
          )}
        </For>
      </div>
      <InlineError message={props.error} />
    </Dialog>
  );
}

const has = (effect: RuleEffect) => (reach: Reach) => reach.effects.includes(effect);

const pressed = ["pointerdown", "mousedown", "click", "keydown"] as const;
/** Where there is no room beside the place that was pressed, it is dead for so long. */
const dead_ms = 3 * settle_ms;

/** Keeps every control away from the pointer, and takes nothing that began too soon. Returns how to stop. */
function watchPresses(dialog: HTMLDialogElement, takes: (event: Event) => boolean): () => void {
  const start = lastPointer();
  const until = performance.now() + dead_ms;
  let isDead = start !== null && !keepClear(dialog, start);
  const onMove = (event: PointerEvent) => {
    if (start && Math.hypot(event.clientX - start.x, event.clientY - start.y) > near_px) isDead = false;
  };
  const onPressed = (event: Event) => {
    const isNear = isDead && event instanceof MouseEvent && event.detail > 0 && performance.now() < until;
    if (takes(event) && !isNear) return;
    // The press itself is let through to be counted.
    if (event.type !== "pointerdown") event.preventDefault();
    event.stopPropagation();
  };
  dialog.addEventListener("pointermove", onMove);
  for (const type of pressed) dialog.addEventListener(type, onPressed, true);
  return () => {
    shield(dialog.getBoundingClientRect());
    dialog.removeEventListener("pointermove", onMove);
    for (const type of pressed) dialog.removeEventListener(type, onPressed, true);
  };
}

const controls = "button, label, input, [tabindex='0']";

/** Moves the dialog to where no control is near a point; says whether there is such a place. */
function keepClear(dialog: HTMLDialogElement, point: { x: number; y: number }): boolean {
  for (const place of ["", "top", "bottom", "left", "right"]) {
    dialog.dataset.place = place;
    const isClear = [...dialog.querySelectorAll(controls)].every(
      (control) => distance(point, control.getBoundingClientRect()) >= near_px,
    );
    if (isClear) return true;
  }
  dialog.dataset.place = "";
  return false;
}
