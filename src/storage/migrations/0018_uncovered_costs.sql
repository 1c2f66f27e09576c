-- What a request cost beyond all that its account had: nobody paid it but the operator.
-- Breaks nothing: a column that older processes leave at nought. The rows there are need no look: all of them have nought.

ALTER TABLE usage_records ADD COLUMN uncovered_nano_usd bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_records ADD CONSTRAINT usage_records_uncovered CHECK (uncovered_nano_usd >= 0) NOT VALID;
