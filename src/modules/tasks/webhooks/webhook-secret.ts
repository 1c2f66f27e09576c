import { randomBytes } from 'node:crypto'
import type { Sealer } from '../../../kernel/seal-text.ts'
import { isReadByAll } from '../../../storage/borrowing/capabilities.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { SealedColumn } from '../../../storage/sealed-columns.ts'

export interface WebhookSecret {
  /** `whsec_…` */
  readonly secret: string
  readonly createdAt: Date
  /** Until then the previous secret signs too. */
  readonly previousUntil: Date | null
}

/** The secrets that sign what is sent to addresses of accounts. */
export interface WebhookSecrets {
  /** Creates the secret at the first read. */
  read(accountId: string): Promise<WebhookSecret>
  /** Replaces the secret. For a day webhooks are signed with both secrets, so that the receivers have time to change theirs. */
  rotate(accountId: string): Promise<WebhookSecret>
  /** Returns all secrets that sign now, newest first. */
  readSigning(accountId: string): Promise<string[]>
  /**
   * Seals what an earlier release has stored in clear, once no process of such a release is left, which could not read it. Returns how
   * many secrets there were.
   */
  sealClear(): Promise<number>
}

interface WebhookSecretsOptions {
  readonly database: Queryable
  readonly sealer: Sealer
}

const SECRET_BYTES = 24
const PREVIOUS_HOURS = 24
const SEALED_AT_ONCE = 50
const ROUNDS_MAX = 100

const sealedColumn = (column: 'sealed_secret' | 'sealed_previous_secret'): SealedColumn => ({
  table: 'webhook_secrets',
  column,
  key: { account_id: 'uuid' },
  boundTo: ['account_id'],
  placeOf,
})

export const SEALED_WEBHOOK_SECRETS: readonly SealedColumn[] = [
  sealedColumn('sealed_secret'),
  sealedColumn('sealed_previous_secret'),
]

/** The same for both columns, because a rotation moves what is sealed from one to the other. */
function placeOf(accountId = ''): string {
  return `webhook-secret:${accountId}`
}

export function createWebhookSecrets({ database, sealer }: WebhookSecretsOptions): WebhookSecrets {
  const seal = (secret: string, accountId: string) => sealer.seal(secret, placeOf(accountId))
  /** Returns a new secret for the columns `secret` and `sealed_secret`, one of which is null. */
  const makeFor = async (accountId: string): Promise<readonly [string | null, Buffer | null]> => {
    const made = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
    const isSealed = await isReadByAll(database, 'sealed_webhook_secrets')
    return isSealed ? [null, seal(made, accountId)] : [made, null]
  }
  const find = async (accountId: string): Promise<SecretRow | undefined> => {
    const [row] = await database.query<SecretRow>(
      `SELECT ${COLUMNS} FROM webhook_secrets WHERE account_id = $1`,
      [accountId],
    )
    return row
  }
  const findOrMake = async (accountId: string): Promise<SecretRow> => {
    const known = await find(accountId)
    if (known !== undefined) return known
    await database.query(
      `INSERT INTO webhook_secrets (account_id, secret, sealed_secret) VALUES ($1, $2, $3)
       ON CONFLICT (account_id) DO NOTHING`,
      [accountId, ...(await makeFor(accountId))],
    )
    const made = await find(accountId)
    if (made === undefined) throw new Error('a written secret was not found')
    return made
  }

  return {
    read: async (accountId) => openRow(sealer, await findOrMake(accountId)),
    rotate: async (accountId) => {
      const [row] = await database.query<SecretRow>(ROTATE, [accountId, ...(await makeFor(accountId))])
      if (row === undefined) throw new Error('a written secret was not returned')
      return openRow(sealer, row)
    },
    readSigning: async (accountId) => {
      const { secret, previous } = openRow(sealer, await findOrMake(accountId))
      return previous === null ? [secret] : [secret, previous]
    },
    sealClear: async () => {
      let count = 0
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        // Asked before each round: a process that stood still and was taken for dead may be back.
        if (!(await isReadByAll(database, 'sealed_webhook_secrets'))) return count
        const rows = await database.query<SecretRow>(
          `SELECT ${COLUMNS} FROM webhook_secrets WHERE ${IS_CLEAR} LIMIT ${SEALED_AT_ONCE}`,
        )
        for (const row of rows) {
          const { account_id: accountId, secret } = row
          const previous = openPrevious(sealer, row)
          const sealed = secret === null ? row.sealed_secret : seal(secret, accountId)
          const sealedPrevious = previous === null ? null : seal(previous, accountId)
          count += (
            await database.query(SEAL, [accountId, secret, row.previous_secret, sealed, sealedPrevious])
          ).length
        }
        if (rows.length < SEALED_AT_ONCE) break
      }
      return count
    },
  }
}

interface SecretRow {
  readonly account_id: string
  /** In clear, by a process of an earlier release or while there is one. It is newer than what is sealed. */
  readonly secret: string | null
  readonly sealed_secret: Buffer | null
  readonly previous_secret: string | null
  readonly sealed_previous_secret: Buffer | null
  /** Null if it is over. */
  readonly previous_until: Date | null
  readonly created_at: Date
}

const COLUMNS = `account_id, secret, sealed_secret, previous_secret, sealed_previous_secret, created_at,
  CASE WHEN previous_until > now() THEN previous_until END AS previous_until`

const IS_CLEAR = '(secret IS NOT NULL OR previous_secret IS NOT NULL)'

const ROTATE = `
  INSERT INTO webhook_secrets (account_id, secret, sealed_secret) VALUES ($1, $2, $3)
  ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, sealed_secret = excluded.sealed_secret,
    previous_secret = webhook_secrets.secret,
    sealed_previous_secret = CASE WHEN webhook_secrets.secret IS NULL THEN webhook_secrets.sealed_secret END,
    previous_until = now() + interval '${PREVIOUS_HOURS} hours', created_at = now()
  RETURNING ${COLUMNS}`

/** What was changed meanwhile is sealed in the next round. */
const SEAL = `
  UPDATE webhook_secrets SET secret = NULL, previous_secret = NULL, sealed_secret = $4, sealed_previous_secret = $5
  WHERE account_id = $1 AND secret IS NOT DISTINCT FROM $2 AND previous_secret IS NOT DISTINCT FROM $3 RETURNING 1 AS one`

function openRow(sealer: Sealer, row: SecretRow): WebhookSecret & { readonly previous: string | null } {
  const { account_id: accountId, sealed_secret: sealed } = row
  const secret = row.secret ?? (sealed && sealer.open(sealed, placeOf(accountId)))
  if (secret === null) throw new Error('the secret of webhooks was sealed with another key')
  return {
    secret,
    previous: openPrevious(sealer, row),
    createdAt: row.created_at,
    previousUntil: row.previous_until,
  }
}

function openPrevious(sealer: Sealer, row: SecretRow): string | null {
  if (row.previous_until === null || row.previous_secret !== null)
    return row.previous_until === null ? null : row.previous_secret
  // A process of an earlier release, which does not know the sealed secret, has put a new one beside it.
  const sealed =
    row.secret === null ? row.sealed_previous_secret : (row.sealed_secret ?? row.sealed_previous_secret)
  return sealed && sealer.open(sealed, placeOf(row.account_id))
}
