import { open } from 'node:fs/promises'
import { Batches } from '../../kernel/batches.ts'

const SYNCS_MAX = 100
const syncs = new Batches<string, SyncOutcome>(syncAll, SYNCS_MAX)

/** Makes the entries of a directory durable. Calls during a sync share the next one. */
export async function syncDirectory(directory: string): Promise<void> {
  const outcome = await syncs.add(directory)
  if (outcome.isSynced) return
  throw outcome.reason
}

type SyncOutcome = { readonly isSynced: true } | { readonly isSynced: false; readonly reason: unknown }

async function syncAll(directories: readonly string[]): Promise<SyncOutcome[]> {
  const outcomes = new Map<string, Promise<SyncOutcome>>()
  return Promise.all(
    directories.map((directory) => {
      const outcome = outcomes.get(directory) ?? syncNow(directory)
      outcomes.set(directory, outcome)
      return outcome
    }),
  )
}

async function syncNow(directory: string): Promise<SyncOutcome> {
  try {
    const handle = await open(directory, 'r')
    try {
      await handle.sync()
      return { isSynced: true }
    } finally {
      await handle.close()
    }
  } catch (reason) {
    return { isSynced: false, reason }
  }
}
