-- Which changes of files a session is credited with: when its agents' tool calls could write, in ms since 1970, and what they wrote.
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

-- Of earlier turns it is only known when they ran.
INSERT INTO windows (session_id, turn_id, call, since_ms, until_ms)
SELECT session_id, id, 'turn:' || id, CAST(strftime('%s', substr(started_at, 1, 19)) AS INTEGER) * 1000,
    (CAST(strftime('%s', substr(COALESCE(ended_at, started_at), 1, 19)) AS INTEGER) + 1) * 1000
FROM turns;
