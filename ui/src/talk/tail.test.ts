import { expect, it } from "vitest";
import type { StreamEvent } from "../api/types";
import { emptyState } from "../state/model";
import { isShown } from "../state/notices";
import { apply } from "../state/reducer";
import { tailOf } from "./tail";

const asked: StreamEvent = {
  event: "message",
  data: { id: "u", role: "user", content: "x", created_at: "2026-01-01T00:00:00Z", turn_id: "t" },
};
const running: StreamEvent = { event: "turn", data: { turn_id: "t", state: "running" } };
const delta = (offset: number, content: string): StreamEvent => ({
  event: "text-delta",
  data: { message_id: "m", offset, content },
});

it("something new is seen at the end, and the same is never new again", () => {
  const state = emptyState(0);
  const events = [asked, running, delta(0, "one"), delta(3, " two")];
  const tails = events.map((event) => {
    apply(state, event);
    return tailOf(state);
  });
  expect(new Set(tails).size).toBe(3);
  const again = emptyState(1);
  for (const event of events) apply(again, event);
  expect(tailOf(again), "a snapshot brings nothing new").toBe(tailOf(state));
});

it("that the model is asked again is shown until it has answered, or the turn has failed", () => {
  const retry: StreamEvent = {
    event: "notice",
    data: { code: "model_retry", level: "info", title: "Trying again", text: "The model did not answer." },
  };
  for (const end of [delta(0, "here"), { event: "turn", data: { turn_id: "t", state: "failed" } } as StreamEvent]) {
    const state = emptyState(0);
    for (const event of [{ event: "ready", data: { seq: 0 } } as StreamEvent, asked, running, retry])
      apply(state, event);
    const notice = () => state.entries.flatMap((entry) => (entry.kind === "notice" ? [isShown(state, entry)] : []));
    expect(notice()).toEqual([true]);
    apply(state, end);
    expect(notice()).toEqual([false]);
  }
});
