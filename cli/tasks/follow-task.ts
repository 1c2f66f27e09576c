import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { formatUsd } from '../output/format-usd.ts'
import { createProgressBar } from '../output/bars/progress-bar.ts'

export type Task = Schemas['Task']

const WAIT_S = 20

/** Waits until a task has ended and shows its progress. Cancels the task if the signal is aborted. */
export async function followTask(gateway: GatewayClient, id: string, signal: AbortSignal): Promise<Task> {
  const bar = createProgressBar(process.stderr)
  try {
    for (;;) {
      const task = await readTask(gateway, id, signal)
      bar.show(task.progress / 100, describe(task))
      if (hasEnded(task)) return task
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw await cancel(gateway, id)
  } finally {
    bar.clear()
  }
}

/** Returns a completed task, or throws with the reason why it has no result. */
export function requireCompleted(task: Task): Task {
  if (task.status === 'completed') return task
  const reason = task.error?.message ?? `its status is ${task.status}`
  throw new CommandFailure(EXIT.failed, `The task ${task.id} has no result: ${reason}`)
}

function readTask(gateway: GatewayClient, id: string, signal: AbortSignal): Promise<Task> {
  return gateway.call((routes) =>
    routes.GET('/v1/tasks/{id}', { params: { path: { id }, query: { wait: WAIT_S } }, signal }),
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
    `The task ${id} was cancelled. ${refunded} of its hold were given back, ${formatUsd(task.cost_usd ?? 0)} charged.`,
  )
}
