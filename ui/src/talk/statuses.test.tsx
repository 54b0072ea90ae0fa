// The small views that tell how things stand: the connection, unsent messages, how a turn ended, notices.

import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { afterEach, expect, it, vi } from "vitest";
import { Banners } from "../shell/Banners";
import { OutboxList } from "../shell/OutboxList";
import type { Break } from "../state/breaks";
import type { EndingEntry } from "../state/model";
import type { Outbox, OutboxItem } from "../state/outbox";
import type { ServerState } from "../state/server";
import { EndingView } from "./EndingView";
import { NoticeView } from "./NoticeView";

let dispose = () => {};
afterEach(() => {
  dispose();
  document.body.replaceChildren();
});
const mount = (view: Parameters<typeof render>[0]) => {
  dispose = render(view, document.body);
};
const text = () => document.body.textContent ?? "";
const button = (name: string) => [...document.querySelectorAll("button")].find((one) => one.textContent === name);

it("a long break says since when, how many tries, and that nothing is lost", () => {
  const [broken, setBroken] = createSignal<Break | null>(null);
  const server = { info: () => ({ disk: { warning: "the disk is full" } }) } as unknown as ServerState;
  mount(() => <Banners server={server} broken={broken()} />);
  expect(text()).toBe("the disk is full");
  setBroken({ since: new Date(2026, 0, 1, 14, 3, 5), tries: 3 });
  expect(text()).toMatch(/Reconnecting. No connection since 14:03:05/);
  expect(text()).toContain("What you write is kept.");
  expect(text()).toContain("3 tries so far");
  expect(document.querySelector('[role="status"]')?.textContent).not.toContain("tries");
  expect(text(), "one at a time").not.toContain("disk");
});

it("an unsent message says why, and can be tried at once or withdrawn", () => {
  const item: OutboxItem = { clientId: "a", content: "hello", files: [], state: "offline", error: null };
  const [items, setItems] = createSignal([item]);
  const outbox = { retry: vi.fn(), discard: vi.fn() };
  const onWithdrawn = vi.fn();
  mount(() => <OutboxList outbox={{ ...outbox, items: items() } as unknown as Outbox} onWithdrawn={onWithdrawn} />);
  expect(text()).toContain("not sent yet, waiting for the connection");
  button("Try now")?.click();
  button("Withdraw")?.click();
  expect(outbox.retry).toHaveBeenCalledWith("a");
  expect(outbox.discard).toHaveBeenCalledWith("a");
  expect(onWithdrawn).toHaveBeenCalledWith("hello", []);
  setItems([{ ...item, state: "postponed", error: "the disk is full" }]);
  expect(document.querySelector('[role="alert"]')?.textContent).toBe("the disk is full");
  setItems([{ ...item, state: "sending" }]);
  expect(button("Withdraw")).toBeUndefined();
});

it("a turn that was interrupted says what is certain and offers to go on or to send again", () => {
  const ending: EndingEntry = {
    kind: "ending",
    id: "e",
    turnId: "t",
    state: "failed",
    text: "the agent ended\n\nit said: x",
  };
  const onSend = vi.fn();
  const onAgain = vi.fn(async () => {});
  const [resume, setResume] = createSignal<{ goOn: string | null; again: string | null } | null>({
    goOn: "@api Continue with what you were doing.",
    again: "do it",
  });
  mount(() => (
    <EndingView
      ending={ending}
      isBroken={true}
      isExplained={false}
      resume={resume()}
      onSend={onSend}
      onAgain={onAgain}
    />
  ));
  expect(document.querySelector('[role="alert"]')?.textContent).toBe(
    "Interrupted the agent ended. What was done until then is kept.",
  );
  button("Continue")?.click();
  button("Start over")?.click();
  expect(onSend.mock.calls).toEqual([["@api Continue with what you were doing."]]);
  expect(onAgain.mock.calls).toEqual([["do it"]]);
  setResume(null);
  expect(document.querySelector("button")).toBeNull();
});

it.each<[EndingEntry["state"], string, string, string[]]>([
  ["failed", "the model refused the key", "Failed the model refused the key", ["Try again"]],
  ["interrupted", "the server was stopped", "Interrupted the server was stopped", ["Start over", "Continue"]],
  [
    "unknown",
    "the agent is gone",
    "No answer came the agent is gone What it did last may have been done.",
    ["Run again", "Let Codex check"],
  ],
])("a turn that ended as %s says so in its own words, with the next step", (state, reason, words, steps) => {
  const ending: EndingEntry = { kind: "ending", id: "e", turnId: "t", state, text: reason };
  mount(() => (
    <EndingView
      ending={ending}
      isBroken={false}
      isExplained={false}
      agent="Codex"
      resume={{ goOn: state === "failed" ? null : "Continue with what you were doing.", again: "do it" }}
      onSend={() => {}}
      onAgain={async () => {}}
    />
  ));
  expect(document.querySelector('[role="alert"]')?.textContent).toBe(words);
  expect([...document.querySelectorAll("button")].map((one) => one.textContent)).toEqual(steps);
});

it("a turn that somebody stopped says so quietly", () => {
  const stopped = { code: "cancelled", level: "info", title: "Stopped", text: "This turn was stopped." };
  mount(() => <NoticeView notice={stopped} />);
  expect(text().trim()).toBe("Stopped by you. What was done until then is kept.");
  expect(document.querySelector('[role="alert"]')).toBeNull();
});

it("a lost session keeps its exact words, and a restored one stays quiet", () => {
  const lost =
    "The previous Copilot session could not be restored. A new session has been started. Your conversation history in VoxPilot is intact.";
  mount(() => (
    <>
      <NoticeView notice={{ code: "session_lost", level: "warning", title: "Session history lost", text: lost }} />
      <NoticeView notice={{ code: "session_restored", level: "info", title: "Session restored", text: "goes on" }} />
    </>
  ));
  const [warning, info] = document.querySelectorAll(".notice");
  expect(warning?.querySelector(".notice-title")?.textContent).toBe("Session history lost");
  expect(warning?.querySelector(".notice-text")?.textContent).toBe(lost);
  expect(warning?.classList.contains("warning")).toBe(true);
  expect(info?.classList.contains("quiet")).toBe(true);
});
