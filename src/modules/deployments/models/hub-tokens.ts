import type { Sealer } from '../../../kernel/seal-text.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { SealedColumn } from '../../../storage/sealed-columns.ts'
import type { Deployment } from '../deployment.ts'

export const SEALED_HUB_TOKENS: SealedColumn = {
  table: 'deployment_tokens',
  column: 'sealed',
  key: { deployment_id: 'uuid' },
  boundTo: ['deployment_id'],
  placeOf: (deploymentId) => deploymentId,
}

/** Stores the account's hub token, encrypted, for each start of the deployment. */
export async function keepToken(
  transaction: Queryable,
  sealer: Sealer,
  { deployment, token }: { deployment: Pick<Deployment, 'id' | 'accountId'>; token: string },
): Promise<void> {
  await transaction.query(
    'INSERT INTO deployment_tokens (deployment_id, account_id, sealed) VALUES ($1, $2, $3)',
    [deployment.id, deployment.accountId, sealer.seal(token, deployment.id)],
  )
}

/** The token was sealed with another key than this gateway has. */
export class TokenUnreadable extends Error {
  override readonly name = 'TokenUnreadable'
}

/** Returns null if the deployment has no token. Throws `TokenUnreadable` if this gateway's sealing key cannot decrypt it. */
export async function readToken(
  queryable: Queryable,
  sealer: Sealer,
  deploymentId: string,
): Promise<string | null> {
  const [row] = await queryable.query<{ sealed: Buffer }>(
    'SELECT sealed FROM deployment_tokens WHERE deployment_id = $1',
    [deploymentId],
  )
  return row === undefined ? null : openToken(sealer, row.sealed, deploymentId)
}

/** Returns the token of a run's deployment, or null as `readToken` does. */
export async function readTokenOfRun(
  queryable: Queryable,
  sealer: Sealer,
  runId: string,
): Promise<string | null> {
  const [row] = await queryable.query<{ deployment_id: string; sealed: Buffer }>(
    `SELECT deployment_id, t.sealed FROM deployment_runs r JOIN deployment_tokens t USING (deployment_id) WHERE r.id = $1`,
    [runId],
  )
  return row === undefined ? null : openToken(sealer, row.sealed, row.deployment_id)
}

function openToken(sealer: Sealer, sealed: Uint8Array, place: string): string {
  const token = sealer.open(sealed, place)
  if (token === null) throw new TokenUnreadable('a hub token was sealed with another key')
  return token
}

/** Deletes the token of a deployment that is deleted. */
export async function forgetToken(transaction: Queryable, deploymentId: string): Promise<void> {
  await transaction.query('DELETE FROM deployment_tokens WHERE deployment_id = $1', [deploymentId])
}
