import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { createProgressBar } from '../output/bars/progress-bar.ts'
import { formatNumber } from '../output/format-number.ts'
import { formatUsd } from '../output/format-usd.ts'

export type Batch = Schemas['Batch']

const READ_MS = 1_000
const ENDED: ReadonlySet<string> = new Set(['failed', 'completed', 'expired', 'cancelled'])

/** Shows a batch until it has ended. Whoever interrupts it learns how to come back: the batch goes on without the command. */
export async function followBatch(gateway: GatewayClient, id: string, signal: AbortSignal): Promise<Batch> {
  const bar = createProgressBar(process.stderr, Date.now, { tells: 'time' })
  const beganAtMs = Date.now()
  try {
    for (;;) {
      const batch = await readBatch(gateway, id, signal)
      if (ENDED.has(batch.status)) return batch
      const { total, completed, failed } = batch.request_counts
      bar.show(total === 0 ? 0 : (completed + failed) / total, describeProgress(batch), beganAtMs)
      await pause(READ_MS, undefined, { signal })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new CommandFailure(
      EXIT.interrupted,
      `The batch ${id} goes on without this command.`,
      `"parkway batch watch ${id}" follows it again, and "parkway batch cancel ${id}" ends it.`,
    )
  } finally {
    bar.clear()
  }
}

export function readBatch(gateway: GatewayClient, id: string, signal?: AbortSignal): Promise<Batch> {
  return gateway.call((routes) =>
    routes.GET('/v1/batches/{id}', {
      params: { path: { id } },
      ...(signal === undefined ? {} : { signal }),
    }),
  )
}

function describeProgress({ status, request_counts: counts, cost_usd: costUsd }: Batch): string {
  const { total, completed, failed } = counts
  if (status === 'validating') return 'checking the lines'
  const failures = failed === 0 ? '' : `, ${formatNumber(failed)} failed`
  return `${formatNumber(completed + failed)} of ${formatNumber(total)} lines${failures}, ${formatUsd(costUsd)}`
}

/** Throws for a batch that failed, with the first mistakes of its file. */
export function requireRun(batch: Batch): Batch {
  if (batch.status !== 'failed') return batch
  const mistakes = (batch.errors?.data ?? [])
    .slice(0, MISTAKES_SHOWN)
    .map(({ line, message }) => (line === null ? message : `Line ${line}: ${message}`))
  const more = (batch.errors?.data.length ?? 0) - mistakes.length
  throw new CommandFailure(
    EXIT.failed,
    `The batch has failed, and nothing was asked.\n${mistakes.join('\n')}${more > 0 ? `\nand ${more} more` : ''}`,
  )
}

const MISTAKES_SHOWN = 10
