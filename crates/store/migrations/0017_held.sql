-- A person stopped what ran: what is queued waits until somebody sends the next message.
ALTER TABLE sessions ADD COLUMN queue_held BIGINT NOT NULL DEFAULT 0;
