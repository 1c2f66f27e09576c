-- Limits that all processes share: rates that refill with time, and slots that are given back.
-- Breaks nothing: limits were counted by each process for itself before.

-- What may still be taken of a rate. A process borrows a part and spends it in memory.
CREATE TABLE rate_buckets (
  id text PRIMARY KEY,
  capacity bigint NOT NULL CHECK (capacity > 0),
  refill_per_minute bigint NOT NULL CHECK (refill_per_minute > 0),
  -- In sixty-thousandths of a unit, so that what one millisecond refills is a whole number. Negative after an overdraft.
  level bigint NOT NULL,
  refilled_at_ms bigint NOT NULL,
  -- Lent and not yet said to be spent. What is lent counts as full, so that a bucket and its loans never exceed the capacity.
  lent bigint NOT NULL DEFAULT 0,
  -- Lent in the epoch before. Loans end with the epoch after theirs: a dead process's loan is forgotten in half a minute.
  lent_before bigint NOT NULL DEFAULT 0,
  epoch bigint NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX rate_buckets_by_age ON rate_buckets (refilled_at_ms);

-- Up to the room there is; what is above it already stays.
CREATE FUNCTION refill_level(bucket rate_buckets, room bigint, elapsed_ms bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(bucket.level, least(room * 60000,
    -- No longer than it takes to be full, so that the product stays within its type.
    bucket.level + bucket.refill_per_minute
      * least(elapsed_ms, greatest(0, bucket.capacity * 60000 - bucket.level) / bucket.refill_per_minute + 1)))
$$;

-- One visit of a process at a bucket: closes the loan it had, keeps a part of it, gives units back or owes them, takes what
-- it needs now (as much of it as there is), and borrows a part of what is left for later.
CREATE FUNCTION exchange_rate(
  bucket_id text, new_capacity bigint, at_ms bigint,
  closed bigint, closed_epoch bigint, kept bigint, given_back bigint, needed bigint, wanted bigint
) RETURNS TABLE (taken bigint, borrowed bigint, level_left bigint, lent_in_all bigint, loan_epoch bigint, loan_ms bigint)
LANGUAGE plpgsql AS $$
DECLARE
  scale CONSTANT bigint := 60000;
  epoch_ms CONSTANT bigint := 15000;
  -- A slice is at most this part of what is left: the emptier the bucket, the smaller the slices.
  slice_part CONSTANT bigint := 8;
  bucket rate_buckets;
  now_ms bigint;
  loans_end_ms bigint;
BEGIN
  SELECT * INTO bucket FROM rate_buckets WHERE id = bucket_id FOR UPDATE;
  IF NOT FOUND THEN
    now_ms := coalesce(at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    INSERT INTO rate_buckets (id, capacity, refill_per_minute, level, refilled_at_ms, epoch)
    VALUES (bucket_id, new_capacity, new_capacity, new_capacity * scale, now_ms, now_ms / epoch_ms)
    ON CONFLICT DO NOTHING;
    SELECT * INTO bucket FROM rate_buckets WHERE id = bucket_id FOR UPDATE;
  END IF;
  -- Read when the row is locked, and never earlier than at the visit before.
  now_ms := greatest(bucket.refilled_at_ms, coalesce(at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint));

  -- Refilled at the old rate, and around the old loans until they ended: they may have been spent only then.
  loans_end_ms := least(now_ms, greatest(bucket.refilled_at_ms, (bucket.epoch + 2) * epoch_ms));
  bucket.level := refill_level(bucket, bucket.capacity - bucket.lent - bucket.lent_before, loans_end_ms - bucket.refilled_at_ms);
  bucket.level := refill_level(bucket, bucket.capacity, now_ms - loans_end_ms);

  IF now_ms / epoch_ms > bucket.epoch THEN
    bucket.lent_before := CASE WHEN now_ms / epoch_ms = bucket.epoch + 1 THEN bucket.lent ELSE 0 END;
    bucket.lent := 0;
    bucket.epoch := now_ms / epoch_ms;
  END IF;
  IF closed_epoch = bucket.epoch THEN
    bucket.lent := greatest(0, bucket.lent - closed);
  ELSIF closed_epoch = bucket.epoch - 1 THEN
    bucket.lent_before := greatest(0, bucket.lent_before - closed);
  END IF;
  bucket.lent := bucket.lent + kept;

  bucket.level := least(bucket.level + given_back * scale,
    greatest(0, new_capacity - bucket.lent - bucket.lent_before) * scale);
  taken := least(needed, greatest(0, bucket.level / scale));
  bucket.level := bucket.level - taken * scale;
  borrowed := CASE WHEN taken < needed THEN 0 ELSE least(wanted, greatest(0, bucket.level / scale / slice_part)) END;
  bucket.level := bucket.level - borrowed * scale;
  bucket.lent := bucket.lent + borrowed;

  UPDATE rate_buckets SET capacity = new_capacity, refill_per_minute = new_capacity, level = bucket.level,
    refilled_at_ms = now_ms, lent = bucket.lent, lent_before = bucket.lent_before, epoch = bucket.epoch
  WHERE id = bucket_id;

  level_left := bucket.level;
  lent_in_all := bucket.lent + bucket.lent_before;
  loan_epoch := bucket.epoch;
  loan_ms := (bucket.epoch + 2) * epoch_ms - now_ms;
  RETURN NEXT;
END $$;

-- A number of things that can be used at once: the concurrent requests of an account, the slots of a local model.
CREATE TABLE slot_pools (
  id text PRIMARY KEY,
  capacity integer NOT NULL CHECK (capacity >= 0),
  -- The sum of the loans.
  lent integer NOT NULL DEFAULT 0 CHECK (lent >= 0),
  -- Of the waiter that was served last. Whoever comes new begins there, and not behind everybody who waits.
  turn bigint NOT NULL DEFAULT 0,
  waits bigint NOT NULL DEFAULT 0,
  waited_ms bigint NOT NULL DEFAULT 0,
  serves bigint NOT NULL DEFAULT 0,
  served_ms bigint NOT NULL DEFAULT 0,
  used_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);

CREATE TABLE slot_loans (
  pool_id text NOT NULL REFERENCES slot_pools (id) ON DELETE CASCADE,
  borrower_id uuid NOT NULL REFERENCES borrowers (id) ON DELETE CASCADE,
  slots integer NOT NULL CHECK (slots > 0),
  -- As far as it was told; the rest of the loan is idle.
  in_use integer NOT NULL DEFAULT 0,
  PRIMARY KEY (pool_id, borrower_id)
) WITH (fillfactor = 70);

CREATE INDEX slot_loans_by_borrower ON slot_loans (borrower_id);

-- Who waits for a slot. Accounts take turns; within an account the order is that of arrival.
CREATE TABLE slot_waiters (
  id uuid PRIMARY KEY,
  pool_id text NOT NULL REFERENCES slot_pools (id) ON DELETE CASCADE,
  borrower_id uuid NOT NULL REFERENCES borrowers (id) ON DELETE CASCADE,
  account_id uuid NOT NULL,
  turn bigint NOT NULL,
  place bigint GENERATED ALWAYS AS IDENTITY,
  arrived_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The slot is its process's from here on; the row stays until the process has confirmed it.
  granted_at timestamptz
);

CREATE INDEX slot_waiters_in_order ON slot_waiters (pool_id, turn, place) WHERE granted_at IS NULL;
CREATE INDEX slot_waiters_by_borrower ON slot_waiters (borrower_id);

-- Gives free slots to those who wait and tells their processes, over the channel of the message bus. The pool is locked.
CREATE FUNCTION grant_slots(pool text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  free integer;
  waiter slot_waiters;
BEGIN
  SELECT capacity - lent INTO free FROM slot_pools WHERE id = pool;
  WHILE free > 0 LOOP
    UPDATE slot_waiters SET granted_at = clock_timestamp() WHERE id = (
      SELECT id FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL ORDER BY turn, place LIMIT 1
    ) RETURNING * INTO waiter;
    EXIT WHEN NOT FOUND;
    UPDATE slot_pools SET lent = lent + 1, turn = greatest(turn, waiter.turn), waits = waits + 1,
      waited_ms = waited_ms + greatest(0, extract(epoch FROM waiter.granted_at - waiter.arrived_at) * 1000)::bigint
    WHERE id = pool;
    INSERT INTO slot_loans (pool_id, borrower_id, slots) VALUES (pool, waiter.borrower_id, 1)
    ON CONFLICT (pool_id, borrower_id) DO UPDATE SET slots = slot_loans.slots + 1;
    PERFORM pg_notify('parkway_bus', E'limits.slot-granted\n\n\n' || waiter.borrower_id || ' ' || waiter.id || ' ' || pool);
    free := free - 1;
  END LOOP;
END $$;

-- Null for a process that was taken for dead: it must not borrow under its old name. Locked before the pool, as a reclaim does.
CREATE FUNCTION lock_slot_pool(pool text, borrower uuid, new_capacity integer) RETURNS slot_pools
LANGUAGE plpgsql AS $$
DECLARE
  locked slot_pools;
BEGIN
  PERFORM 1 FROM borrowers WHERE id = borrower AND closed_at IS NULL FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  LOOP
    UPDATE slot_pools SET capacity = new_capacity, used_at = now() WHERE id = pool RETURNING * INTO locked;
    IF FOUND THEN RETURN locked; END IF;
    INSERT INTO slot_pools (id, capacity) VALUES (pool, new_capacity) ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- One visit of a process at a pool: says how many slots it holds, which grants it has taken note of (or no longer wants), and
-- asks for what it needs now and for a few more. No row is returned to a process that was taken for dead.
CREATE FUNCTION exchange_slots(
  pool text, borrower uuid, new_capacity integer, held integer, busy integer, noted uuid[], needed integer, wanted integer,
  new_serves bigint, new_served_ms bigint
) RETURNS TABLE (slots integer, lent_in_all integer, waiting integer, granted uuid[], service_ms integer)
LANGUAGE plpgsql AS $$
DECLARE
  slice_part CONSTANT integer := 8;
  -- Averages forget: beyond this many, older ones count half.
  samples_max CONSTANT bigint := 1000;
  locked slot_pools;
  mine integer;
  others integer;
BEGIN
  locked := lock_slot_pool(pool, borrower, new_capacity);
  IF locked.id IS NULL THEN RETURN; END IF;
  DELETE FROM slot_waiters WHERE id = ANY (noted);
  SELECT coalesce(array_agg(id), '{}') INTO granted FROM slot_waiters
  WHERE pool_id = pool AND borrower_id = borrower AND granted_at IS NOT NULL;
  SELECT coalesce(max(loan.slots), 0) INTO mine FROM slot_loans loan WHERE loan.pool_id = pool AND loan.borrower_id = borrower;
  others := locked.lent - mine;
  SELECT count(*) INTO waiting FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL;

  slots := held + cardinality(granted);
  IF waiting = 0 THEN
    slots := slots + least(needed, greatest(0, new_capacity - others - slots));
    slots := slots + least(wanted, greatest(0, new_capacity - others - slots) / slice_part);
  END IF;
  IF slots > 0 THEN
    INSERT INTO slot_loans (pool_id, borrower_id, slots, in_use) VALUES (pool, borrower, exchange_slots.slots, busy)
    ON CONFLICT (pool_id, borrower_id) DO UPDATE SET slots = excluded.slots, in_use = excluded.in_use;
  ELSE
    DELETE FROM slot_loans loan WHERE loan.pool_id = pool AND loan.borrower_id = borrower;
  END IF;
  UPDATE slot_pools p SET lent = others + exchange_slots.slots,
    serves = CASE WHEN p.serves > samples_max THEN p.serves / 2 ELSE p.serves END + new_serves,
    served_ms = CASE WHEN p.serves > samples_max THEN p.served_ms / 2 ELSE p.served_ms END + new_served_ms,
    waits = CASE WHEN p.waits > samples_max THEN p.waits / 2 ELSE p.waits END,
    waited_ms = CASE WHEN p.waits > samples_max THEN p.waited_ms / 2 ELSE p.waited_ms END
  WHERE p.id = pool;
  IF waiting > 0 THEN
    PERFORM grant_slots(pool);
    SELECT coalesce(array_agg(id), '{}') INTO granted FROM slot_waiters
    WHERE pool_id = pool AND borrower_id = borrower AND granted_at IS NOT NULL;
    SELECT count(*) INTO waiting FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL;
  END IF;
  SELECT p.lent, (p.served_ms / greatest(1, p.serves))::integer INTO lent_in_all, service_ms FROM slot_pools p WHERE p.id = pool;
  RETURN NEXT;
END $$;

-- Takes a free slot, or a place in the queue. A full queue makes room for an account that waits for less than another does:
-- the last of the one that waits for most goes.
CREATE FUNCTION enter_slot_queue(
  pool text, borrower uuid, account uuid, new_capacity integer, queue_max integer, waiter uuid
) RETURNS TABLE (outcome text, waiting integer, service_ms integer)
LANGUAGE plpgsql AS $$
DECLARE
  locked slot_pools;
  own integer;
  own_turn bigint;
  longest record;
BEGIN
  locked := lock_slot_pool(pool, borrower, new_capacity);
  IF locked.id IS NULL THEN RETURN; END IF;
  service_ms := (locked.served_ms / greatest(1, locked.serves))::integer;
  SELECT count(*) INTO waiting FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL;
  SELECT count(*), max(turn) INTO own, own_turn FROM slot_waiters
  WHERE pool_id = pool AND granted_at IS NULL AND account_id = account;
  IF waiting >= queue_max AND (waiting > 0 OR locked.lent >= new_capacity) THEN
    SELECT account_id, count(*) AS entries INTO longest FROM slot_waiters
    WHERE pool_id = pool AND granted_at IS NULL GROUP BY account_id ORDER BY count(*) DESC, account_id LIMIT 1;
    IF longest.entries IS NULL OR longest.entries <= own + 1 THEN
      outcome := 'full';
      RETURN NEXT;
      RETURN;
    END IF;
    PERFORM pg_notify('parkway_bus', E'limits.slot-displaced\n\n\n' || borrower_id || ' ' || id || ' ' || pool_id)
    FROM slot_waiters WHERE id = (
      SELECT id FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL AND account_id = longest.account_id
      ORDER BY turn DESC, place DESC LIMIT 1);
    DELETE FROM slot_waiters WHERE id = (
      SELECT id FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL AND account_id = longest.account_id
      ORDER BY turn DESC, place DESC LIMIT 1);
  END IF;
  INSERT INTO slot_waiters (id, pool_id, borrower_id, account_id, turn)
  VALUES (waiter, pool, borrower, account, greatest(locked.turn, own_turn + 1));
  PERFORM grant_slots(pool);
  SELECT CASE WHEN granted_at IS NULL THEN 'waiting' ELSE 'granted' END INTO outcome FROM slot_waiters WHERE id = waiter;
  SELECT count(*) INTO waiting FROM slot_waiters WHERE pool_id = pool AND granted_at IS NULL;
  -- Whoever keeps an idle slot gives it up now.
  IF outcome = 'waiting' THEN PERFORM pg_notify('parkway_bus', E'limits.slots-wanted\n\n\n' || pool); END IF;
  RETURN NEXT;
END $$;

-- What a process had that is gone: its slots go to those who wait.
CREATE FUNCTION reclaim_slots(borrower uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  pool text;
BEGIN
  FOR pool IN
    SELECT pool_id FROM slot_loans WHERE borrower_id = borrower
    UNION SELECT pool_id FROM slot_waiters WHERE borrower_id = borrower ORDER BY 1
  LOOP
    PERFORM 1 FROM slot_pools WHERE id = pool FOR UPDATE;
    DELETE FROM slot_waiters WHERE pool_id = pool AND borrower_id = borrower;
    UPDATE slot_pools SET lent = lent - coalesce(
      (SELECT slots FROM slot_loans WHERE pool_id = pool AND borrower_id = borrower), 0) WHERE id = pool;
    DELETE FROM slot_loans WHERE pool_id = pool AND borrower_id = borrower;
    PERFORM grant_slots(pool);
  END LOOP;
END $$;
