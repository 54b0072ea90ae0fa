-- How people keep their list of sessions.
ALTER TABLE sessions ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN archived BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN muted BIGINT NOT NULL DEFAULT 0;
-- When somebody last looked at it.
ALTER TABLE sessions ADD COLUMN seen_at TEXT;
-- What its last turn changed in the work directory; NULL where that is not known.
ALTER TABLE sessions ADD COLUMN changed_files BIGINT;
ALTER TABLE sessions ADD COLUMN changed_additions BIGINT;
ALTER TABLE sessions ADD COLUMN changed_deletions BIGINT;
-- What there was before anybody could say so counts as seen.
UPDATE sessions SET seen_at = updated_at;
CREATE INDEX turns_by_place ON turns (session_id, started_seq);
