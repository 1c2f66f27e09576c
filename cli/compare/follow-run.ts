import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { formatUsd } from '../output/format-usd.ts'
import { openRunFeed, type RunFeed } from './run-feed.ts'
import { createRunGrid } from './run-grid.ts'

export type Run = Schemas['CompareRun']

interface FollowOptions {
  readonly signal: AbortSignal
  /** Makes the failure of a command that was interrupted. */
  readonly onInterrupt: (gateway: GatewayClient, id: string) => Promise<CommandFailure>
}

/** How often texts are drawn. */
const DRAW_MS = 100
/** How often the run is read after its stream has reported an ended answer, or while there is no stream. */
const READ_MS = 500
/** How often the run is read while its stream reports no ended answer. */
const QUIET_READ_MS = 5_000

/** Shows a run until it has ended: a live grid on a terminal, else a line for each step. */
export async function followRun(
  gateway: GatewayClient,
  id: string,
  { signal, onInterrupt }: FollowOptions,
): Promise<Run> {
  const grid = createRunGrid(process.stderr)
  const feed = openRunFeed(gateway, id)
  try {
    for (;;) {
      const run = await readRun(gateway, id, signal)
      grid.show(run, feed.texts)
      if (hasEnded(run)) return run
      await waitForChange(feed, signal, () => grid.show(run, feed.texts))
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw await onInterrupt(gateway, id)
  } finally {
    feed.close()
    grid.end()
  }
}

/** Waits until the run must be read again. Draws the grid in the meantime. */
async function waitForChange(feed: RunFeed, signal: AbortSignal, draw: () => void): Promise<void> {
  const beganMs = performance.now()
  let hasChanged = false
  for (;;) {
    await pause(DRAW_MS, undefined, { signal })
    const news = feed.takeNews()
    hasChanged ||= news === 'cell'
    const waitMs = hasChanged || !feed.isOpen() ? READ_MS : QUIET_READ_MS
    if (news === 'end' || performance.now() - beganMs >= waitMs) return
    draw()
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

/** Cancels the run that an interrupted command made. */
export async function cancelRun(gateway: GatewayClient, id: string): Promise<CommandFailure> {
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
