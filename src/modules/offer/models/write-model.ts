import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { takeVersion } from '../write-provider.ts'
import type { OfferedModel, OfferedVisibility } from './offered-model.ts'
import { insertPrice, withdrawFuture, type NewPrice } from './write-price.ts'

/** Every process holds all of them. */
const MODELS_MAX = 2_000

/** What is stored of a model, beside its prices. */
export interface ModelDraft extends Pick<OfferedModel, 'id' | 'entry' | 'visibility'> {
  readonly aliases: readonly string[]
}

export async function insertModel(
  transaction: Queryable,
  model: ModelDraft,
  { price, nowMs }: { readonly price: NewPrice; readonly nowMs: number },
): Promise<bigint> {
  await requireExisting(transaction, model.visibility)
  const version = await takeVersion(transaction)
  const [count] = await transaction.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM offered_models WHERE removed_at IS NULL',
  )
  if (Number(count?.count ?? 0) >= MODELS_MAX)
    throw new AppError('conflict', `There are already ${MODELS_MAX} models.`)
  const rows = await transaction.query(
    `INSERT INTO offered_models (id, entry, account_ids, project_ids, version, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6)
     ON CONFLICT (id) DO UPDATE SET entry = excluded.entry, account_ids = excluded.account_ids,
       project_ids = excluded.project_ids, version = excluded.version, created_at = excluded.created_at,
       updated_at = excluded.updated_at, removed_at = NULL
     WHERE offered_models.removed_at IS NOT NULL
     RETURNING 1`,
    [...valuesOf(model), version, new Date(nowMs)],
  )
  if (rows.length === 0) throw taken(model.id)
  await writeNames(transaction, model)
  await insertPrice(transaction, { ...price, model: model.id, version, nowMs })
  return version
}

/** Changes a model that is still in the version that the change began with. */
export async function updateModel(
  transaction: Queryable,
  model: ModelDraft,
  {
    known,
    price,
    nowMs,
  }: { readonly known: bigint; readonly price: NewPrice | null; readonly nowMs: number },
): Promise<bigint> {
  await requireExisting(transaction, model.visibility)
  const version = await takeVersion(transaction)
  const rows = await transaction.query(
    `UPDATE offered_models SET entry = $2, account_ids = $3, project_ids = $4, version = $5, updated_at = $6
     WHERE id = $1 AND version = $7 AND removed_at IS NULL RETURNING 1`,
    [...valuesOf(model), version, new Date(nowMs), known],
  )
  if (rows.length === 0) throw changedMeanwhile()
  await transaction.query('DELETE FROM offered_model_names WHERE model = $1', [model.id])
  await writeNames(transaction, model)
  if (price !== null) await insertPrice(transaction, { ...price, model: model.id, version, nowMs })
  return version
}

/** The row stays: running tasks follow it, and bills name its prices. */
export async function removeModel(
  transaction: Queryable,
  { id, version: known }: OfferedModel,
  nowMs: number,
): Promise<bigint> {
  const version = await takeVersion(transaction)
  const rows = await transaction.query(
    'UPDATE offered_models SET removed_at = $3, version = $4 WHERE id = $1 AND version = $2 AND removed_at IS NULL RETURNING 1',
    [id, known, new Date(nowMs), version],
  )
  if (rows.length === 0) throw changedMeanwhile()
  await transaction.query('DELETE FROM offered_model_names WHERE model = $1', [id])
  await withdrawFuture(transaction, id, nowMs)
  return version
}

/** A wrong id would show the model to nobody. The project `Default` has the id of its account. */
async function requireExisting(transaction: Queryable, visibility: OfferedVisibility | null): Promise<void> {
  if (visibility === null) return
  const { accountIds, projectIds } = visibility
  const [missing] = await transaction.query<{ kind: string; id: string }>(
    `SELECT 'accounts' AS kind, given::text AS id FROM unnest($1::uuid[]) AS given
       WHERE NOT EXISTS (SELECT FROM accounts WHERE id = given)
     UNION ALL SELECT 'projects', given::text FROM unnest($2::uuid[]) AS given
       WHERE NOT EXISTS (SELECT FROM projects WHERE id = given) AND NOT EXISTS (SELECT FROM accounts WHERE id = given)
     LIMIT 1`,
    [accountIds, projectIds],
  )
  if (missing === undefined) return
  const what = missing.kind === 'accounts' ? 'account' : 'project'
  throw invalidValue(`visibility.${missing.kind}`, `There is no ${what} '${missing.id}'.`)
}

/** A name belongs to one model. */
async function writeNames(transaction: Queryable, { id, aliases }: ModelDraft): Promise<void> {
  const names = [id, ...aliases]
  const rows = await transaction.query<{ name: string }>(
    `INSERT INTO offered_model_names (name, model) SELECT unnest($1::text[]), $2
     ON CONFLICT (name) DO NOTHING RETURNING name`,
    [names, id],
  )
  const written = new Set(rows.map(({ name }) => name))
  const other = names.find((name) => !written.has(name))
  if (other !== undefined) throw taken(other)
}

function valuesOf({ id, entry, visibility }: ModelDraft): unknown[] {
  return [id, JSON.stringify(entry), visibility?.accountIds ?? null, visibility?.projectIds ?? null]
}

function taken(name: string): AppError {
  return new AppError('conflict', `There is already a model with the name '${name}'.`)
}

function changedMeanwhile(): AppError {
  return new AppError('conflict', 'This model was changed or removed meanwhile. Read it again.')
}
