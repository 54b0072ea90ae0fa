import { createRoot, createSignal } from "solid-js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/client";
import type { Changes, Comment, FileChange, Notes } from "../api/types";
import { movedTo, placeOf, placeWords, quoteOf } from "./places";
import { createReview, type Review } from "./review";
import type { Source } from "./source";
import { treeOf } from "./tree";
import { writersWords } from "./words";

const file = (path: string, digest = "1"): FileChange => ({
  path,
  digest,
  status: "modified",
  additions: 1,
  deletions: 1,
  binary: false,
  too_large: false,
  hunks: [
    {
      old_start: 1,
      old_lines: 2,
      new_start: 1,
      new_lines: 2,
      lines: [
        { kind: "context", old: 1, new: 1, text: "same" },
        { kind: "delete", old: 2, text: "before" },
        { kind: "add", new: 2, text: "after" },
      ],
    },
  ],
});

const changesOf = (files: FileChange[]): Changes => ({
  since: "session",
  source: "git",
  project: "parcel",
  branch: "main",
  base: null,
  version: "v",
  cut: false,
  total_files: files.length,
  total_additions: 1,
  total_deletions: 1,
  files,
  meanwhile: [],
  sinces: ["turn", "session"],
});

const remark = (part: Partial<Comment>): Comment => ({
  id: "c",
  path: "a.rs",
  side: "new",
  from_line: 2,
  to_line: 2,
  quote: "after",
  text: "why?",
  created_at: "2026-01-01T00:00:00Z",
  ...part,
});

describe("a review", () => {
  let files: FileChange[];
  let notes: Notes;
  let source: Source;
  let version: string;
  let stop: () => void;
  const open = async (): Promise<Review> => {
    const review = createRoot((dispose) => {
      stop = dispose;
      return createReview(source);
    });
    await vi.waitFor(() => expect(review.isLoading()).toBe(false));
    return review;
  };
  beforeEach(() => {
    localStorage.clear();
    version = "v";
    files = [file("src/b.rs"), file("a.rs")];
    notes = { comments: [], sent: [], viewed: [{ path: "a.rs", digest: "1" }] };
    source = {
      key: "s",
      load: async () => changesOf(files),
      version: async () => version,
      notes: async () => structuredClone(notes),
      calls: {
        setViewed: vi.fn(async () => {}),
        add: vi.fn(async (fresh) => ({ ...fresh, id: "new", created_at: "" })),
        edit: vi.fn(async () => {}),
        drop: vi.fn(async () => {}),
        submit: vi.fn(),
      },
      file: null,
      lines: null,
      picture: null,
      work: { revert: vi.fn(), undo: vi.fn() },
      session: () => "s",
    };
  });
  afterEach(() => stop());

  it("keeps apart what nobody of the session wrote, and gets its lines where it stands", async () => {
    const other = { ...file("other.rs"), hunks: [], by: [{ id: "n", title: "Next door" }] };
    source.load = async () => ({ ...changesOf(files), meanwhile: [other] });
    source.file = async (_, path) => file(path);
    const review = await open();
    expect(review.files().map(({ path }) => path)).toEqual(["a.rs", "src/b.rs"]);
    await review.loadFile("other.rs");
    const [loaded] = review.meanwhile();
    expect(loaded?.hunks.length).toBe(1);
    expect(loaded && writersWords(loaded)).toBe("probably “Next door”");
    expect(writersWords({ ...other, by: [...other.by, ...other.by] })).toBe("probably “Next door” or 1 other");
    expect(writersWords({ ...other, by: [] })).toBeNull();
  });

  it("folds what was viewed, until it is another change", async () => {
    const review = await open();
    expect(review.files().map((one) => [one.path, review.isViewed(one), review.isFolded(one)])).toEqual([
      ["a.rs", true, true],
      ["src/b.rs", false, false],
    ]);
    files = [file("src/b.rs"), file("a.rs", "2")];
    const [, same] = review.files();
    await review.refresh();
    expect(review.viewedCount()).toBe(0);
    expect(review.files()[1]).toBe(same);
  });

  it("says that the files have changed since, and leaves what is read and written until somebody looks", async () => {
    const [news, setNews] = createSignal(0);
    const review = createRoot((dispose) => {
      stop = dispose;
      return createReview(source, { of: news, isTold: true });
    });
    await vi.waitFor(() => expect(review.isLoading()).toBe(false));
    review.drafts.open({ path: "a.rs", side: "new", from_line: 2, to_line: 2, quote: "after", text: "why?" });
    const look = vi.fn(async () => version);
    source.version = look;
    setNews(1);
    await vi.waitFor(() => expect(look).toHaveBeenCalledTimes(1), { timeout: 60_000 });
    expect(review.isStale(), "it is still the same").toBe(false);

    const before = review.files();
    files = [file("src/b.rs"), file("a.rs", "2")];
    version = "w";
    setNews(2);
    await vi.waitFor(() => expect(review.isStale()).toBe(true), { timeout: 60_000 });
    expect(review.files()).toBe(before);
    await review.refresh();
    expect(review.isStale()).toBe(false);
    expect(review.files().map(({ digest }) => digest)).toEqual(["2", "1"]);
    expect(review.drafts.list.map(({ text }) => text)).toEqual(["why?"]);
  });

  it("takes a mark back when the server does not keep it", async () => {
    vi.mocked(source.calls.setViewed).mockRejectedValue(new ApiError(500, "x", "No room."));
    const review = await open();
    const [, other] = review.files();
    review.setViewed(other as FileChange, true);
    expect(review.viewedCount()).toBe(2);
    await vi.waitFor(() => expect(review.viewedCount()).toBe(1));
  });

  it("keeps what is being written over a reload, and makes a comment of it", async () => {
    const first = await open();
    first.drafts.open({ path: "a.rs", side: "new", from_line: 2, to_line: 2, quote: "after", text: "" });
    first.drafts.write({ path: "a.rs", side: "new", from_line: 2, to_line: 2, quote: "after", text: "" }, "why?");
    stop();
    const second = await open();
    const [draft] = second.drafts.list;
    expect(draft?.text).toBe("why?");
    if (draft) await second.save(draft);
    expect(source.calls.add).toHaveBeenCalledWith(
      expect.objectContaining({ path: "a.rs", side: "new", from_line: 2, to_line: 2, text: "why?", since: "session" }),
    );
    expect(second.drafts.list).toHaveLength(0);
    expect(second.commentsOf("a.rs").map(({ id }) => id)).toEqual(["new"]);
  });

  it("keeps what was sent until it is resolved, also by somebody who leaves at once", async () => {
    notes.sent = [remark({ id: "s1", sent_at: "2026-01-01T00:00:00Z" })];
    const review = await open();
    expect([review.comments(), review.sentOf("a.rs").map(({ id }) => id)]).toEqual([[], ["s1"]]);
    review.drop(notes.sent[0] as Comment);
    expect(review.sent()).toEqual([]);
    expect(source.calls.drop, "it can be taken back").not.toHaveBeenCalled();
    dispatchEvent(new Event("pagehide"));
    expect(source.calls.drop).toHaveBeenCalledWith("s1");
  });

  it("shows a file anew that was not what was shown any more", async () => {
    const review = await open();
    vi.mocked(source.work?.revert ?? vi.fn()).mockRejectedValue(new ApiError(409, "changed", "Changed."));
    files = [file("a.rs", "3")];
    await review.revert(review.files()[0] as FileChange);
    expect(source.work?.revert).toHaveBeenCalledWith("session", "a.rs", "1", undefined);
    expect(review.files().map(({ digest }) => digest)).toEqual(["3"]);
  });
});

it("a comment stands beneath its last line, as long as that is the same line", () => {
  const changed = file("a.rs");
  expect(placeOf(remark({}), changed, "session")).toEqual({ side: "new", line: 2 });
  expect(placeOf(remark({ quote: "same\nafter", from_line: 1 }), changed, "session")).toEqual({ side: "new", line: 2 });
  expect(placeOf(remark({ quote: "another" }), changed, "session")).toBeNull();
  expect(placeOf(remark({ to_line: 9 }), changed, "session")).toBeNull();
  const before = remark({ side: "old", quote: "before", since: "turn" });
  expect(placeOf(before, changed, "turn")).toEqual({ side: "old", line: 2 });
  expect(placeOf(before, changed, "session")).toBeNull();
});

it("a sent comment goes with its line, and stays with the nearest where there are several", () => {
  const lines = ["x", "after", "y", "after"].map((text, at) => ({
    kind: "context" as const,
    old: at + 1,
    new: at + 1,
    text,
  }));
  const moved = { ...file("a.rs"), hunks: [{ old_start: 1, old_lines: 4, new_start: 1, new_lines: 4, lines }] };
  expect(movedTo(remark({ from_line: 9, to_line: 9 }), moved)).toEqual({ side: "new", line: 4 });
  expect(movedTo(remark({ from_line: 1, to_line: 1 }), moved)).toEqual({ side: "new", line: 2 });
  expect(movedTo(remark({ quote: "gone" }), moved)).toBeNull();
  expect(movedTo(remark({ side: "old" }), moved)).toBeNull();
});

it("quotes one side only", () => {
  const [hunk] = file("a.rs").hunks;
  expect(quoteOf(hunk?.lines ?? [], "new", 1, 2)).toBe("same\nafter");
  expect(quoteOf(hunk?.lines ?? [], "old", 2, 2)).toBe("before");
});

it("says what a comment is about", () => {
  expect(
    [remark({}), remark({ from_line: 1 }), remark({ side: "old" }), remark({ side: "file" })].map(placeWords),
  ).toEqual(["Line 2", "Lines 1–2", "Line 2 as before", "The whole file"]);
});

it("files stand beneath their directories, those at the top first", () => {
  const files = ["src/http/b.rs", "src/z.rs", "README.md", "src/http/a.rs"].map((path) => file(path));
  const tree = (filter?: string) =>
    treeOf(files, filter).map(({ path, files }) => [path, files.map((one) => one.path)]);
  expect(tree()).toEqual([
    ["", ["README.md"]],
    ["src", ["src/z.rs"]],
    ["src/http", ["src/http/a.rs", "src/http/b.rs"]],
  ]);
  expect(tree("HTTP/A")).toEqual([["src/http", ["src/http/a.rs"]]]);
});
