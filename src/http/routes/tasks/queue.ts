import { Type, type Static } from 'typebox'
import { toTimestamp, type Clock } from '../../../kernel/clock.ts'
import type { Deployments } from '../../../modules/deployments/deployments.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import type { Tasks } from '../../../modules/tasks/tasks.ts'
import { ModelId, UpdatedAt } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

/** A model of an upstream with a limited number of slots. */
export interface LocalModel {
  readonly model: string
  /** Models of one upstream share its slots. */
  readonly pool: string
  readonly slots: number
  readonly isReady: boolean
  /** Whether a request to it is answered sooner or later. */
  readonly isServed: boolean
}

interface QueueRouteOptions {
  readonly limits: Pick<Limits, 'readQueues'>
  readonly tasks: Pick<Tasks, 'count'>
  readonly listModels: (caller: Caller) => readonly LocalModel[]
  readonly deployments: Pick<Deployments, 'readTiers'>
  readonly clock: Clock
}

/** Clients poll this route, so that the drivers are not asked for each request. */
const GPUS_MAX_AGE_MS = 2_000

type OfferedGpu = Awaited<ReturnType<Deployments['readTiers']>>['tiers'][number]

const Gpu = Type.Object({
  id: Type.String({ description: 'The tier.' }),
  name: Type.String({ description: 'The name of the tier.' }),
  vram_gb: Type.Number({ description: 'Memory of all GPUs of one machine.' }),
  state: Type.Enum(['available', 'in_use'], { description: 'Whether a machine of the tier is free.' }),
  available: Type.Integer({ description: 'How many are.' }),
})

const QueueStatus = Type.Object(
  {
    status: Type.Enum(['ready', 'busy', 'down'], {
      description: 'Busy while somebody has to wait; down when no local model can be served.',
    }),
    gpus: Type.Array(Gpu, { description: 'The GPUs that this key may deploy on, by tier.' }),
    models: Type.Array(
      Type.Object({
        model: ModelId,
        ready: Type.Boolean({ description: 'Whether it can be served now.' }),
        slots: Type.Integer({
          description: 'Requests it works on at once, with the models it shares them with.',
        }),
        in_use: Type.Integer({ description: 'How many slots are in use.' }),
        queued: Type.Integer({ description: 'How many requests wait.' }),
        avg_wait_ms: Type.Integer({ description: 'How long requests waited of late, in milliseconds.' }),
        avg_service_ms: Type.Integer({ description: 'How long requests took of late, in milliseconds.' }),
      }),
      { description: 'The local models that this key may use.' },
    ),
    queue_depth: Type.Integer({ description: 'Requests that wait for a slot of these models.' }),
    tasks: Type.Object(
      {
        pending: Type.Integer({ description: 'How many wait.' }),
        processing: Type.Integer({ description: 'How many run.' }),
      },
      { description: 'The tasks of all accounts.' },
    ),
    updated_at: UpdatedAt,
  },
  { title: 'QueueStatus' },
)

export const queueRoutes = ({
  limits,
  tasks,
  listModels,
  deployments,
  clock,
}: QueueRouteOptions): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/queue/status',
    summary: 'How busy local models are, over all processes',
    tag: 'Queue',
    access: ANY_KEY,
    responses: { 200: { description: 'The state of the queues.', schema: QueueStatus } },
    handle: async ({ caller }) => {
      const listed = listModels(caller)
      const [queues, taskCounts, { tiers }] = await Promise.all([
        limits.readQueues([...new Set(listed.map(({ pool }) => pool))]),
        tasks.count(),
        deployments.readTiers(caller, GPUS_MAX_AGE_MS),
      ])
      const pools = new Map(queues.map((pool) => [pool.id, pool]))
      const models = listed.map(({ model, pool, slots, isReady }) => {
        const state = pools.get(pool)
        return {
          model,
          ready: isReady,
          slots,
          in_use: state?.inUse ?? 0,
          queued: state?.queued ?? 0,
          avg_wait_ms: state?.averageWaitMs ?? 0,
          avg_service_ms: state?.averageServiceMs ?? 0,
        }
      })
      const depth = [...pools.values()].reduce((sum, { queued }) => sum + queued, 0)
      return {
        status: describe(listed, models, depth),
        gpus: tiers.map(toGpu),
        models,
        queue_depth: depth,
        tasks: taskCounts,
        updated_at: toTimestamp(clock.nowMs()),
      }
    },
  }),
]

/** A tier as of the last minute: whether a deployment would find a machine of it. */
function toGpu({ id, gpuName, vramGb, availableCount }: OfferedGpu): Static<typeof Gpu> {
  return {
    id,
    name: gpuName,
    vram_gb: vramGb,
    state: availableCount > 0 ? 'available' : 'in_use',
    available: availableCount,
  }
}

function describe(
  listed: readonly LocalModel[],
  models: readonly { slots: number; in_use: number }[],
  depth: number,
): string {
  if (listed.length > 0 && !listed.some(({ isServed }) => isServed)) return 'down'
  const isBusy = depth > 0 || models.some(({ slots, in_use: inUse }) => inUse >= slots)
  return isBusy ? 'busy' : 'ready'
}
