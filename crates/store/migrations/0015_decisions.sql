-- What was decided about a request, beside the id of the option that stands for it: ids are the agent's, and say nothing by themselves.
ALTER TABLE permissions ADD COLUMN verdict TEXT;
ALTER TABLE permissions ADD COLUMN reach TEXT;
