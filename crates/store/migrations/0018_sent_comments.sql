-- A comment that was sent stays until somebody resolves it.
ALTER TABLE comments ADD COLUMN sent_at TEXT;
