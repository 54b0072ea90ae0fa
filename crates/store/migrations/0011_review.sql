-- What people noted on changes and have not sent yet. The scope is 'changes' for those of the session, or the id of an artifact.
CREATE TABLE comments (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    scope TEXT NOT NULL,
    path TEXT NOT NULL,
    side TEXT NOT NULL,
    from_line BIGINT,
    to_line BIGINT,
    quote TEXT NOT NULL,
    text TEXT NOT NULL,
    -- Since when the changes were shown.
    since TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, id)
);

-- The files that were looked at, each in the state that it had then.
CREATE TABLE viewed (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (session_id, scope, path)
);
