import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { isReadByAll } from '../../../storage/borrowing/capabilities.ts'
import { errorCodeOf } from '../../../storage/storage-error.ts'
import type { Batches } from '../../batches/batches.ts'
import { toModelCard, type CatalogModel } from '../../catalog/catalog.ts'
import type { CandidateSelector } from '../../inference/inference.ts'
import { checkWebhookUrl, type WebhookHosts } from '../../tasks/tasks.ts'
import { CELL_ENDPOINT } from '../batched/lane-batch.ts'
import { estimateRun, type RunEstimate } from './estimate-run.ts'
import { insertRun, type RunOrder } from './new-run.ts'
import { readRun } from './read-runs.ts'
import type { Run } from './run.ts'

export interface CreateRunOptions {
  readonly database: Database
  readonly selector: Pick<CandidateSelector, 'resolveModel'>
  readonly batches: Pick<Batches, 'priceLines'>
  readonly clock: Clock
  readonly webhookHosts: WebhookHosts
}

/** Waiting and running runs of one account. */
const UNENDED_RUNS_MAX = 100
const QUEUE_FULL_RETRY_SECONDS = 30

export async function createRun(options: CreateRunOptions, order: RunOrder): Promise<Run> {
  const { database, clock } = options
  const { lanes: models, judge } = resolveModels(options, order)
  if (order.isBatch) await requireBatches(database, order)
  for (const [index, score] of order.scores.entries())
    if (score.type === 'webhook')
      await checkWebhookUrl(score.url, options.webhookHosts, `scores.${index}.url`)
  const estimate = estimateRun(order, { lanes: priceLanes(options, order, models), judge })
  const nowMs = clock.nowMs()
  const id = createId(nowMs)
  const { accountId } = order.caller
  try {
    return await database.transaction(async (transaction) => {
      await requireRoom(transaction, accountId)
      await insertRun(transaction, {
        ...order,
        id,
        nowMs,
        estimatedCostNanoUsd: estimate.costNanoUsd,
        estimatedJudgeNanoUsd: estimate.judgeCostNanoUsd,
        estimatedMs: estimate.durationMs,
        prices: models.map((model) => priceOf(model)),
      })
      return readRun(transaction, order.caller, id)
    })
  } catch (error) {
    throw explainUnkeepable(error, 'prompts')
  }
}

/** Returns about what a run will cost and take. Throws what `createRun` would. */
export function estimateOrder(
  options: Pick<CreateRunOptions, 'selector' | 'batches'>,
  order: RunOrder,
): RunEstimate {
  const { lanes, judge } = resolveModels(options, order)
  return estimateRun(order, { lanes: priceLanes(options, order, lanes), judge })
}

/** The models with the prices that their answers have. */
function priceLanes(
  { batches }: Pick<CreateRunOptions, 'batches'>,
  { isBatch, lanes, caller }: RunOrder,
  models: readonly CatalogModel[],
): readonly CatalogModel[] {
  if (!isBatch) return models
  return models.map((model, index) =>
    batches.priceLines(caller, CELL_ENDPOINT, { name: lanes[index]?.model ?? model.id, model }),
  )
}

/** A process of an earlier release would ask the cells of the run one by one. */
async function requireBatches(database: Database, { scores }: RunOrder): Promise<void> {
  const timed = scores.findIndex(({ type }) => type === 'latency')
  if (timed !== -1)
    throw invalidValue(`scores.${timed}`, 'Answers of batches have no latency, so that none is scored by it.')
  if (!(await isReadByAll(database, 'compare_batches')))
    throw new AppError('service_unavailable', 'The gateway is being updated. Ask again in a minute.', {
      retryAfterSeconds: QUEUE_FULL_RETRY_SECONDS,
    })
}

function resolveModels(
  options: Pick<CreateRunOptions, 'selector'>,
  order: RunOrder,
): { lanes: readonly CatalogModel[]; judge: CatalogModel | null } {
  const lanes = order.lanes.map(({ model }, index) =>
    resolveModel(options, order, model, `lanes.${index}.model`),
  )
  const judge = order.judge === null ? null : resolveModel(options, order, order.judge.model, 'judge.model')
  return { lanes, judge }
}

/** Refuses runs that can never succeed, with the name of the wrong field. */
function resolveModel(
  { selector }: Pick<CreateRunOptions, 'selector'>,
  { caller }: RunOrder,
  model: string,
  param: string,
): CatalogModel {
  try {
    return selector.resolveModel(caller, model)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, error.message, { param })
  }
}

/** As models are listed with it. */
function priceOf(model: CatalogModel): unknown {
  return toModelCard(model, { isProviderConfigured: () => true, isSandboxAllowed: true }).price
}

async function requireRoom(transaction: Queryable, accountId: string): Promise<void> {
  const rows = await transaction.query(
    `SELECT FROM compare_runs WHERE account_id = $1 AND status IN ('queued', 'running') LIMIT $2`,
    [accountId, UNENDED_RUNS_MAX],
  )
  if (rows.length < UNENDED_RUNS_MAX) return
  throw new AppError('queue_full', `This account may have ${UNENDED_RUNS_MAX} runs that have not ended.`, {
    retryAfterSeconds: QUEUE_FULL_RETRY_SECONDS,
  })
}

// PostgreSQL cannot store U+0000 or lone surrogates.
const UNKEEPABLE_CODES = new Set(['22P05', '22P02', '22021'])

export function explainUnkeepable(error: unknown, param: string): unknown {
  if (!UNKEEPABLE_CODES.has(errorCodeOf(error) ?? '')) return error
  return invalidValue(param, 'The request holds characters that are not text, such as U+0000.')
}
