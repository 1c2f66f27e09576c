import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { TaskLimits } from '../../modules/tasks/tasks.ts'
import { booleanSetting, choiceSetting, integerSetting, listSetting, objectSetting } from './setting.ts'

/** Settings of tasks: which process works on them, and how many at once. */
export const TASK_SETTINGS = {
  role: choiceSetting(
    {
      environment: 'PARKWAY_ROLE',
      description: 'What this process does: answer requests, work on tasks, or both. Also `--role`.',
    },
    ['all', 'api', 'worker'],
    'all',
  ),
  workerConcurrency: integerSetting(
    {
      environment: 'PARKWAY_WORKER_CONCURRENCY',
      description: 'Tasks that one process works on at once; most of that is waiting for providers.',
    },
    { default: 64, minimum: 1, maximum: 10_000 },
  ),
  taskLimits: objectSetting(
    {
      environment: 'PARKWAY_TASK_LIMITS',
      description: 'Tasks at once over all processes, in all and by provider: see [tasks](tasks.md).',
    },
    'a JSON object as in docs/tasks.md',
    parseTaskLimits,
  ),
  imageWait: choiceSetting(
    {
      environment: 'PARKWAY_IMAGE_WAIT',
      description:
        'Whether images of asynchronous models are waited for without `Prefer`: `auto` for clients that cannot poll, `always` or `never`.',
    },
    ['auto', 'always', 'never'],
    'auto',
  ),
  batchSeveralModels: booleanSetting(
    {
      environment: 'PARKWAY_BATCH_SEVERAL_MODELS',
      description: 'Whether the lines of one batch may ask several models.',
    },
    false,
  ),
  batchProviders: listSetting({
    environment: 'PARKWAY_BATCH_PROVIDERS',
    description:
      'Providers whose own batch APIs get the lines of batches, such as `openai,anthropic`: see [batches](batches.md#batch-apis-of-vendors).',
  }),
  batchPollMs: integerSetting(
    {
      environment: 'PARKWAY_BATCH_POLL_MS',
      description: 'Time between two looks at a batch that a vendor works on.',
    },
    { default: 15_000, minimum: 50, maximum: 600_000 },
  ),
  compareRetentionDays: integerSetting(
    {
      environment: 'PARKWAY_COMPARE_RETENTION_DAYS',
      description: 'How long comparisons that nobody saved are kept.',
    },
    { default: 90, minimum: 1, maximum: 3_650 },
  ),
  responseRetentionDays: integerSetting(
    {
      environment: 'PARKWAY_RESPONSE_RETENTION_DAYS',
      description: 'How long responses are stored for their accounts; 0 stores none.',
    },
    { default: 30, minimum: 0, maximum: 3_650 },
  ),
} as const

const CONCURRENT_MAX = 1_000_000
const Concurrent = Type.Integer({ minimum: 1, maximum: CONCURRENT_MAX })

const TaskLimitsEntry = Type.Object(
  {
    concurrent: Type.Optional(Type.Union([Concurrent, Type.Null()])),
    providers: Type.Optional(Type.Record(Type.String(), Concurrent)),
  },
  { additionalProperties: false },
)

function parseTaskLimits(text: string): TaskLimits {
  const entry = parseJson(text)
  if (!Value.Check(TaskLimitsEntry, entry))
    throw new RangeError('an object such as {"concurrent": 200, "providers": {"fal": 20}}')
  return {
    concurrentMax: entry.concurrent ?? null,
    concurrentMaxByProvider: new Map(Object.entries(entry.providers ?? {})),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError('JSON')
  }
}
