import type { Sealer } from '../../kernel/seal-text.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Deployment } from './deployment.ts'

/** Keeps the token of an account for the starts of its deployment, encrypted. */
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

/** Null where it has none, or none that this gateway can open. */
export async function readToken(
  queryable: Queryable,
  sealer: Sealer,
  deploymentId: string,
): Promise<string | null> {
  const [row] = await queryable.query<{ sealed: Buffer }>(
    'SELECT sealed FROM deployment_tokens WHERE deployment_id = $1',
    [deploymentId],
  )
  return row === undefined ? null : sealer.open(row.sealed, deploymentId)
}

/** Of a deployment that starts no more. */
export async function forgetToken(transaction: Queryable, deploymentId: string): Promise<void> {
  await transaction.query('DELETE FROM deployment_tokens WHERE deployment_id = $1', [deploymentId])
}
