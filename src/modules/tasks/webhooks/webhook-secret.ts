import { randomBytes } from 'node:crypto'
import type { Queryable } from '../../../storage/database.ts'

export interface WebhookSecret {
  /** `whsec_…` */
  readonly secret: string
  readonly createdAt: Date
  /** Until then the previous secret signs too. */
  readonly previousUntil: Date | null
}

const SECRET_BYTES = 24
const PREVIOUS_HOURS = 24

interface SecretRow {
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_until: Date | null
  readonly created_at: Date
}

const COLUMNS = `secret, created_at, CASE WHEN previous_until > now() THEN previous_secret END AS previous_secret,
  CASE WHEN previous_until > now() THEN previous_until END AS previous_until`

/** Creates the secret at the first read. */
export async function readWebhookSecret(queryable: Queryable, accountId: string): Promise<WebhookSecret> {
  return secretFromRow(await readOrMake(queryable, accountId))
}

/** Replaces the secret. For a day webhooks are signed with both secrets, so that the receivers have time to change theirs. */
export async function rotateWebhookSecret(queryable: Queryable, accountId: string): Promise<WebhookSecret> {
  const [row] = await queryable.query<SecretRow>(
    `INSERT INTO webhook_secrets (account_id, secret) VALUES ($1, $2)
     ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, previous_secret = webhook_secrets.secret,
       previous_until = now() + interval '${PREVIOUS_HOURS} hours', created_at = now()
     RETURNING ${COLUMNS}`,
    [accountId, makeSecret()],
  )
  if (row === undefined) throw new Error('a written secret was not returned')
  return secretFromRow(row)
}

/** Returns all secrets that sign now, newest first. */
export async function readSigningSecrets(queryable: Queryable, accountId: string): Promise<string[]> {
  const { secret, previous_secret: previous } = await readOrMake(queryable, accountId)
  return previous === null ? [secret] : [secret, previous]
}

async function readOrMake(queryable: Queryable, accountId: string): Promise<SecretRow> {
  const read = `SELECT ${COLUMNS} FROM webhook_secrets WHERE account_id = $1`
  const [known] = await queryable.query<SecretRow>(read, [accountId])
  if (known !== undefined) return known
  await queryable.query(
    'INSERT INTO webhook_secrets (account_id, secret) VALUES ($1, $2) ON CONFLICT (account_id) DO NOTHING',
    [accountId, makeSecret()],
  )
  const [made] = await queryable.query<SecretRow>(read, [accountId])
  if (made === undefined) throw new Error('a written secret was not found')
  return made
}

function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

function secretFromRow({
  secret,
  created_at: createdAt,
  previous_until: previousUntil,
}: SecretRow): WebhookSecret {
  return { secret, createdAt, previousUntil }
}
