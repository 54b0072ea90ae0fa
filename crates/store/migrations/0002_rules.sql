-- Answers to permissions that were remembered.
CREATE TABLE rules (
    id TEXT NOT NULL PRIMARY KEY,
    -- NULL for those that hold in every session of the work directory.
    session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    work_dir TEXT NOT NULL,
    allow BIGINT NOT NULL,
    subject TEXT NOT NULL,
    created_at TEXT NOT NULL
);
