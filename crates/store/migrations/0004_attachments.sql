ALTER TABLE messages ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';

ALTER TABLE acp_sessions ADD COLUMN commands TEXT;

-- What was sent along with messages, those that wait included.
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
