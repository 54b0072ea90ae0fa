-- The end of a log is its last event, or the horizon where nothing is left, so it is stored nowhere else. A number is never given twice.
UPDATE sessions SET horizon = last_seq WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.session_id = sessions.id);
ALTER TABLE sessions DROP COLUMN last_seq;

-- One tree instead of two.
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
INSERT INTO events (session_id, seq, kind, data) SELECT session_id, seq, kind, data FROM events_before ORDER BY session_id, seq;
DROP TABLE events_before;
-- By kind first, or the table itself would look as good a way to them as this.
CREATE INDEX events_told ON events (session_id, kind, seq) WHERE kind = 'notice' OR kind = 'turn';
