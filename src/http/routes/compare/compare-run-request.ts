import { randomInt } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import {
  PromptInputs,
  ScoreInputs,
  toPromptCases,
  toScoreOrders,
  type LaneOrder,
  type PromptCase,
  type RunOrder,
} from '../../../modules/compare/compare.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import { nullable } from '../../../wires/nullable.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { LaneChoice, readLanes } from './compare-lane.ts'

export const RUN_MODES = ['live', 'batch'] as const
const CONCURRENCY_MAX = 50
const CONCURRENCY_DEFAULT = 10
const NAME_LENGTH_MAX = 200
const SEED_MAX = 2 ** 31 - 1

export const Budget = Type.Number({
  exclusiveMinimum: 0,
  maximum: USD_MAX,
  description:
    'What the run may cost at most, with its judge. It ends when another answer does not fit, and says how many are missing.',
})

export const RunCreateBody = Type.Object(
  {
    name: nullable(
      Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
      'The name that people gave it.',
    ),
    prompts: nullable(PromptInputs, 'The prompts.'),
    test_cases: nullable(PromptInputs, 'Another name of `prompts`.'),
    prompt: nullable(Type.String({ minLength: 1, description: 'The only one.' })),
    dataset_id: nullable(Type.String({ description: 'Prompts of a dataset, as it is now.' })),
    run_id: nullable(
      Type.String({
        description:
          'Prompts of an earlier run, with its dataset, and its lanes, repeats, judge and scores where none are given.',
      }),
    ),
    conversation_id: nullable(
      Type.String({
        description: 'What was said in a conversation, turn by turn, and its lanes where none are given.',
      }),
    ),
    ...LaneChoice,
    repeats: nullable(
      Type.Integer({ minimum: 1, maximum: 10, default: 1 }),
      'How often each lane answers each prompt.',
    ),
    budget_usd: nullable(Budget),
    mode: nullable(
      Type.Enum([...RUN_MODES], {
        default: 'live',
        description:
          '`live`: the answers are asked one by one, now. `batch`: as [batches](/docs/batches.md), one a lane, at the price of batches, within 24 hours.',
      }),
    ),
    blind: nullable(Type.Boolean({ description: 'Hides which lane is which until somebody has voted.' })),
    judge: nullable(
      Type.Object({
        model: Type.String({ minLength: 1, maxLength: 256, description: 'The id of the model.' }),
        rubric: nullable(Type.String({ maxLength: 20_000 }), 'What the judge looks at, in words.'),
      }),
      'The model that judges the answers.',
    ),
    scores: nullable(ScoreInputs, 'What each answer is scored by. Each is a column of the results.'),
    seed: nullable(Type.Integer({ minimum: 0, maximum: SEED_MAX, description: 'Of the order of lanes.' })),
    concurrency: nullable(
      Type.Integer({ minimum: 1, maximum: CONCURRENCY_MAX, default: CONCURRENCY_DEFAULT }),
      'How many requests run at the same time at most.',
    ),
  },
  {
    title: 'CompareRunRequest',
    examples: [
      {
        name: 'Two small models',
        prompts: [
          'Why is the sky blue?',
          { prompt: 'What is 2 + 2?', expected: { type: 'contains', value: '4' } },
        ],
        lanes: [
          { model: 'gpt-5.6-luna', max_tokens: 50 },
          { model: 'claude-haiku-4.5', system: 'You answer in one sentence.', max_tokens: 50 },
        ],
      },
    ],
  },
)

type RunCreateBody = Static<typeof RunCreateBody>

/** What a run that repeats another one takes from it. */
type EarlierRun = Pick<
  RunOrder,
  'name' | 'prompts' | 'lanes' | 'repeats' | 'judge' | 'scores' | 'datasetId' | 'datasetVersion' | 'projectId'
>

/** Sources of prompts for a body without its own. */
export interface PromptSources {
  readDataset(
    caller: Caller,
    datasetId: string,
  ): Promise<{ version: string; prompts: readonly PromptCase[]; projectId: string | null }>
  readRun(caller: Caller, runId: string): Promise<EarlierRun>
  readConversation(
    caller: Caller,
    conversationId: string,
  ): Promise<{ prompts: readonly PromptCase[]; lanes: readonly LaneOrder[]; projectId: string | null }>
}

export async function readRunOrder(
  caller: Caller,
  body: RunCreateBody,
  sources: PromptSources,
): Promise<RunOrder> {
  const conversation = await readConversation(caller, body, sources)
  const earlier = typeof body.run_id === 'string' ? await sources.readRun(caller, body.run_id) : null
  const known = earlier ?? conversation
  const lanes = known !== null && !body.lanes && !body.models ? known.lanes : readLanes(body)
  const found = await readPrompts(caller, body, sources, { conversation, earlier })
  const { prompts, datasetId, datasetVersion } = found
  return {
    caller,
    projectId: placeRun(caller, [found.source, conversation]),
    name:
      body.name ??
      lanes
        .map(({ name, model }) => name ?? model)
        .join(', ')
        .slice(0, NAME_LENGTH_MAX),
    prompts,
    lanes,
    repeats: body.repeats ?? earlier?.repeats ?? 1,
    concurrency: body.concurrency ?? CONCURRENCY_DEFAULT,
    isBatch: body.mode === 'batch',
    isBlind: body.blind ?? false,
    judge: body.judge === undefined ? (earlier?.judge ?? null) : body.judge,
    scores: body.scores ? toScoreOrders(body.scores, 'scores') : (earlier?.scores ?? []),
    datasetId,
    datasetVersion,
    conversationId: body.conversation_id ?? null,
    seed: body.seed ?? randomInt(SEED_MAX),
    budgetNanoUsd: typeof body.budget_usd === 'number' ? parseUsd('budget_usd', body.budget_usd) : null,
  }
}

/** A run belongs where its prompts come from, so that a key of the account copies nothing from one project into another. */
function placeRun(caller: Caller, sources: readonly (Source | null)[]): string | null {
  const projects = sources.flatMap((source) =>
    source === null ? [] : [source.projectId ?? caller.accountId],
  )
  const own = caller.projectId ?? caller.accountId
  const [first = own, ...others] = projects
  if (others.some((other) => other !== first))
    throw invalidValue('conversation_id', 'The conversation and the prompts are of different projects.')
  return first === own ? caller.projectId : first
}

/** Anything in a project that prompts are read from. Null is the project `Default`. */
interface Source {
  readonly projectId: string | null
}

type Conversation = Awaited<ReturnType<PromptSources['readConversation']>>

async function readConversation(
  caller: Caller,
  { conversation_id: conversationId }: RunCreateBody,
  sources: PromptSources,
): Promise<Conversation | null> {
  return typeof conversationId === 'string' ? sources.readConversation(caller, conversationId) : null
}

/** The prompts of a run, and the dataset that they come from. */
interface SourcedPrompts extends Pick<RunOrder, 'prompts' | 'datasetId' | 'datasetVersion'> {
  readonly source: Source | null
}

/** Reads the prompts from the body, from the dataset or the run it names, or else from its conversation. */
async function readPrompts(
  caller: Caller,
  body: RunCreateBody,
  sources: PromptSources,
  { conversation, earlier }: { conversation: Conversation | null; earlier: EarlierRun | null },
): Promise<SourcedPrompts> {
  const { prompts, test_cases: testCases, prompt, dataset_id: datasetId, run_id: runId } = body
  const given = [prompts, testCases, prompt, datasetId, runId].filter((source) => (source ?? null) !== null)
  if (given.length > 1)
    throw invalidValue('prompts', "Send one of 'prompts', 'test_cases', 'prompt', 'dataset_id' and 'run_id'.")
  if (prompts) return withoutDataset(toPromptCases(prompts, 'prompts'))
  if (testCases) return withoutDataset(toPromptCases(testCases, 'test_cases'))
  if (typeof prompt === 'string') return withoutDataset(toPromptCases([prompt], 'prompt'))
  if (earlier !== null) return { ...earlier, source: earlier }
  if (typeof datasetId === 'string') {
    const dataset = await sources.readDataset(caller, datasetId)
    return { prompts: dataset.prompts, datasetId, datasetVersion: dataset.version, source: dataset }
  }
  if (conversation === null)
    throw new AppError('missing_required_parameter', "'prompts' is required, or 'prompt' or 'dataset_id'.", {
      param: 'prompts',
    })
  if (conversation.prompts.length > 0) return withoutDataset(conversation.prompts)
  throw invalidValue('conversation_id', 'Nothing was said in the conversation yet.')
}

function withoutDataset(prompts: readonly PromptCase[]): SourcedPrompts {
  return { prompts, datasetId: null, datasetVersion: null, source: null }
}
