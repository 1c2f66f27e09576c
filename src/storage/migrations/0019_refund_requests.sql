-- Refunds that operators asked for under an idempotency key.
-- Breaks nothing: a new table.

-- Written before the provider is asked, with the amount that was decided on: repeating the request asks for the same refund.
CREATE TABLE refund_requests (
  operator_account_id uuid NOT NULL REFERENCES accounts (id),
  idempotency_key text NOT NULL,
  payment_id uuid NOT NULL REFERENCES payments (id),
  amount_nano_usd bigint NOT NULL CHECK (amount_nano_usd > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the credit was taken.
  completed_at timestamptz,
  PRIMARY KEY (operator_account_id, idempotency_key)
);
