import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { canRedraw } from '../output/can-redraw.ts'
import { formatUsd } from '../output/format-usd.ts'
import { createProgressBar } from '../output/bars/progress-bar.ts'

export type Task = Schemas['Task']

/** The gateway answers when the status changes. Its progress changes meanwhile, so that a person waits for the next look less long. */
const WAIT_S = 20
const WAIT_S_ON_SCREEN = 2
const DRAW_MS = 250

interface FollowOptions {
  readonly signal: AbortSignal
  /** About what it costs, to show beside it. */
  readonly costUsd?: number | null
}

/** Waits until a task has ended and shows its progress, the time it took and the time left. Cancels the task if the signal is aborted. */
export async function followTask(
  gateway: GatewayClient,
  id: string,
  { signal, costUsd = null }: FollowOptions,
): Promise<Task> {
  const isOnScreen = canRedraw(process.stderr)
  const bar = createProgressBar(process.stderr, Date.now, { tells: 'time' })
  const beganAtMs = Date.now()
  let seen: Task | null = null
  const draw = () => {
    const cost = costUsd === null ? '' : `, about ${formatUsd(costUsd)}`
    bar.show(
      (seen?.progress ?? 0) / 100,
      `${seen === null ? 'ordered' : describe(seen)}${cost}`,
      beganOf(seen, beganAtMs),
    )
  }
  draw()
  const timer = isOnScreen ? setInterval(draw, DRAW_MS) : undefined
  try {
    for (let waitS = 0; ; waitS = isOnScreen ? WAIT_S_ON_SCREEN : WAIT_S) {
      seen = await readTask(gateway, id, { waitS, signal })
      if (hasEnded(seen)) return seen
      draw()
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw await cancel(gateway, id)
  } finally {
    clearInterval(timer)
    bar.clear()
  }
}

/** When the work began, by this machine's clock. A clock that is ahead or behind must not make it longer than it can be. */
function beganOf(task: Task | null, followedAtMs: number): number {
  if (task === null) return followedAtMs
  return Math.min(followedAtMs, Date.parse(task.started_at ?? task.created_at))
}

/** Returns a completed task, or throws with the reason why it has no result. */
export function requireCompleted(task: Task): Task {
  if (task.status === 'completed') return task
  const reason = task.error?.message ?? `its status is ${task.status}`
  throw new CommandFailure(EXIT.failed, `The task ${task.id} has no result: ${reason}`)
}

function readTask(
  gateway: GatewayClient,
  id: string,
  { waitS, signal }: { waitS: number; signal: AbortSignal },
): Promise<Task> {
  return gateway.call((routes) =>
    routes.GET('/v1/tasks/{id}', { params: { path: { id }, query: { wait: waitS } }, signal }),
  )
}

function hasEnded({ status }: Task): boolean {
  return status !== 'pending' && status !== 'processing'
}

function describe({ status, queue_position: position, model }: Task): string {
  return status === 'pending' && position !== null ? `${model}, ${position} before it` : model
}

async function cancel(gateway: GatewayClient, id: string): Promise<CommandFailure> {
  const task = await gateway.call((routes) =>
    routes.POST('/v1/tasks/{id}/cancel', { params: { path: { id } } }),
  )
  const refunded = formatUsd(task.refund_amount_usd ?? 0)
  return new CommandFailure(
    EXIT.interrupted,
    `The task ${id} was cancelled. ${refunded} of its hold was refunded, ${formatUsd(task.cost_usd ?? 0)} charged.`,
  )
}
