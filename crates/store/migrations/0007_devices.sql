-- The browsers and programs that are let in. Secrets are stored as hashes only.
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
-- Single-use ways to become a device: a link and a code to type.
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
-- Who did what, from which device.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    device_id TEXT,
    device TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    detail TEXT
);
-- What an entry says of a session goes with the session.
CREATE TABLE audit_details (
    audit_id BIGINT NOT NULL PRIMARY KEY REFERENCES audit (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    detail TEXT NOT NULL
);
CREATE INDEX audit_details_by_session ON audit_details (session_id);
-- What a person chose for the whole server.
CREATE TABLE preferences (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
