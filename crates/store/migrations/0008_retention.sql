-- What people were told in turns whose events are no longer kept, as far as it still matters.
CREATE TABLE notices (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    -- The turn in which it was said.
    turn_id TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
);
