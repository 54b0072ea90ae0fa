-- The working tree before and after each turn, as object names of git; the objects lie beside the database.
CREATE TABLE snapshots (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    before_tree TEXT,
    after_tree TEXT,
    PRIMARY KEY (session_id, turn_id)
);
