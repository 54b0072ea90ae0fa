-- The whole schema, as a new database gets it. An older one comes to the same by the migrations, and a test compares the two: whoever
-- adds a migration changes this file too.

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    work_dir TEXT NOT NULL,
    model TEXT NOT NULL,
    agent TEXT NOT NULL,
    permission_policy TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    horizon BIGINT NOT NULL DEFAULT 0,
    pinned BIGINT NOT NULL DEFAULT 0,
    archived BIGINT NOT NULL DEFAULT 0,
    muted BIGINT NOT NULL DEFAULT 0,
    seen_at TEXT,
    changed_files BIGINT,
    changed_additions BIGINT,
    changed_deletions BIGINT,
    -- What is queued waits until somebody sends it.
    queue_held BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_activity ON sessions (updated_at, id);

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
    attachments TEXT NOT NULL DEFAULT '[]',
    session_name TEXT,
    PRIMARY KEY (session_id, id),
    UNIQUE (session_id, position)
);
CREATE INDEX messages_by_name ON messages (session_id, session_name, position) WHERE session_name IS NOT NULL;
CREATE INDEX messages_by_turn ON messages (session_id, turn_id, position);
CREATE INDEX messages_by_call ON messages (session_id, tool_call_id) WHERE tool_call_id IS NOT NULL;

CREATE TABLE receipts (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    queued BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id)
);
CREATE INDEX receipts_by_turn ON receipts (session_id, turn_id);

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
    -- In the word that people read; NULL while it runs, and in rows of earlier versions.
    ending TEXT,
    -- How long of it a person was waited for, without a wait that goes on.
    waited_ms BIGINT NOT NULL DEFAULT 0,
    waiting_since_ms BIGINT,
    PRIMARY KEY (session_id, id)
);
CREATE INDEX turns_running ON turns (session_id, started_seq) WHERE state = 'running';
CREATE INDEX turns_by_place ON turns (session_id, started_seq);

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
    wanted TEXT,
    title TEXT,
    commands TEXT,
    allow_all BIGINT NOT NULL DEFAULT 0,
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
    delivered BIGINT NOT NULL DEFAULT 0,
    -- allow, reject or cancel; once or always. NULL in rows of earlier versions.
    verdict TEXT,
    reach TEXT,
    PRIMARY KEY (session_id, id)
);
CREATE INDEX permissions_open ON permissions (session_id) WHERE resolved_by IS NULL;
CREATE INDEX permissions_by_runner ON permissions (session_id, runner_id);

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
    capabilities TEXT,
    ending BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX runners_by_session ON runners (session_id);

CREATE TABLE rules (
    id TEXT NOT NULL PRIMARY KEY,
    -- NULL for those that hold in every session of the work directory.
    session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    work_dir TEXT NOT NULL,
    allow BIGINT NOT NULL,
    subject TEXT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE attachments (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    message_id TEXT NOT NULL,
    -- As the conversation shows it.
    about TEXT NOT NULL,
    -- Empty for a path in the work directory.
    data BLOB NOT NULL,
    PRIMARY KEY (session_id, id)
);
CREATE INDEX attachments_by_message ON attachments (session_id, message_id);

CREATE TABLE requests (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    runner_id TEXT NOT NULL,
    rpc_id TEXT NOT NULL,
    -- The delegated call it was made in.
    call_id TEXT,
    request TEXT NOT NULL,
    -- Its effect was begun: where no answer follows, nobody can know how far that came.
    begun BIGINT NOT NULL DEFAULT 0,
    -- NULL until it is decided.
    answer TEXT,
    PRIMARY KEY (session_id, id)
);
CREATE INDEX requests_by_runner ON requests (runner_id);

CREATE TABLE method_names (
    agent TEXT NOT NULL,
    version TEXT NOT NULL,
    names TEXT NOT NULL,
    PRIMARY KEY (agent, version)
);

CREATE TABLE devices (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    -- The key of the page that this device is bound to; NULL until it is bound.
    key_hash TEXT,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- Where it was last seen.
    address TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT NOT NULL
);

CREATE TABLE links (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    code_hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- The name of the device that it makes, where one was given.
    name TEXT,
    expires_at TEXT NOT NULL,
    used BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    device_id TEXT,
    device TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    detail TEXT
);

CREATE TABLE audit_details (
    audit_id BIGINT NOT NULL PRIMARY KEY REFERENCES audit (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    detail TEXT NOT NULL
);
CREATE INDEX audit_details_by_session ON audit_details (session_id);

CREATE TABLE preferences (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE notices (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    -- The turn in which it was said.
    turn_id TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
);

CREATE TABLE snapshots (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    before_tree TEXT,
    after_tree TEXT,
    PRIMARY KEY (session_id, turn_id)
);

CREATE TABLE windows (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    call TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    -- None while the call runs.
    until_ms BIGINT,
    PRIMARY KEY (session_id, call, since_ms)
);

CREATE TABLE credits (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    -- Relative to the session's work directory.
    path TEXT NOT NULL,
    -- How it is known: reported by the agent, or seen in a window.
    evidence TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (session_id, turn_id, path, evidence, since_ms)
);
CREATE INDEX credits_by_time ON credits (evidence, until_ms);

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
    -- A comment that was sent stays until somebody resolves it.
    sent_at TEXT,
    PRIMARY KEY (session_id, id)
);

CREATE TABLE viewed (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (session_id, scope, path)
);

CREATE TABLE push (
    device_id TEXT NOT NULL PRIMARY KEY REFERENCES devices (id) ON DELETE CASCADE,
    endpoint TEXT NOT NULL UNIQUE,
    p256dh TEXT NOT NULL,
    auth TEXT NOT NULL,
    created_at TEXT NOT NULL
);

CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
CREATE INDEX events_told ON events (session_id, kind, seq) WHERE kind = 'notice' OR kind = 'turn';
