import { createHash } from 'node:crypto'
import { createId } from '../../src/kernel/identifiers.ts'
import type { Queryable } from '../../src/storage/database.ts'

/** The digits that the load generator counts up: the number of the key. */
export const KEY_DIGITS = '00000000'

const CREDIT_NANO_USD = 100_000_000_000_000n
/** More than a run spends. */
const LIMIT_NANO_USD = 50_000_000_000_000n

interface SeededAccount {
  /** Five letters, part of its keys. */
  readonly name: string
  readonly keys: number
  /** The keys are spread over them evenly. */
  readonly projects: number
  /** Hard budgets by month. */
  readonly budgets: readonly ('account' | 'project' | 'user' | 'key')[]
}

/** Inserts an account with credit, whose keys belong to one person and to projects. Returns its first key. */
export async function seedBudgets(database: Queryable, account: SeededAccount): Promise<string> {
  const { name, keys, projects, budgets } = account
  const start = `pk-live-budget-budget-budget-${name}--`
  const [accountId, userId] = [createId(), createId()]
  const projectIds = Array.from({ length: projects }, () => createId())
  const keyIds = Array.from({ length: keys }, () => createId())
  const numbers = keyIds.map((_, index) => String(index).padStart(KEY_DIGITS.length, '0'))
  const hashes = numbers.map((digits) =>
    createHash('sha256')
      .update(start + digits)
      .digest(),
  )
  await database.query(ACCOUNT, [accountId, CREDIT_NANO_USD])
  await database.query(PERSON, [accountId, userId, `${name}@example.com`])
  await database.query(PROJECTS, [accountId, projectIds, userId])
  const projectOfKeys = keyIds.map((_, index) => projectIds[index % projects])
  await database.query(KEYS, [accountId, keyIds, hashes, projectOfKeys, userId])
  const subjects = {
    account: ['account'],
    project: projectIds.map((id) => `project:${id}`),
    user: [`user:${userId}`],
    key: keyIds.map((id) => `key:${id}`),
  }
  for (const kind of budgets) {
    const ids = subjects[kind].map(() => createId())
    await database.query(BUDGETS, [accountId, ids, subjects[kind], LIMIT_NANO_USD])
  }
  return start + KEY_DIGITS
}

const ACCOUNT = `
  WITH account AS (
    INSERT INTO accounts (id, name) VALUES ($1, 'Budgets')
  ), credit_account AS (
    INSERT INTO credit_accounts (account_id, budgets_version) VALUES ($1, 1)
  ), lot AS (
    INSERT INTO credit_lots (id, account_id, class, granted_nano_usd, remaining_nano_usd)
    VALUES (gen_random_uuid(), $1, 'paid', $2::bigint, $2::bigint)
  )
  INSERT INTO ledger_entries (key, account_id, book, kind, amount_nano_usd, reason)
  SELECT 'opening:' || $1::uuid, $1::uuid, book, 'grant', sign * $2::bigint, 'Starting credit'
  FROM (VALUES ('credit', 1), ('adjustment', -1)) AS sides (book, sign)`

const PERSON = `
  WITH person AS (
    INSERT INTO users (id, email, name) VALUES ($2, $3, 'Ada')
  )
  INSERT INTO account_members (account_id, user_id, role) VALUES ($1, $2, 'owner')`

const PROJECTS = `
  WITH project AS (
    INSERT INTO projects (id, account_id, name) SELECT id, $1, 'Project ' || id FROM unnest($2::uuid[]) AS id
  )
  INSERT INTO project_members (account_id, project_id, user_id, role)
  SELECT $1, id, $3, 'owner' FROM unnest($2::uuid[]) AS id`

const KEYS = `
  INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes, project_id, user_id)
  SELECT id, $1, 'Bench', 'live', hash, 'pk-live-budg…', '{inference}', project_id, $5
  FROM unnest($2::uuid[], $3::bytea[], $4::uuid[]) AS key (id, hash, project_id)`

const BUDGETS = `
  INSERT INTO budgets (id, account_id, subject, period, limit_nano_usd, is_hard, level, thresholds_percent, version, is_counted)
  SELECT id, $1, subject, 'month', $4, true, 'account', '{80}', 1, true
  FROM unnest($2::uuid[], $3::text[]) AS budget (id, subject)`
