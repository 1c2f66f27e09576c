-- The reason of a suspension ends with it, whichever process activates the account.
-- Breaks nothing: a process of the release before knows no reason, and would leave that of an earlier suspension to the next one.

CREATE FUNCTION forget_suspension() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.suspended_reason := NULL;
  RETURN NEW;
END $$;

CREATE TRIGGER accounts_forget_suspensions BEFORE UPDATE OF status ON accounts
  FOR EACH ROW WHEN (NEW.status = 'active' AND NEW.suspended_reason IS NOT NULL) EXECUTE FUNCTION forget_suspension();

UPDATE accounts SET suspended_reason = NULL WHERE status = 'active' AND suspended_reason IS NOT NULL;
