-- Times are RFC 3339 text with nine fractional digits, so that text order is time order. JSON is TEXT, flags are 0 or 1.

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    work_dir TEXT NOT NULL,
    model TEXT NOT NULL,
    agent TEXT NOT NULL,
    permission_policy TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    last_seq BIGINT NOT NULL DEFAULT 0,
    -- Events up to and including this one are no longer kept.
    horizon BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_activity ON sessions (updated_at, id);

CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
);
CREATE INDEX events_told ON events (session_id, seq) WHERE kind IN ('notice', 'turn');

CREATE TABLE messages (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    role TEXT NOT NULL,
    -- What the model was given; `display` is what people see where that is more.
    content TEXT NOT NULL,
    display TEXT,
    created_at TEXT NOT NULL,
    turn_id TEXT,
    client_id TEXT,
    tool_calls TEXT NOT NULL,
    tool_call_id TEXT,
    is_error BIGINT NOT NULL,
    artifact_id TEXT,
    delegation TEXT,
    PRIMARY KEY (session_id, id),
    UNIQUE (session_id, position)
);

-- What was answered to a message that carried a client-made id; kept although the message was withdrawn.
CREATE TABLE receipts (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    queued BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id)
);

CREATE TABLE turns (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    user_message_id TEXT,
    -- The first event of the write that started the turn.
    started_seq BIGINT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    evidence TEXT,
    PRIMARY KEY (session_id, id)
);
CREATE INDEX turns_running ON turns (session_id, started_seq) WHERE state = 'running';

CREATE TABLE queue (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    turn_id TEXT NOT NULL,
    client_id TEXT,
    content TEXT NOT NULL,
    attachments TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, message_id),
    UNIQUE (session_id, position)
);

CREATE TABLE acp_sessions (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    acp_session_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    cwd TEXT NOT NULL,
    created_at TEXT NOT NULL,
    prompted_at TEXT,
    mode TEXT,
    options TEXT,
    usage TEXT,
    restored TEXT,
    -- The runner in whose process it was last opened.
    runner_id TEXT,
    UNIQUE (session_id, name)
);

CREATE TABLE permissions (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    request TEXT NOT NULL,
    rpc_id TEXT NOT NULL,
    runner_id TEXT NOT NULL,
    opened_seq BIGINT NOT NULL,
    -- NULL while it is open.
    resolved_by TEXT,
    option_id TEXT,
    PRIMARY KEY (session_id, id)
);
CREATE INDEX permissions_open ON permissions (session_id) WHERE resolved_by IS NULL;

CREATE TABLE confirms (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tool_call_id TEXT NOT NULL,
    call TEXT NOT NULL,
    opened_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, tool_call_id)
);

CREATE TABLE artifacts (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    -- The artifact as the stream shows it; the diffs are in `files`.
    summary TEXT NOT NULL,
    files TEXT NOT NULL,
    review TEXT NOT NULL
);
CREATE INDEX artifacts_by_session ON artifacts (session_id, created_at, id);

CREATE TABLE runners (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    dir TEXT NOT NULL,
    cursor BIGINT NOT NULL,
    -- What the agent said it can do; NULL until it has.
    capabilities TEXT
);
CREATE INDEX runners_by_session ON runners (session_id);

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
