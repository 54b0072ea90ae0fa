import { createMemo, Show } from "solid-js";
import { later } from "../kit/later";
import { firstQuestion } from "../state/model";
import type { OpenSession } from "../state/openSession";
import type { LoginAgent } from "./ask/LoginCard";
import { login_id } from "./ask/shown";

/** Loaded when a turn runs: before, nobody is asked anything. */
export const Questions = later(async () => (await import("./ask/Questions")).Questions);

/** What waits for an answer, where it cannot be overlooked: one question at a time. */
export function Approvals(props: { open: OpenSession; agent: LoginAgent | undefined; onRules(): void }) {
  const state = props.open.state;
  let box!: HTMLElement;
  const ids = createMemo(() => [
    ...(state.login && props.agent ? [login_id] : []),
    ...state.permissions.map((request) => request.request_id),
    ...state.confirms.map((call) => call.id),
  ]);
  const wereAsked = createMemo<boolean>((before) => before || ids().length > 0, false);
  return (
    <section ref={box} class="approvals" classList={{ waiting: ids().length > 0 }} aria-label="Waiting for you">
      <p class="visually-hidden" aria-live="assertive">
        {firstQuestion(state) ?? ""}
      </p>
      <Show when={wereAsked()}>
        <Questions open={props.open} agent={props.agent} ids={ids()} box={box} onRules={() => props.onRules()} />
      </Show>
    </section>
  );
}
