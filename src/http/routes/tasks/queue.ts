import { Type } from 'typebox'
import { toTimestamp, type Clock } from '../../../kernel/clock.ts'
import type { Limits } from '../../../modules/limits/limits.ts'
import type { Tasks } from '../../../modules/tasks/tasks.ts'
import { defineRoute, type Route } from '../../route.ts'

/** A model of an upstream with a limited number of slots. */
export interface LocalModel {
  readonly model: string
  /** Models of one upstream share its slots. */
  readonly pool: string
  readonly slots: number
  readonly isReady: boolean
}

interface QueueRouteOptions {
  readonly limits: Pick<Limits, 'readQueues'>
  readonly tasks: Pick<Tasks, 'count'>
  readonly listLocalModels: () => readonly LocalModel[]
  readonly clock: Clock
}

const QueueStatus = Type.Object(
  {
    status: Type.Enum(['ready', 'busy', 'down'], {
      description: 'Busy while somebody has to wait; down when no local model can be served.',
    }),
    gpus: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        vram_gb: Type.Number(),
        state: Type.String(),
      }),
    ),
    models: Type.Array(
      Type.Object({
        model: Type.String(),
        ready: Type.Boolean(),
        slots: Type.Integer({
          description: 'Requests it works on at once, with the models it shares them with.',
        }),
        in_use: Type.Integer(),
        queued: Type.Integer(),
        avg_wait_ms: Type.Integer(),
        avg_service_ms: Type.Integer(),
      }),
    ),
    queue_depth: Type.Integer({ description: 'Requests that wait for a slot, in all queues.' }),
    tasks: Type.Object({ pending: Type.Integer(), processing: Type.Integer() }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'QueueStatus' },
)

export const queueRoutes = ({ limits, tasks, listLocalModels, clock }: QueueRouteOptions): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/queue/status',
    summary: 'How busy local models are, over all processes',
    tag: 'Queue',
    scope: 'any',
    responses: { 200: { description: 'The state of the queues.', schema: QueueStatus } },
    handle: async () => {
      const [queues, taskCounts] = await Promise.all([limits.readQueues(), tasks.count()])
      const pools = new Map(queues.map((pool) => [pool.id, pool]))
      const models = listLocalModels().map(({ model, pool, slots, isReady }) => {
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
        status: describe(models, depth),
        gpus: [],
        models,
        queue_depth: depth,
        tasks: taskCounts,
        updated_at: toTimestamp(clock.nowMs()),
      }
    },
  }),
]

function describe(
  models: readonly { ready: boolean; slots: number; in_use: number }[],
  depth: number,
): string {
  if (models.length > 0 && !models.some(({ ready }) => ready)) return 'down'
  const isBusy = depth > 0 || models.some(({ slots, in_use: inUse }) => inUse >= slots)
  return isBusy ? 'busy' : 'ready'
}
