import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import {
  FAILURE_KINDS,
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
import { readLoggedPrompt } from './read-logged-prompt.ts'

const LOGGED_MAX = 500
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

export interface DatasetSources extends LoggedPromptsOptions {
  readonly compare: Pick<Compare, 'read' | 'chooseFailures'>
  readonly judging: Pick<Judging, 'viewRun'>
  readonly clock: Clock
}

/** Prompts, and where a dataset of them belongs. */
export interface FoundPrompts {
  readonly prompts: readonly PromptCase[]
  readonly place: Pick<Caller, 'accountId' | 'projectId'>
  /** The name for the dataset, used if the request gives none. */
  readonly name: string
}

export async function findFailures(
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

export async function findLogged(
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
