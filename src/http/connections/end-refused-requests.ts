import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isAboutOwner, type Caller, type KeyChange, type Keys } from '../../modules/keys/keys.ts'
import { invalidSession, type Sessions } from '../../modules/sessions/sessions.ts'
import type { Server } from '../server.ts'

interface EndRefusedRequestsOptions {
  readonly server: Pick<
    Server,
    'runningCallers' | 'runningSessions' | 'runningGrants' | 'endRequestsOf' | 'endForbiddenRequests'
  >
  readonly keys: Pick<Keys, 'onChange' | 'callerOf' | 'findEndedGrants'>
  readonly sessions: Pick<Sessions, 'findEnded'>
  readonly clock: Clock
}

/** How often to check expiries and to retry failed reads. */
const TICK_MS = 250
/** Sessions are read from the database, so they are checked less often: whoever ends one waits less than a second. */
const SESSION_TICK_MS = 500

/**
 * Ends running requests of keys that were revoked, have expired, or belong to a suspended account, of keys that may no longer do what
 * they ask for, of sessions that have ended, and of tools that were signed out. After a change the key is read from the database, because most changes do not refuse it.
 */
export function endRefusedRequests(options: EndRefusedRequestsOptions): { close(): void } {
  const { server, keys, clock } = options
  const suspects = new Map<string, Caller>()
  /** Expiries of keys that changed after their running requests began. */
  const changedExpiries = new Map<string, number | null>()
  let isReading = false
  let isClosed = false

  const endIfRefused = async ({ accountId, keyId }: Caller): Promise<void> => {
    try {
      const current = await keys.callerOf(accountId, keyId)
      changedExpiries.set(keyId, current.expiresAtMs ?? null)
      server.endForbiddenRequests(current)
    } catch (error) {
      const isRefused =
        error instanceof AppError && (error.code === 'invalid_api_key' || error.code === 'account_suspended')
      if (!isRefused) throw error
      server.endRequestsOf((caller) => caller.keyId === keyId, error)
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

  const grants = createGrantCheck(options)
  keys.onChange((change) => {
    suspect((caller) => isAbout(change, caller))
    grants.check()
  })
  const ticker = setInterval(() => {
    grants.retry()
    const nowMs = clock.nowMs()
    const running = server.runningCallers()
    for (const keyId of changedExpiries.keys()) if (!running.has(keyId)) changedExpiries.delete(keyId)
    suspect(({ keyId, expiresAtMs = null }) => {
      const changed = changedExpiries.get(keyId)
      const endsAtMs = changed === undefined ? expiresAtMs : changed
      return endsAtMs !== null && endsAtMs <= nowMs
    })
  }, TICK_MS).unref()
  const sessionTicker = setInterval(createSessionCheck(options), SESSION_TICK_MS).unref()
  return {
    close: () => {
      isClosed = true
      clearInterval(ticker)
      clearInterval(sessionTicker)
    },
  }
}

/** Ends the running requests of tools that were signed out. All tools of a person have one key, which goes on. */
function createGrantCheck({ server, keys }: EndRefusedRequestsOptions): { check(): void; retry(): void } {
  let isReading = false
  let isDue = false
  const endOfEnded = async (): Promise<void> => {
    while (isDue) {
      isDue = false
      const ended = new Set(await keys.findEndedGrants([...server.runningGrants()]))
      if (ended.size === 0) continue
      const reason = new AppError('invalid_api_key', 'This tool was signed out.')
      server.endRequestsOf(({ accessToken }) => ended.has(accessToken?.grantId ?? ''), reason)
    }
  }
  const check = (): void => {
    if (server.runningGrants().size === 0) return
    isDue = true
    if (isReading) return
    isReading = true
    endOfEnded()
      .catch(() => {
        // The database is unavailable; the next tick retries.
        isDue = true
      })
      .finally(() => {
        isReading = false
      })
  }
  return {
    check,
    retry: () => {
      if (isDue) check()
    },
  }
}

/** Returns a function that ends the running requests of sessions that have ended. It reads the database only if there are any. */
function createSessionCheck({ server, sessions }: EndRefusedRequestsOptions): () => void {
  let isReading = false
  const endOfEnded = async (running: readonly string[]): Promise<void> => {
    const ended = new Set(await sessions.findEnded(running))
    if (ended.size === 0) return
    server.endRequestsOf(({ session }) => session !== undefined && ended.has(session.id), invalidSession())
  }
  return () => {
    const running = server.runningSessions()
    if (isReading || running.size === 0) return
    isReading = true
    endOfEnded([...running])
      // The database is unavailable; the next tick retries.
      .catch(() => {})
      .finally(() => {
        isReading = false
      })
  }
}

function isAbout(change: KeyChange | null, caller: Caller): boolean {
  if (change === null) return true
  if (!('keyId' in change)) return isAboutOwner(change, caller)
  const { keyId, parent } = caller
  return change.keyId === keyId || change.keyId === parent?.keyId
}
