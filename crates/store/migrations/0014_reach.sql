-- What is looked for in a conversation is found without reading all of it: the results of a named agent session, the messages of a
-- turn, and whether a call was there before.
ALTER TABLE messages ADD COLUMN session_name TEXT;
UPDATE messages SET session_name = json_extract(delegation, '$.session_name') WHERE json_valid(delegation);
CREATE INDEX messages_by_name ON messages (session_id, session_name, position) WHERE session_name IS NOT NULL;
CREATE INDEX messages_by_turn ON messages (session_id, turn_id, position);
CREATE INDEX messages_by_call ON messages (session_id, tool_call_id) WHERE tool_call_id IS NOT NULL;
CREATE INDEX receipts_by_turn ON receipts (session_id, turn_id);
