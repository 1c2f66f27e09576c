import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Sealer } from '../../../kernel/seal-text.ts'
import type { Hub } from '../../../hub/hub.ts'
import type { ModelCache } from '../../../hub/model-cache/model-cache.ts'
import type { Database } from '../../../storage/database.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import type { Caller } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { assessModel, type EntitledQuestion, type ModelQuestion } from '../models/assess-model.ts'
import { checkHubId } from '../new-deployment.ts'
import { notAllowed } from '../not-allowed.ts'
import {
  parseFiles,
  placeOf,
  prefetchFromRow,
  type Prefetch,
  type PrefetchFiles,
  type PrefetchRow,
} from './prefetch-row.ts'

/** Downloads of models before they are deployed. An account sees only its own. */
export interface Prefetches {
  order(caller: Caller, question: ModelQuestion): Promise<Prefetch>
  read(accountId: string, huggingfaceId: string): Promise<Prefetch>
  cancel(caller: Caller, huggingfaceId: string): Promise<Prefetch>
}

export interface PrefetchesOptions {
  readonly database: Database
  readonly messageBus: MessageBus
  readonly clock: Clock
  readonly hub: Hub
  /** Null if this gateway has no model cache of its own. */
  readonly cache: Pick<ModelCache, 'fetch' | 'measure'> | null
  readonly sealer: Sealer
  /** Whether the account may use the operator's hub token. */
  readonly mayUseHubToken: (accountId: string) => Promise<boolean>
  /** Null if billing is off. */
  readonly ledger: Pick<Ledger, 'readBalance'> | null
  /** The size limit of a model. */
  readonly bytesMax: number
}

/** Published when a download is ordered or cancelled. */
export const PREFETCH_TOPIC = 'deployments.prefetch'
/** Concurrent downloads per account. */
const DOWNLOADS_MAX = 3
/** Stored downloads per account, including ended ones. */
const KEPT_MAX = 50
const RETRY_SECONDS = 10

export function createPrefetches(options: PrefetchesOptions): Prefetches {
  const { database, messageBus, clock, cache } = options
  const readRow = async (accountId: string, modelId: string): Promise<PrefetchRow | null> => {
    const [row] = await database.query<PrefetchRow>(
      'SELECT * FROM model_prefetches WHERE account_id = $1 AND huggingface_id = $2',
      [accountId, modelId],
    )
    return row ?? null
  }

  // The order is saved. If the message is lost, the runners find it at their next look.
  const tellRunners = () => messageBus.publish(PREFETCH_TOPIC, '').catch(() => {})

  return {
    order: async (caller, question) => {
      checkHubId('huggingface_id', question.huggingfaceId)
      if (caller.allowedModels !== null) throw notAllowed()
      if (cache === null)
        throw new AppError('provider_not_configured', 'This gateway keeps no models on its own disk.')
      await requireBalance(options, caller.accountId)
      const asOperator = await options.mayUseHubToken(caller.accountId)
      const model = await checkForDownload(options, { ...question, asOperator })
      const row = await insert(options, caller.accountId, question, model)
      await tellRunners()
      return prefetchFromRow(row)
    },
    read: async (accountId, modelId) => {
      checkHubId('huggingface_id', modelId)
      const row = await readRow(accountId, modelId)
      if (row === null) return nothingOf(modelId)
      if (row.status !== 'complete' || cache === null) return prefetchFromRow(row)
      // The cache may have evicted the files since.
      const { bytesDone, bytesTotal } = await cache.measure({
        modelId,
        commit: row.commit,
        files: parseFiles(row.files),
      })
      return bytesDone === bytesTotal ? prefetchFromRow(row) : nothingOf(modelId)
    },
    cancel: async (caller, modelId) => {
      checkHubId('huggingface_id', modelId)
      if (caller.allowedModels !== null) throw notAllowed()
      const [row] = await database.query<PrefetchRow>(
        `UPDATE model_prefetches SET status = 'cancelled', sealed_token = NULL, lease_owner = NULL, lease_until = NULL, updated_at = $3
         WHERE account_id = $1 AND huggingface_id = $2 AND status = 'downloading' RETURNING *`,
        [caller.accountId, modelId, new Date(clock.nowMs())],
      )
      if (row !== undefined) {
        await tellRunners()
        return prefetchFromRow(row)
      }
      const known = await readRow(caller.accountId, modelId)
      return known === null ? nothingOf(modelId) : prefetchFromRow(known)
    },
  }
}

function nothingOf(huggingfaceId: string): Prefetch {
  return {
    huggingfaceId,
    status: 'not_found',
    commit: null,
    doneBytes: 0,
    sizeBytes: null,
    errorMessage: null,
  }
}

/** Throws `insufficient_balance` if the account has no free credit: it could not deploy the model. */
async function requireBalance({ ledger }: PrefetchesOptions, accountId: string): Promise<void> {
  if (ledger === null) return
  const { balanceNanoUsd, heldNanoUsd } = await ledger.readBalance(accountId)
  if (balanceNanoUsd - heldNanoUsd <= 0n)
    throw new AppError('insufficient_balance', 'Add credit to download models ahead.')
}

interface CheckedModel {
  readonly commit: string
  readonly files: PrefetchFiles
  readonly sizeBytes: number
}

/**
 * Checks the model as for a deployment and returns its files. Reads headers of the weights, so that a token without access fails.
 */
async function checkForDownload(
  { hub, bytesMax }: PrefetchesOptions,
  question: EntitledQuestion,
): Promise<CheckedModel> {
  const { model, errors, failure } = await assessModel(hub, question, [])
  const reason = errors.join(' ')
  if (failure === 'unavailable')
    throw new AppError('service_unavailable', reason, { retryAfterSeconds: RETRY_SECONDS })
  if (failure === 'gated') throw invalidValue('hf_token', reason)
  if (model === null || model.picked === null || errors.length > 0)
    throw invalidValue('huggingface_id', reason)
  const files = model.picked.files.map(({ path, sizeBytes, checksum }) => ({
    path,
    sizeBytes,
    checksum: { ...checksum },
  }))
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  if (sizeBytes > bytesMax)
    throw invalidValue(
      'huggingface_id',
      `The model takes ${(sizeBytes / 1e9).toFixed(1)} GB, more than this gateway keeps of models.`,
    )
  return { commit: model.commit, files, sizeBytes }
}

/** Stores the download. Has no effect if the same commit is being downloaded already; otherwise the download starts again. */
function insert(
  { database, clock, sealer }: PrefetchesOptions,
  accountId: string,
  { huggingfaceId, token }: ModelQuestion,
  { commit, files, sizeBytes }: CheckedModel,
): Promise<PrefetchRow> {
  return database.transaction(async (transaction) => {
    // Serializes the orders of an account, so that the limits are exact.
    await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `prefetch ${accountId}`,
    ])
    const rows = await transaction.query<PrefetchRow>(
      'SELECT * FROM model_prefetches WHERE account_id = $1 ORDER BY updated_at DESC',
      [accountId],
    )
    const same = rows.find((row) => row.huggingface_id === huggingfaceId)
    if (same?.status === 'downloading' && same.commit === commit) return same
    if (rows.filter(({ status }) => status === 'downloading').length >= DOWNLOADS_MAX)
      throw new AppError(
        'concurrency_limit_reached',
        `An account downloads ${DOWNLOADS_MAX} models at once.`,
        {
          retryAfterSeconds: RETRY_SECONDS,
        },
      )
    const ended = rows.filter(({ status }) => status !== 'downloading').slice(KEPT_MAX - DOWNLOADS_MAX - 1)
    await transaction.query(
      'DELETE FROM model_prefetches WHERE account_id = $1 AND huggingface_id = ANY ($2)',
      [accountId, ended.map(({ huggingface_id: id }) => id)],
    )
    const sealed =
      token === null
        ? null
        : sealer.seal(token, placeOf({ account_id: accountId, huggingface_id: huggingfaceId }))
    const [row] = await transaction.query<PrefetchRow>(UPSERT, [
      accountId,
      huggingfaceId,
      commit,
      JSON.stringify(files),
      sizeBytes,
      sealed,
      new Date(clock.nowMs()),
    ])
    if (row === undefined) throw new Error('an inserted download was not returned')
    return row
  })
}

const UPSERT = `
  INSERT INTO model_prefetches (account_id, huggingface_id, commit, files, status, size_bytes, sealed_token, created_at, updated_at)
  VALUES ($1, $2, $3, $4, 'downloading', $5, $6, $7, $7)
  ON CONFLICT (account_id, huggingface_id) DO UPDATE SET commit = $3, files = $4, status = 'downloading', size_bytes = $5,
    done_bytes = 0, error_message = NULL, sealed_token = $6, number = model_prefetches.number + 1, attempt = 0,
    lease_owner = NULL, lease_until = NULL, created_at = $7, updated_at = $7
  RETURNING *`
