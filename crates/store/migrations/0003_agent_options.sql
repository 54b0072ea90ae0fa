-- What a person wants set in an agent session and its agent has not been told yet: JSON, option id to value.
ALTER TABLE acp_sessions ADD COLUMN wanted TEXT;
-- What the agent calls the session.
ALTER TABLE acp_sessions ADD COLUMN title TEXT;
