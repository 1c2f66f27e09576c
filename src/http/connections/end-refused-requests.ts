import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller, KeyChange, Keys } from '../../modules/keys/keys.ts'
import type { Server } from '../server.ts'

interface EndRefusedRequestsOptions {
  readonly server: Pick<Server, 'runningCallers' | 'endRequestsOf'>
  readonly keys: Pick<Keys, 'onChange' | 'callerOf'>
  readonly clock: Clock
}

/** How often to check expiries and to retry failed reads. */
const TICK_MS = 250

/**
 * Ends running requests of keys that were revoked, have expired, or belong to a suspended account. After a change the key is
 * read from the database, because most changes do not refuse it.
 */
export function endRefusedRequests({ server, keys, clock }: EndRefusedRequestsOptions): { close(): void } {
  const suspects = new Map<string, Caller>()
  let isReading = false
  let isClosed = false

  const endIfRefused = async ({ accountId, keyId }: Caller): Promise<void> => {
    try {
      await keys.callerOf(accountId, keyId)
    } catch (error) {
      const isRefused =
        error instanceof AppError && (error.code === 'invalid_api_key' || error.code === 'account_suspended')
      if (!isRefused) throw error
      server.endRequestsOf(keyId, error)
    }
  }

  const readSuspects = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      for (const [keyId, caller] of suspects) {
        if (isClosed) return
        suspects.delete(keyId)
        await endIfRefused(caller).catch((error: unknown) => {
          suspects.set(keyId, caller)
          throw error
        })
      }
    } catch {
      // The database is unavailable; the next tick retries.
    } finally {
      isReading = false
    }
  }

  const suspect = (isMeant: (caller: Caller) => boolean): void => {
    for (const [keyId, caller] of server.runningCallers()) if (isMeant(caller)) suspects.set(keyId, caller)
    if (suspects.size > 0) void readSuspects()
  }

  keys.onChange((change) => suspect((caller) => isAbout(change, caller)))
  const ticker = setInterval(() => {
    const nowMs = clock.nowMs()
    suspect(({ expiresAtMs = null }) => expiresAtMs !== null && expiresAtMs <= nowMs)
  }, TICK_MS).unref()
  return {
    close: () => {
      isClosed = true
      clearInterval(ticker)
    },
  }
}

function isAbout(change: KeyChange | null, { keyId, accountId }: Caller): boolean {
  if (change === null) return true
  return 'keyId' in change ? change.keyId === keyId : change.accountId === accountId
}
