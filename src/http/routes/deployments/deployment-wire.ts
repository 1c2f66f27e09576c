import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import {
  DEPLOYMENT_STATUSES,
  modelIdOf,
  type Deployment,
  type DeploymentBill,
  type DeploymentEvent,
  type StartTime,
} from '../../../modules/deployments/deployments.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CostUsd, CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'

const Timestamp = Type.String({ format: 'date-time' })
const Status = Type.Enum([...DEPLOYMENT_STATUSES])

export const DeploymentAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('deployment'),
    name: Type.String({ description: 'The name that people gave it.' }),
    display_name: Type.String({ description: 'The same as `name`.' }),
    huggingface_id: Type.String({ description: 'The id of the model on the hub.' }),
    revision: orNull(Type.String({ description: 'The branch, tag or commit on the hub.' })),
    gpu_tier: Type.String({ description: 'The tier that it runs on.' }),
    gpu_label: Type.String({ description: 'The tier for people, such as `L40S 48GB`.' }),
    provider: Type.String({ description: 'The driver that offers the tier.' }),
    quantization: Type.String({ description: 'How the weights are stored.' }),
    max_model_len: orNull(
      Type.Integer({ description: 'The longest context in tokens. `null`: that of the model.' }),
    ),
    status: described(Status, 'The state it is in.'),
    status_reason: orNull(Type.String({ description: 'Why it is in this status, as a code.' })),
    desired_state: Type.Enum(['running', 'sleeping', 'stopped', 'deleted'], {
      description: 'The wanted state. The status follows it.',
    }),
    model_id: Type.String({ description: 'The value to send as `model`.' }),
    hourly_cost: Type.Number({
      description: 'Price in dollars per hour while it has a GPU, billed by the second.',
    }),
    price_per_hr_usd: Type.Number({ description: 'The same as `hourly_cost`.' }),
    budget_limit_usd: orNull(Type.Number({ description: 'The deployment is stopped before it costs more.' })),
    budget_spent_usd: Type.Number({ description: 'GPU cost charged so far.' }),
    idle_timeout_minutes: Type.Integer({
      description: 'Minutes without a request after which the deployment sleeps. 0: never.',
    }),
    created_at: CreatedAt,
    started_at: orNull(Timestamp, 'When its engine was last ready. `null`: never yet.'),
    stopped_at: orNull(Timestamp, 'When its GPU was last released. `null`: never yet.'),
    last_request_at: orNull(Timestamp, 'When the last answer ended. `null`: none yet.'),
    eta_minutes: orNull(
      Type.Integer({ description: 'Estimated time until it runs. `null` if it is not starting.' }),
    ),
    eta_avg_minutes: Type.Number({
      description: 'How long starts on its tier took on average, or usually take if there was none yet.',
    }),
    eta_sample_count: Type.Integer({ description: 'The number of starts in that average.' }),
    eta_basis: Type.Enum(['measured', 'estimated'], { description: 'Whether there were such starts.' }),
    progress: Type.Integer({ description: 'Progress of loading the model, from 0 to 100.' }),
    error_code: orNull(Type.String(), 'Why it failed, as a code. `null`: it did not.'),
    error_message: orNull(Type.String(), 'Why it failed, in words. `null`: it did not.'),
    invoke_base_url: Type.String({
      description: 'The address below which clients of OpenAI find its chat route.',
    }),
    endpoints: Type.Object(
      { chat: Type.String({ description: 'The path of its own chat route.' }) },
      { description: 'Where it is asked.' },
    ),
  },
  { title: 'Deployment' },
)

/** Typical start time of an engine whose weights are not cached. */
const START_MINUTES = 5
const ON_ITS_WAY: ReadonlySet<string> = new Set(['queued', 'creating', 'starting'])

/** What the record of a deployment tells besides the deployment itself. */
export interface DeploymentContext {
  readonly baseUrl: string
  /** By tier. */
  readonly startTimes: ReadonlyMap<string, StartTime>
}

export function toDeploymentAnswer(
  deployment: Deployment,
  { baseUrl, startTimes }: DeploymentContext,
): Static<typeof DeploymentAnswer> {
  const { id, progress } = deployment
  const status = shownStatus(deployment)
  const measured = startTimes.get(deployment.gpuTier)
  return {
    id,
    object: 'deployment',
    name: deployment.name,
    display_name: deployment.name,
    huggingface_id: deployment.huggingfaceId,
    revision: deployment.revision,
    gpu_tier: deployment.gpuTier,
    gpu_label: labelOf(deployment.gpuTier),
    provider: deployment.driver,
    quantization: deployment.quantization,
    max_model_len: deployment.maxModelLen,
    status,
    status_reason: deployment.statusReason,
    desired_state: deployment.desiredState,
    model_id: modelIdOf(id),
    hourly_cost: usdFromNanoUsd(deployment.pricePerHourNanoUsd),
    price_per_hr_usd: usdFromNanoUsd(deployment.pricePerHourNanoUsd),
    budget_limit_usd:
      deployment.budgetLimitNanoUsd === null ? null : usdFromNanoUsd(deployment.budgetLimitNanoUsd),
    budget_spent_usd: usdFromNanoUsd(deployment.spentNanoUsd),
    idle_timeout_minutes: deployment.idleTimeoutMinutes,
    created_at: toTimestamp(deployment.createdAtMs),
    started_at: timestampOf(deployment.startedAtMs),
    stopped_at: timestampOf(deployment.stoppedAtMs),
    last_request_at: timestampOf(deployment.lastRequestAtMs),
    eta_minutes: ON_ITS_WAY.has(status) ? Math.ceil((START_MINUTES * (100 - progress)) / 100) : null,
    eta_avg_minutes: measured?.averageMinutes ?? START_MINUTES,
    eta_sample_count: measured?.sampleCount ?? 0,
    eta_basis: measured === undefined ? 'estimated' : 'measured',
    progress,
    error_code: deployment.errorCode,
    error_message: deployment.errorMessage,
    invoke_base_url: `${baseUrl}/v1/deployments/${id}`,
    endpoints: { chat: `/v1/deployments/${id}/chat` },
  }
}

const ENDED: ReadonlySet<string> = new Set(['stopped', 'error', 'deleted'])

/** A deployment that is to stop is shown as stopping from the request on, before its engine hears of it. */
function shownStatus({ status, desiredState }: Deployment): Deployment['status'] {
  return desiredState === 'stopped' && !ENDED.has(status) ? 'stopping' : status
}

/** `l40s_48gb` becomes `L40S 48GB`. */
function labelOf(tierId: string): string {
  return tierId.replaceAll('_', ' ').toUpperCase()
}

export const EventAnswer = Type.Object(
  {
    id: UuidId,
    type: Type.String({ description: 'The kind of event, as a code.' }),
    from: orNull(Status, 'The status before. `null`: it was just created.'),
    to: described(Status, 'The status after.'),
    status: described(Status, 'The state it is in.'),
    message: Type.String({ description: 'What happened, in words.' }),
    created_at: CreatedAt,
    metadata: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What belongs to it, such as the attempt.',
    }),
  },
  { title: 'DeploymentEvent' },
)

export function toEventAnswer(event: DeploymentEvent): Static<typeof EventAnswer> {
  const { id, type, from, to, message, metadata } = event
  return {
    id,
    type,
    from,
    to,
    status: to,
    message,
    created_at: toTimestamp(event.createdAtMs),
    metadata: { ...metadata },
  }
}

export const BillAnswer = Type.Object(
  {
    deployment_id: Type.String({ format: 'uuid', description: 'The id of the deployment.' }),
    status: described(Status, 'The state it is in.'),
    hourly_cost_usd: Type.Number({ description: 'Price in dollars per hour while it has a GPU.' }),
    burn_rate_usd_per_hour: Type.Number({ description: 'Current cost per hour. 0 while it has no GPU.' }),
    accrued_usd: Type.Number({ description: 'Cost until now.' }),
    billed_seconds: Type.Integer({ description: 'Sum of the intervals.' }),
    budget_limit_usd: orNull(
      Type.Number(),
      'The most that the GPU of the deployment may cost. `null`: no limit.',
    ),
    budget_remaining_usd: orNull(Type.Number(), 'What is left of the budget. `null`: no limit.'),
    hours_left: orNull(
      Type.Number({ description: 'Hours until the budget is reached. `null` without a budget.' }),
    ),
    intervals: Type.Array(
      Type.Object({
        from: described(Timestamp, 'Where the time range begins.'),
        to: orNull(Timestamp, 'Where the time range ends. It is not part of the range.'),
        seconds: Type.Integer({ description: 'How many seconds.' }),
        cost_usd: CostUsd,
      }),
      {
        description:
          'Times with a GPU, newest first, the last 100. Starts that never became ready are free and not among them.',
      },
    ),
  },
  { title: 'DeploymentBilling' },
)

export function toBillAnswer(bill: DeploymentBill): Static<typeof BillAnswer> {
  const { deployment, accruedNanoUsd, isBurning } = bill
  const { budgetLimitNanoUsd: limit, pricePerHourNanoUsd: price } = deployment
  const left = limit === null ? null : limit > accruedNanoUsd ? limit - accruedNanoUsd : 0n
  return {
    deployment_id: deployment.id,
    status: deployment.status,
    hourly_cost_usd: usdFromNanoUsd(price),
    burn_rate_usd_per_hour: isBurning ? usdFromNanoUsd(price) : 0,
    accrued_usd: usdFromNanoUsd(accruedNanoUsd),
    billed_seconds: bill.billedSeconds,
    budget_limit_usd: limit === null ? null : usdFromNanoUsd(limit),
    budget_remaining_usd: left === null ? null : usdFromNanoUsd(left),
    hours_left: left === null || price === 0n ? null : Number(left) / Number(price),
    intervals: bill.intervals.map(({ fromMs, toMs, seconds, costNanoUsd }) => ({
      from: toTimestamp(fromMs),
      to: timestampOf(toMs),
      seconds,
      cost_usd: usdFromNanoUsd(costNanoUsd),
    })),
  }
}

function timestampOf(epochMs: number | null): string | null {
  return epochMs === null ? null : toTimestamp(epochMs)
}
