import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { formatUsd } from '../output/format-usd.ts'
import { createRunGrid } from './run-grid.ts'

export type Run = Schemas['CompareRun']

const LOOK_MS = 500

/** Shows a run until it has ended: a live grid on a terminal, else a line for each step. Cancels it if the signal is aborted. */
export async function followRun(gateway: GatewayClient, id: string, signal: AbortSignal): Promise<Run> {
  const grid = createRunGrid(process.stderr)
  try {
    for (;;) {
      const run = await readRun(gateway, id, signal)
      grid.show(run)
      if (hasEnded(run)) return run
      await pause(LOOK_MS, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw await cancel(gateway, id)
  } finally {
    grid.end()
  }
}

function hasEnded({ status }: Run): boolean {
  return status !== 'queued' && status !== 'running'
}

export function readRun(gateway: GatewayClient, id: string, signal?: AbortSignal): Promise<Run> {
  const path = { run_id: id }
  return gateway.call((routes) =>
    routes.GET('/v1/compare/runs/{run_id}', {
      params: { path },
      ...(signal === undefined ? {} : { signal }),
    }),
  )
}

async function cancel(gateway: GatewayClient, id: string): Promise<CommandFailure> {
  const path = { run_id: id }
  const run = await gateway.call((routes) =>
    routes.POST('/v1/compare/runs/{run_id}/cancel', { params: { path } }),
  )
  return new CommandFailure(
    EXIT.interrupted,
    `The run ${id} was cancelled after ${run.cells_done} of ${run.cells_total} answers. ${formatUsd(run.cost_usd)} were charged.`,
    `"parkway compare show ${id}" shows the answers.`,
  )
}
