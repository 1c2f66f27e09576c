import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { createId } from '../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { OfferedTier } from '../../gpu/registry.ts'
import { isHubId } from '../../hub/hub-id.ts'
import { isGgufQuantization } from '../../hub/pick-files.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Caller } from '../keys/keys.ts'
import { QUANTIZATIONS, type Deployment } from './deployment.ts'
import { deploymentFromRow, type DeploymentRow } from './deployment-row.ts'
import { insertEvent } from './deployment-events.ts'

/** A client's request for a deployment. Lengths and types have been checked. */
export interface DeploymentOrder {
  readonly name: string | null
  readonly huggingfaceId: string
  /** Null chooses the cheapest tier on which the model fits. */
  readonly gpuTier: string | null
  readonly quantization: string
  readonly maxModelLen: number | null
  readonly revision: string | null
  /** The account's secret token for gated models. */
  readonly hubToken: string | null
  readonly env: Readonly<Record<string, string>>
  readonly idleTimeoutMinutes: number
  readonly budgetLimitNanoUsd: NanoUsd | null
  /** The highest accepted price per hour; null accepts any price. */
  readonly pricePerHourMaxNanoUsd: NanoUsd | null
}

/** Per account, without deleted ones. */
const DEPLOYMENTS_MAX = 100
const NAME_LENGTH_MAX = 200

const REVISION = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/
/** Only variables of engines. Excludes those that a loader, a shell or Python would read. */
const ENV_NAME = /^(?:VLLM|SANDBOX|LLAMA_ARG)_[A-Z0-9_]{1,60}$/
/** Where and how the hub's own libraries store and fetch models. This gateway decides that itself. */
const HUB_VARIABLE =
  /^(?:HF_HOME|HF_HUB_(?!TOKEN)[A-Z_]{1,60}|HF_XET_[A-Z_]{1,60}|HF_DATASETS_CACHE|TRANSFORMERS_(?:CACHE|OFFLINE|VERBOSITY)|TOKENIZERS_PARALLELISM)$/
const ENV_VALUE = /^[\x20-\x7e]{0,500}$/
const ENV_COUNT_MAX = 32

export function checkHubId(param: string, id: string): void {
  if (!isHubId(id))
    throw invalidValue(param, `${param} must be the id of a model on the hub, such as 'Qwen/Qwen3-8B'.`)
}

/** Removes variables of the hub's libraries, which clients of other services send and which change nothing here. */
export function dropHubVariables(order: DeploymentOrder): DeploymentOrder {
  const kept = Object.entries(order.env).filter(([name]) => !HUB_VARIABLE.test(name))
  return { ...order, env: Object.fromEntries(kept) }
}

/** Throws for values that must not reach a driver. */
export function checkOrder(order: DeploymentOrder): void {
  checkHubId('huggingface_id', order.huggingfaceId)
  const { revision, quantization, env } = order
  if (revision !== null && (!REVISION.test(revision) || revision.includes('..')))
    throw invalidValue('revision', 'revision must be a branch, a tag or a commit.')
  const isKnown = (QUANTIZATIONS as readonly string[]).includes(quantization)
  if (!isKnown && !isGgufQuantization(quantization))
    throw invalidValue(
      'quantization',
      `quantization must be one of ${QUANTIZATIONS.join(', ')}, or that of a GGUF file, such as Q4_K_M.`,
    )
  const names = Object.keys(env)
  if (names.length > ENV_COUNT_MAX) throw invalidValue('env', `env may have ${ENV_COUNT_MAX} variables.`)
  for (const name of names) {
    if (!ENV_NAME.test(name))
      throw invalidValue(
        `env.${name.slice(0, 100)}`,
        'Only variables of the engine may be set, such as VLLM_….',
      )
    if (!ENV_VALUE.test(env[name] ?? ''))
      throw invalidValue(`env.${name}`, 'Values are printable ASCII of at most 500 characters.')
  }
}

/** Throws `conflict` if the tier costs more than the client accepts. */
export function checkPrice(tier: OfferedTier, { pricePerHourMaxNanoUsd: most }: DeploymentOrder): void {
  if (most === null || tier.pricePerHourNanoUsd <= most) return
  const price = formatUsd(tier.pricePerHourNanoUsd)
  throw new AppError('conflict', `The tier costs ${price} USD an hour now, more than expected.`, {
    param: 'expected_max_price_per_hr',
  })
}

interface NewDeployment {
  readonly order: DeploymentOrder
  readonly tier: OfferedTier
  readonly owner: Caller
  readonly nowMs: number
}

export async function insertDeployment(
  transaction: Queryable,
  { order, tier, owner, nowMs }: NewDeployment,
): Promise<Deployment> {
  // Serializes the orders of an account, so that the limit is exact.
  await transaction.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `deployments ${owner.accountId}`,
  ])
  const kept = await transaction.query(
    'SELECT FROM deployments WHERE account_id = $1 AND desired_state <> $2 LIMIT $3',
    [owner.accountId, 'deleted', DEPLOYMENTS_MAX],
  )
  if (kept.length >= DEPLOYMENTS_MAX)
    throw new AppError('conflict', `This account may have ${DEPLOYMENTS_MAX} deployments. Delete one first.`)
  const [row] = await transaction.query<DeploymentRow>(INSERT, [
    createId(nowMs),
    owner.accountId,
    owner.keyId,
    owner.environment,
    (order.name ?? order.huggingfaceId.split('/').at(-1) ?? '').slice(0, NAME_LENGTH_MAX),
    order.huggingfaceId,
    order.revision,
    tier.id,
    tier.driverId,
    order.quantization,
    order.maxModelLen,
    JSON.stringify(order.env),
    order.idleTimeoutMinutes,
    tier.pricePerHourNanoUsd,
    order.budgetLimitNanoUsd,
    new Date(nowMs),
    owner.projectId,
    owner.labels ?? null,
  ])
  if (row === undefined) throw new Error('an inserted deployment was not returned')
  await insertEvent(transaction, {
    deploymentId: row.id,
    accountId: owner.accountId,
    type: 'created',
    from: null,
    to: 'queued',
    message: 'It was created.',
    metadata: { gpu_tier: tier.id },
    atMs: nowMs,
  })
  return deploymentFromRow(row)
}

const INSERT = `
  INSERT INTO deployments (id, account_id, key_id, environment, name, huggingface_id, revision, gpu_tier, driver, quantization,
    max_model_len, env, idle_timeout_minutes, price_per_hour_nano_usd, budget_limit_nano_usd, created_at, next_look_at,
    desired_state, status, project_id, labels)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16, 'running', 'queued', $17, $18)
  RETURNING *`
