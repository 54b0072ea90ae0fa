-- What an agent asked of its client (files, terminals, forms) and has not been answered yet.
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
