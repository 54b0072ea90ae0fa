import { render } from "solid-js/web";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Button } from "./Button";
import { duration } from "./duration";
import { Menu } from "./Menu";
import { MenuItem } from "./MenuList";
import { Dot, PlusMinus } from "./small";
import { Toasts, tellUndoable } from "./toasts";

let host: HTMLElement;
let stop: () => void;
const show = (what: () => import("solid-js").JSX.Element) => {
  stop = render(what, host);
};

beforeEach(() => {
  host = document.createElement("div");
  document.body.append(host);
});
afterEach(() => {
  stop();
  host.remove();
});

describe("a menu", () => {
  const open = async (onChoose: (what: string) => void) => {
    show(() => (
      <Menu
        label="Things"
        button={(button) => (
          <button type="button" {...button}>
            Open
          </button>
        )}
      >
        {(close) => (
          <>
            <MenuItem onChoose={() => onChoose("one")}>One</MenuItem>
            <MenuItem
              onChoose={() => {
                close();
                onChoose("two");
              }}
            >
              Two
            </MenuItem>
          </>
        )}
      </Menu>
    ));
    host.querySelector("button")?.click();
    await vi.waitFor(() => expect(document.querySelector("[role=menu]")).not.toBeNull(), { timeout: 60_000 });
  };
  const press = (key: string) =>
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

  it("is walked through by arrows, and gives focus back", async () => {
    await open(() => {});
    expect(document.activeElement?.textContent).toBe("One");
    press("ArrowDown");
    expect(document.activeElement?.textContent).toBe("Two");
    press("ArrowDown");
    expect(document.activeElement?.textContent).toBe("One");
    press("Escape");
    expect(document.querySelector("[role=menu]")).toBeNull();
    expect(document.activeElement).toBe(host.querySelector("button"));
  });

  it("closes when somebody presses beside it", async () => {
    await open(() => {});
    document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
    expect(document.querySelector("[role=menu]")).toBeNull();
  });
});

describe("what can be taken back", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("happens after six seconds, once", () => {
    show(() => <Toasts />);
    const [undo, done] = [vi.fn(), vi.fn()];
    const pending = tellUndoable("Deleted", undo, done);
    vi.advanceTimersByTime(5_999);
    expect(done).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    pending.now();
    expect(done).toHaveBeenCalledTimes(1);
    expect(host.textContent).toBe("");
  });

  it("does not happen when it is taken back", () => {
    show(() => <Toasts />);
    const [undo, done] = [vi.fn(), vi.fn()];
    tellUndoable("Deleted", undo, done);
    host.querySelector("button")?.click();
    vi.advanceTimersByTime(10_000);
    expect(undo).toHaveBeenCalledTimes(1);
    expect(done).not.toHaveBeenCalled();
  });
});

it("durations read as people say them", () => {
  expect([0, 4_200, 59_600, 112_000, 7_500_000].map(duration)).toEqual(["0 s", "4 s", "1m 00s", "1m 52s", "2h 05m"]);
});

it("a status is said in words unless words are beside it", () => {
  show(() => (
    <>
      <Dot status="waiting" />
      <Dot status="failed" quiet />
      <PlusMinus additions={3} deletions={0} />
      <Button kind="main">Go</Button>
    </>
  ));
  expect(host.querySelector(".dot.waiting")?.getAttribute("aria-label")).toBe("Needs you");
  expect(host.querySelector(".dot.failed")?.getAttribute("aria-hidden")).toBe("true");
  expect(host.querySelector(".plus-minus")?.textContent).toBe("added +3");
});
