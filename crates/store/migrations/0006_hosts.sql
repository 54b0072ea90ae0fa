-- Told to end: the next server clears it away.
ALTER TABLE runners ADD COLUMN ending BIGINT NOT NULL DEFAULT 0;

-- A person chose the agent's own "allow all".
ALTER TABLE acp_sessions ADD COLUMN allow_all BIGINT NOT NULL DEFAULT 0;

-- The runner has taken the answer.
ALTER TABLE permissions ADD COLUMN delivered BIGINT NOT NULL DEFAULT 0;
CREATE INDEX permissions_by_runner ON permissions (session_id, runner_id);

-- What an agent, in one version, calls the protocol's methods that it names differently: JSON.
CREATE TABLE method_names (
    agent TEXT NOT NULL,
    version TEXT NOT NULL,
    names TEXT NOT NULL,
    PRIMARY KEY (agent, version)
);

-- Nothing was ever kept in these.
DROP TABLE meta;
ALTER TABLE turns DROP COLUMN evidence;
