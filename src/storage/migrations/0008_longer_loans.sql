-- Loans of rates last for minutes, so that ten thousand accounts that come now and then do not visit their buckets all the time;
-- a first visit writes its bucket once; who borrows slots does not wait for the same process's charges, nor reads its other loans.
-- Breaks nothing: buckets begin anew, and full.

-- Without it an update touches no index. The sweep that used it runs every two minutes and can read the whole table.
DROP INDEX rate_buckets_by_age;

-- Looking for one loan of a process must never read all of them; a reclaim, which is rare, can.
DROP INDEX slot_loans_by_borrower;

-- Epochs are counted in another length from here on.
DELETE FROM rate_buckets;

CREATE OR REPLACE FUNCTION exchange_rate(
  bucket_id text, new_capacity bigint, at_ms bigint,
  closed bigint, closed_epoch bigint, kept bigint, given_back bigint, needed bigint, wanted bigint
) RETURNS TABLE (taken bigint, borrowed bigint, level_left bigint, lent_in_all bigint, loan_epoch bigint, loan_ms bigint)
LANGUAGE plpgsql AS $$
DECLARE
  scale CONSTANT bigint := 60000;
  epoch_ms CONSTANT bigint := 120000;
  -- A slice is at most this part of what is left: the emptier the bucket, the smaller the slices.
  slice_part CONSTANT bigint := 8;
  bucket rate_buckets;
  is_new boolean;
  now_ms bigint;
  loans_end_ms bigint;
BEGIN
  LOOP
    SELECT * INTO bucket FROM rate_buckets WHERE id = bucket_id FOR UPDATE;
    is_new := NOT FOUND;
    -- Read when the row is locked, and never earlier than at the visit before.
    now_ms := coalesce(at_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    IF is_new THEN
      bucket := (bucket_id, new_capacity, new_capacity, new_capacity * scale, now_ms, 0, 0, now_ms / epoch_ms);
    END IF;
    now_ms := greatest(bucket.refilled_at_ms, now_ms);

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

    IF is_new THEN
      INSERT INTO rate_buckets VALUES (bucket_id, new_capacity, new_capacity, bucket.level, now_ms, bucket.lent,
        bucket.lent_before, bucket.epoch) ON CONFLICT DO NOTHING;
    ELSE
      UPDATE rate_buckets SET capacity = new_capacity, refill_per_minute = new_capacity, level = bucket.level,
        refilled_at_ms = now_ms, lent = bucket.lent, lent_before = bucket.lent_before, epoch = bucket.epoch
      WHERE id = bucket_id;
    END IF;
    -- Another process may have been the first.
    EXIT WHEN FOUND;
  END LOOP;

  level_left := bucket.level;
  lent_in_all := bucket.lent + bucket.lent_before;
  loan_epoch := bucket.epoch;
  loan_ms := (bucket.epoch + 2) * epoch_ms - now_ms;
  RETURN NEXT;
END $$;

-- The weakest lock that a reclaim waits for: commits of the same process change its row all the time.
CREATE OR REPLACE FUNCTION lock_slot_pool(pool text, borrower uuid, new_capacity integer) RETURNS slot_pools
LANGUAGE plpgsql AS $$
DECLARE
  locked slot_pools;
BEGIN
  PERFORM 1 FROM borrowers WHERE id = borrower AND closed_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  LOOP
    UPDATE slot_pools SET capacity = new_capacity, used_at = now() WHERE id = pool RETURNING * INTO locked;
    IF FOUND THEN RETURN locked; END IF;
    INSERT INTO slot_pools (id, capacity) VALUES (pool, new_capacity) ON CONFLICT DO NOTHING;
  END LOOP;
END $$;
