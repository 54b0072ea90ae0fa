// One review on the page: the files, what was looked at, what was said, and what is being said.

import { batch, createEffect, createMemo, createSignal, on, onCleanup, untrack } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { ApiError, onBack, sentence } from "../api/client";
import type { Changes, Comment, FileChange, MeanwhileChange, NewComment, Notes, Since } from "../api/types";
import { tell, tellUndoable } from "../kit/toasts";
import { readStored, store } from "../state/storage";
import { createDrafts, type Draft, type Drafts } from "./drafts";
import { createDrops } from "./drops";
import type { Source } from "./source";
import { noteChanged } from "./summary";
import { inTreeOrder } from "./tree";

export interface Review {
  source: Source;
  changes(): Changes | undefined;
  files(): FileChange[];
  /** What changed too and nobody of the session wrote. */
  meanwhile(): MeanwhileChange[];
  /** Why there is nothing, in words. */
  error(): string | null;
  isLoading(): boolean;
  since(): Since | undefined;
  choose(since: Since): void;
  refresh(): Promise<void>;
  /** What is shown is not what is there any more. */
  isStale(): boolean;
  /** Gets the lines of a file that came without them. */
  loadFile(path: string): Promise<void>;

  /** Those that wait to be sent. */
  comments(): Comment[];
  commentsOf(path: string): Comment[];
  /** Those that were sent, until somebody resolves them. */
  sent(): Comment[];
  sentOf(path: string): Comment[];
  drafts: Drafts;
  /** Makes a comment of what was written, or writes it over the one it was for. */
  save(draft: Draft): Promise<void>;
  /** Deletes one that waits, resolves one that was sent. */
  drop(comment: Comment): void;

  isViewed(file: FileChange): boolean;
  setViewed(file: FileChange, isViewed: boolean): void;
  viewedCount(): number;
  isFolded(file: FileChange): boolean;
  fold(file: FileChange, isFolded: boolean): void;

  revert(file: FileChange, hunk?: number): Promise<void>;
}

/** The figures in the head count from there too. */
const usual_since: Since = "session";

const parseFolds = (text: string | null): Record<string, boolean> => {
  try {
    return JSON.parse(text ?? "{}");
  } catch {
    return {};
  }
};

/** An agent that writes file after file is not asked after each. */
const rest_ms = 1_500;

interface News {
  /** Becomes another value when the files may have become others. */
  of(): unknown;
  /** Whoever reads closely is told that there is something new; whoever glances at it is shown it. */
  isTold: boolean;
}

/** `from` is what it shows first, where somebody asked for that; it is not remembered. */
export function createReview(source: Source, news?: News, from?: Since): Review {
  const [changes, setChanges] = createSignal<Changes>();
  const [notes, setNotes] = createStore<Notes>({ comments: [], sent: [], viewed: [] });
  const [since, setSince] = createSignal(
    from ?? (readStored(`review.${source.key}.since`) as Since | null) ?? usual_since,
  );
  const [error, setError] = createSignal<string | null>(null);
  const [isLoading, setLoading] = createSignal(true);
  const [isStale, setStale] = createSignal(false);
  const foldsName = `review.${source.key}.folds`;
  const [folds, setFolds] = createStore<Record<string, boolean>>(parseFolds(readStored(foldsName)));
  const drafts = createDrafts(source.key);
  const drops = createDrops(source.key, (id) => source.calls.drop(id));

  let asked = 0;
  const refresh = async () => {
    asked += 1;
    const mine = asked;
    setLoading(true);
    try {
      const wanted = untrack(since);
      const [fresh, found] = await Promise.all([loadOf(source, wanted), source.notes()]);
      if (mine !== asked) return;
      batch(() => {
        // Files that are the same stay the same: nothing of them is drawn anew.
        setChanges((before) => keepSame(before, fresh));
        setNotes(reconcile(found, { key: "id" }));
        setError(null);
        setStale(false);
      });
    } catch (reason) {
      if (mine === asked) setError(sentence(reason));
    } finally {
      if (mine === asked) setLoading(false);
    }
  };
  createEffect(on(since, () => void refresh()));
  const look = async () => {
    const shown = untrack(changes);
    if (!shown || isStale()) return;
    // A server that is away is told of elsewhere, and asked again when it is back.
    const version = await source.version?.(shown.since).catch(() => undefined);
    if (version !== undefined && untrack(changes)?.version === shown.version) setStale(version !== shown.version);
  };
  if (news) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hear = () => {
      if (!news.isTold) return void refresh();
      clearTimeout(timer);
      timer = setTimeout(() => void look(), rest_ms);
    };
    createEffect(on(news.of, hear, { defer: true }));
    onCleanup(() => clearTimeout(timer));
  }
  onCleanup(onBack(() => void refresh()));

  const files = createMemo(() => inTreeOrder(changes()?.files ?? []));
  const meanwhile = createMemo(() => inTreeOrder(changes()?.meanwhile ?? []));
  const put = (file: FileChange) => {
    const into = <T extends FileChange>(listed: T[]) =>
      listed.map((other) => (other.path === file.path ? { ...other, ...file } : other));
    setChanges((all) => all && { ...all, files: into(all.files), meanwhile: into(all.meanwhile) });
  };
  const digests = createMemo(() => new Map(notes.viewed.map(({ path, digest }) => [path, digest])));
  const isViewed = (file: FileChange) => digests().get(file.path) === file.digest;
  const comments = createMemo(() => notes.comments.filter(({ id }) => !drops.has(id)));
  const sent = createMemo(() => notes.sent.filter(({ id }) => !drops.has(id)));

  return {
    source,
    changes,
    files,
    meanwhile,
    error,
    isLoading,
    since: () => changes()?.since,
    choose(next) {
      store(`review.${source.key}.since`, next);
      setSince(next);
    },
    refresh,
    isStale,
    async loadFile(path) {
      const known = changes();
      if (!known || !source.file) return;
      put({ ...(await source.file(known.since, path)), too_large: false });
    },
    comments,
    commentsOf: (path) => comments().filter((comment) => comment.path === path),
    sent,
    sentOf: (path) => sent().filter((comment) => comment.path === path),
    drafts,
    async save(draft) {
      const text = draft.text.trim();
      if (text === "") return drafts.close(draft);
      if (draft.editing !== undefined) {
        const { editing } = draft;
        await source.calls.edit(editing, text);
        setNotes("comments", (comment) => comment.id === editing, "text", text);
      } else {
        const made = await source.calls.add(asComment(draft, text, changes()?.since));
        setNotes("comments", (all) => [...all.filter(({ id }) => id !== made.id), made]);
      }
      drafts.close(draft);
    },
    drop(comment) {
      drops.drop(comment.id, comment.sent_at == null ? "Comment deleted" : "Comment resolved");
    },
    isViewed,
    setViewed(file, viewed) {
      const { path, digest } = file;
      const rest = notes.viewed.filter((mark) => mark.path !== path);
      const before = notes.viewed;
      batch(() => {
        setNotes("viewed", viewed ? [...rest, { path, digest }] : rest);
        setFolds(path, viewed);
      });
      store(foldsName, JSON.stringify(folds));
      source.calls.setViewed(path, digest, viewed).catch((reason) => {
        setNotes("viewed", before);
        tell(sentence(reason));
      });
    },
    viewedCount: () => files().filter(isViewed).length,
    isFolded: (file) => folds[file.path] ?? isViewed(file),
    fold(file, folded) {
      setFolds(file.path, folded);
      store(foldsName, JSON.stringify(folds));
    },
    async revert(file, hunk) {
      const known = changes();
      if (!known || !source.work) return;
      const { work } = source;
      try {
        const { undo } = await work.revert(known.since, file.path, file.digest, hunk);
        const giveBack = () =>
          work
            .undo(undo)
            .catch((reason) => tell(sentence(reason)))
            .then(() => noteAndRefresh());
        tellUndoable(
          hunk === undefined ? `Reverted ${file.path}` : "Reverted the change",
          () => void giveBack(),
          () => {},
        );
      } catch (reason) {
        if (!(reason instanceof ApiError && reason.status === 409)) throw reason;
        tell("The file changed in the meantime. Here is the latest version.");
      }
      await noteAndRefresh();
    },
  };

  async function noteAndRefresh() {
    noteChanged();
    await refresh();
  }
}

/** What was chosen may make no sense here, or not any more: then it is the first of what does. */
async function loadOf(source: Source, since: Since): Promise<Changes> {
  const changes = await source.load(since);
  const [first] = changes.sinces;
  return first === undefined || changes.sinces.includes(since) ? changes : source.load(first);
}

function keepSame(before: Changes | undefined, after: Changes): Changes {
  if (!before || before.since !== after.since) return after;
  const same = <T extends FileChange>(old: T[], fresh: T[]) => {
    const known = new Map(old.map((file) => [file.path, file]));
    return fresh.map((file) => {
      const found = known.get(file.path);
      return found && found.digest === file.digest ? found : file;
    });
  };
  return {
    ...after,
    files: same(before.files, after.files),
    meanwhile: same(before.meanwhile, after.meanwhile),
  };
}

function asComment(draft: Draft, text: string, since: Since | undefined): NewComment {
  const { path, side, from_line, to_line, quote } = draft;
  return {
    path,
    side,
    quote,
    text,
    ...(from_line == null ? {} : { from_line, to_line: to_line ?? from_line }),
    ...(since === undefined ? {} : { since }),
  };
}
