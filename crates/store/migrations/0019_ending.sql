-- How a turn ended, in the word that people read, and how long of it a person was waited for. Turns of earlier versions have their state.
ALTER TABLE turns ADD COLUMN ending TEXT;
ALTER TABLE turns ADD COLUMN waited_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN waiting_since_ms BIGINT;
