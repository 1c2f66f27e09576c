import { Type, type Static } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { isStorable } from '../../../kernel/storable-text.ts'
import type { BatchName, Batches } from '../../../modules/batches/batches.ts'
import {
  DATASET_BYTES_MAX,
  FAILURE_KINDS,
  PROMPTS_MAX,
  readLoggedPrompts,
  type Compare,
  type LoggedPromptsOptions,
  type PromptCase,
} from '../../../modules/compare/compare.ts'
import { voterOf, type Judging } from '../../../modules/judging/judging.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { nullable } from '../../../wires/nullable.ts'
import { inProject, requireAccess } from '../../access.ts'
import { parseLogQuery, RequestsQuery } from '../account/request-log-query.ts'
import { uuidOfBatch, uuidOfMessageBatch } from '../../../wires/openai-files/batch-id.ts'
import { PROMPT_OPERATIONS, readBatchAnswer } from './read-batch-answer.ts'
import { readLoggedPrompt, readPrompt } from './read-logged-prompt.ts'

const LOGGED_MAX = 500
const REFERENCES = ['judge', 'exact', 'contains', 'none'] as const
const LOGGED_DEFAULT = 100
const BELOW_DEFAULT = 0.5

export const FromRun = nullable(
  Type.Object({
    run_id: Type.String({ description: 'The id of a run.' }),
    which: nullable(
      Type.Array(Type.Enum([...FAILURE_KINDS]), { minItems: 1, maxItems: FAILURE_KINDS.length }),
      'Prompts with an answer that `failed`, or has a `low_score`; or that `lost` against another lane by vote, score or judge.',
    ),
    lane_id: nullable(Type.String({ format: 'uuid' }), 'Only answers of this lane count. `lost` needs it.'),
    score: nullable(
      Type.String({ minLength: 1, maxLength: 100 }),
      'The name of the score that is low, of those of the run; that of the answer unless told.',
    ),
    below: nullable(
      Type.Number({ minimum: 0, maximum: 1, default: BELOW_DEFAULT }),
      'A score below this is low.',
    ),
  }),
  'Instead of `prompts`, those of a run whose answers failed.',
)

const { limit: _limit, after: _after, ...logFilters } = RequestsQuery.properties

export const FromLog = nullable(
  Type.Object({
    ...logFilters,
    limit: nullable(
      Type.Integer({ minimum: 1, maximum: LOGGED_MAX, default: LOGGED_DEFAULT }),
      'How many prompts at most.',
    ),
  }),
  'Instead of `prompts`, those of requests of the log whose bodies are stored, newest first. Needs the permission `bodies.read`.',
)

export const FromBatch = nullable(
  Type.Object({
    batch_id: Type.String({ minLength: 1, maxLength: 256, description: 'The id of a batch that has ended.' }),
    expected: nullable(
      Type.Enum([...REFERENCES], { default: 'judge' }),
      'How answers are compared with those of the batch: by the `judge` of a run, or whether they are `exact`ly that or `contains` it. `none`: only the prompts are taken.',
    ),
    limit: nullable(
      Type.Integer({ minimum: 1, maximum: PROMPTS_MAX, default: PROMPTS_MAX }),
      'How many prompts at most.',
    ),
  }),
  'Instead of `prompts`, those of the lines of a batch that were answered, with the answers as what is expected.',
)

export interface DatasetSources extends LoggedPromptsOptions {
  readonly compare: Pick<Compare, 'read' | 'chooseFailures'>
  readonly judging: Pick<Judging, 'viewRun'>
  readonly batches: Pick<Batches, 'read' | 'readAnswered'>
  readonly clock: Clock
}

/** Prompts, and where a dataset of them belongs. */
interface FoundPrompts {
  readonly prompts: readonly PromptCase[]
  readonly place: Pick<Caller, 'accountId' | 'projectId'>
  /** The name for the dataset, used if the request gives none. */
  readonly name: string
}

interface SourcedBody {
  readonly from_run?: Static<typeof FromRun> | undefined
  readonly from_log?: Static<typeof FromLog> | undefined
  readonly from_batch?: Static<typeof FromBatch> | undefined
}

/** Finds the prompts in a run, in the log or in a batch. Returns null if the body names none. */
export async function findPrompts(
  sources: DatasetSources,
  caller: Caller,
  { from_run: fromRun, from_log: fromLog, from_batch: fromBatch }: SourcedBody,
  cancellation: Cancellation,
): Promise<FoundPrompts | null> {
  const given = [fromRun, fromLog, fromBatch].filter((source) => (source ?? null) !== null)
  if (given.length > 1)
    throw invalidValue('from_log', "Send one of 'from_run', 'from_log' and 'from_batch', not several.")
  if (fromRun) return findFailures(sources, caller, fromRun)
  if (fromBatch) return findAnswered(sources, caller, fromBatch, cancellation)
  return fromLog ? findLogged(sources, caller, fromLog, cancellation) : null
}

async function findFailures(
  { compare, judging }: Pick<DatasetSources, 'compare' | 'judging'>,
  caller: Caller,
  { run_id: runId, which, lane_id: laneId, score, below }: NonNullable<Static<typeof FromRun>>,
): Promise<FoundPrompts> {
  const run = await compare.read(caller, runId)
  if ((await judging.viewRun(run, voterOf(caller))).isHidden())
    throw invalidValue('from_run.run_id', 'The failures of a blind run are hidden until you vote on the run.')
  if (typeof laneId === 'string' && !run.lanes.some(({ id }) => id === laneId.toLowerCase()))
    throw invalidValue('from_run.lane_id', 'This run has no such lane.')
  if (typeof score === 'string' && !run.scores.some(({ name }) => name === score))
    throw invalidValue('from_run.score', 'This run has no such score.')
  const kinds = which ?? FAILURE_KINDS.filter((kind) => kind !== 'lost' || typeof laneId === 'string')
  if (kinds.includes('lost') && typeof laneId !== 'string')
    throw invalidValue('from_run.lane_id', "'lost' needs the lane that lost.")
  const prompts = await compare.chooseFailures(run, {
    kinds,
    laneId: laneId ?? null,
    scoreName: score ?? null,
    below: below ?? BELOW_DEFAULT,
  })
  if (prompts.length === 0) throw invalidValue('from_run', 'No prompt of this run has such an answer.')
  // Prompts of another project stay in it.
  const { accountId, projectId } = run
  return { prompts, place: { accountId, projectId }, name: `Failures of ${run.name}` }
}

async function findLogged(
  { requestLog, storedBodies, clock }: DatasetSources,
  caller: Caller,
  { limit, ...filters }: NonNullable<Static<typeof FromLog>>,
  cancellation: Cancellation,
): Promise<FoundPrompts> {
  requireAccess(caller, inProject('bodies.read'))
  const { accountId } = caller
  // Whoever may read bodies reads those of all keys of the account or the project.
  const reader = { accountId, projectId: caller.projectId, ownKeyId: null }
  const { page: _page, ...query } = parseLogQuery(reader, filters, clock.nowMs())
  // The dataset is in one project, and so are its prompts.
  const projectId = caller.projectId ?? query.filter.projectId ?? accountId
  const prompts = await readLoggedPrompts(
    { requestLog, storedBodies },
    {
      accountId,
      query: { ...query, projectId },
      countMax: limit ?? LOGGED_DEFAULT,
      readPrompt: readLoggedPrompt,
      cancellation,
    },
  )
  if (prompts.length === 0)
    throw invalidValue('from_log', 'No such request has a stored body with a whole prompt.')
  return { prompts, place: { accountId, projectId }, name: 'Requests of the log' }
}

const ID_LENGTH_MAX = 200

/** The prompts of a batch, with its answers as references. */
async function findAnswered(
  { batches }: Pick<DatasetSources, 'batches'>,
  caller: Caller,
  { batch_id: batchId, expected, limit }: NonNullable<Static<typeof FromBatch>>,
  cancellation: Cancellation,
): Promise<FoundPrompts> {
  requireAccess(caller, inProject('models.use'))
  const batch = await batches.read(caller, nameOfBatch(batchId))
  const operation = PROMPT_OPERATIONS.get(batch.endpoint)
  if (operation === undefined)
    throw invalidValue('from_batch.batch_id', `Lines of '${batch.endpoint}' have no prompts.`)
  const lines = await batches.readAnswered(caller, batch, {
    countMax: limit ?? PROMPTS_MAX,
    bytesMax: DATASET_BYTES_MAX,
    pick: (body) => readBatchAnswer(batch.endpoint, body),
    cancellation,
  })
  const prompts: PromptCase[] = []
  let bytes = 0
  for (const { customId, body, answer } of lines) {
    const prompt = isStorable(answer) ? readPrompt(operation, () => body) : null
    if (prompt === null) continue
    const found = { ...prompt, id: customId.slice(0, ID_LENGTH_MAX), expected: toExpected(answer, expected) }
    bytes += Buffer.byteLength(JSON.stringify(found))
    if (bytes > DATASET_BYTES_MAX) break
    prompts.push(found)
  }
  if (prompts.length === 0)
    throw invalidValue('from_batch.batch_id', 'No line of this batch has a whole prompt and an answer.')
  const { accountId, projectId } = batch
  return { prompts, place: { accountId, projectId }, name: `Answers of ${batchId}` }
}

function toExpected(value: string, as: (typeof REFERENCES)[number] | null | undefined): unknown {
  return as === 'none' ? null : { type: as ?? 'judge', value }
}

function nameOfBatch(text: string): BatchName {
  const id = uuidOfBatch(text)
  if (id !== null) return { id, wire: 'batches' }
  const messageId = uuidOfMessageBatch(text)
  if (messageId === null) throw notFound('batch')
  return { id: messageId, wire: 'messages' }
}
