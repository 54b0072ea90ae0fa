// What a tab and whoever reads the stream for all of them say to each other.

export type ToHub =
  /** Begins to follow a session: a snapshot for null, else what comes after that event. */
  | { type: "follow"; sub: number; session: string; after: number | null; key: string | null }
  | { type: "leave"; sub: number }
  /** Whether rows of the list are wanted. */
  | { type: "rows"; on: boolean; key: string | null }
  /** Where the tab holds a lock of this name, it is gone when somebody else gets it. */
  | { type: "hello"; lock: string }
  | { type: "bye" };

export type ToTab =
  /** The wish has arrived. */
  | { type: "taken"; sub: number }
  | { type: "open"; sub: number }
  | { type: "frame"; sub: number; event: string; data: string; id: string }
  /** Nothing more comes; `refused` when the server has answered, and said no. */
  | { type: "closed"; sub: number; refused: boolean }
  /** There is no room for this one: the tab opens a stream of its own. */
  | { type: "alone"; sub: number }
  /** Rows come from now on; what changed before is to be fetched. */
  | { type: "rows-open" }
  | { type: "rows-closed" }
  | { type: "row"; data: string }
  | { type: "row-gone"; data: string };
