// A worker that does one job after the other, each within a time. One that takes longer costs the worker its life.

/** What people write takes a fraction of it. */
const deadline_ms = 1_500;
/** The worker comes over the network. */
const load_deadline_ms = 20_000;
const most_waiting = 500;
const most_kept = 300;

export type Outcome<Result> = { result: Result } | { error: string };
type Reply<Result> = { ready: true } | ({ id: number } & Outcome<Result>);

export function createBounded<Job, Result>(create: () => Worker) {
  const kept = new Map<string, Promise<Outcome<Result>>>();
  let worker: Worker | null = null;
  let count = 0;
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  function run(job: Job): Promise<Outcome<Result>> {
    const isNew = worker === null;
    worker ??= create();
    const at = worker;
    count += 1;
    const id = count;
    return new Promise((resolve) => {
      const end = (outcome: Outcome<Result>, isDead: boolean) => {
        clearTimeout(timer);
        at.onmessage = null;
        at.onerror = null;
        if (isDead) {
          at.terminate();
          worker = null;
        }
        resolve(outcome);
      };
      const tooLong = () => end({ error: "it takes too long" }, true);
      let timer = setTimeout(tooLong, isNew ? load_deadline_ms : deadline_ms);
      at.onerror = () => end({ error: "it could not be loaded" }, true);
      at.onmessage = ({ data }: MessageEvent<Reply<Result>>) => {
        if ("ready" in data) {
          clearTimeout(timer);
          timer = setTimeout(tooLong, deadline_ms);
        } else if (data.id === id) end(data, false);
      };
      at.postMessage({ id, job });
    });
  }

  /** What was asked for before is known. */
  return (key: string, job: Job): Promise<Outcome<Result>> => {
    const known = kept.get(key);
    if (known) return known;
    if (waiting >= most_waiting) return Promise.resolve({ error: "too many others wait" });
    waiting += 1;
    const asked = last
      .then(() => run(job))
      .finally(() => {
        waiting -= 1;
      });
    last = asked.catch(() => {});
    kept.set(key, asked);
    for (const oldest of kept.keys()) if (kept.size > most_kept) kept.delete(oldest);
    return asked;
  };
}
