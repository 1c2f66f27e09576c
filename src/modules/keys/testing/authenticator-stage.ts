import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { MessageHandler } from '../../../storage/bus/message-bus.ts'
import { KeyAuthenticator } from '../authenticate/authenticate-key.ts'
import type { Caller } from '../authenticate/caller.ts'
import type { KeyChangeBus } from '../change/key-change.ts'
import { createKeyToken, hashKey } from '../key-form.ts'

export const START_MS = Date.UTC(2030, 0, 1)
export const token = createKeyToken('dev')
export const keyId = createId()
export const accountId = createId()

/** An authenticator with a clock, a message bus and a single key that a test controls. */
export interface AuthenticatorStage {
  nowMs: number
  /** The database row of the key. */
  row: Record<string, unknown> | null
  reads: number
  readonly uses: string[]
  readonly database: ReturnType<typeof createControlledDatabase>
  readonly bus: ReturnType<typeof createFakeBus>
  readonly authenticator: KeyAuthenticator
  /** Rejects if the authenticator throws. */
  authenticate(presented?: string): Promise<Caller>
}

export function createAuthenticatorStage(): AuthenticatorStage {
  const state = { nowMs: START_MS, row: keyRow() as AuthenticatorStage['row'], reads: 0 }
  const uses: string[] = []
  const database = createControlledDatabase(state)
  const bus = createFakeBus()
  const authenticator = new KeyAuthenticator({
    database,
    clock: fakeClock(() => state.nowMs),
    messageBus: bus,
    noteUse: (id) => uses.push(id),
  })
  return Object.assign(state, {
    uses,
    database,
    bus,
    authenticator,
    authenticate: async (presented = token) => authenticator.authenticate(presented),
  })
}

export function keyRow(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: keyId,
    account_id: accountId,
    name: 'a key',
    environment: 'dev',
    key_hash: Buffer.from(hashKey(token), 'hex'),
    key_prefix: 'pk-dev-AbCd…',
    former_key_hash: null,
    former_key_prefix: null,
    former_ends_at: null,
    scopes: ['inference'],
    allowed_models: null,
    limit_nano_usd: null,
    requests_per_minute: 60,
    expires_at: null,
    revoked_at: null,
    is_ended: false,
    owner_roles: null,
    is_of_sessions: false,
    created_at: new Date(START_MS),
    last_used_at: null,
    group_ids: [],
    account_status: 'active',
    suspended_reason: null,
    limiting_key_id: null,
    model_permissions: null,
    project_rates: null,
    ...overrides,
  }
}

/** Returns the row as it was when the query arrived, like a database, and can be made to wait. */
function createControlledDatabase(state: Pick<AuthenticatorStage, 'row' | 'reads'>) {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let failure: Error | null = null
  const running = new Set<Promise<unknown>>()
  const answer = async (values: readonly unknown[]): Promise<unknown[]> => {
    state.reads += 1
    const asked = Array.isArray(values[0]) ? values[0].map(String) : []
    const isAsked = asked.includes(String(Buffer.from(hashKey(token), 'hex')))
    const rows = state.row !== null && isAsked ? [state.row] : []
    await gate.promise
    if (failure !== null) throw failure
    return rows
  }
  const query = (_sql: string, values: readonly unknown[] = []) => {
    const answering = answer(values)
    running.add(answering)
    return answering
  }
  return {
    query: query as Queryable['query'],
    hold: () => (gate = Promise.withResolvers<void>()),
    release: () => gate.resolve(),
    failWith: (error: Error) => (failure = error),
    settled: async () => {
      await Promise.allSettled(running)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

function createFakeBus() {
  let connected = true
  const handlers: MessageHandler[] = []
  const lostHandlers: (() => void)[] = []
  const fake: KeyChangeBus = {
    subscribe: (_topic, handler) => {
      handlers.push(handler)
      return () => undefined
    },
    publishAndConfirm: async () => ({ confirmed: true }),
    onConnectionLost: (handler) => {
      lostHandlers.push(handler)
      return () => undefined
    },
    isConnected: () => connected,
  }
  return {
    ...fake,
    deliver: (payload: string) => handlers.forEach((handler) => void handler(payload)),
    connect: () => (connected = true),
    disconnect: () => {
      connected = false
      lostHandlers.forEach((handler) => handler())
    },
  }
}
