import { heldPermissions } from '../permissions/held-permissions.ts'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { createMessageBus } from '../../../storage/bus/message-bus.ts'
import { createTestDatabase } from '../../../storage/testing/test-database.ts'
import type { Caller, Scope } from '../authenticate/caller.ts'
import { createKeys, type KeyChangeBus, type KeyRequest, type Keys } from '../keys.ts'

export const inferenceDraft: KeyRequest = { name: 'a key', environment: 'dev', scopes: ['inference'] }

/** Two processes of a gateway on one database, with one account and a clock that a test controls. */
export interface KeyProcesses {
  nowMs: number
  readonly database: Database
  readonly keys: Keys
  readonly otherProcess: Keys
  readonly accountId: string
  createProcess(messageBus: KeyChangeBus): Keys
  insertAccount(): Promise<string>
  /** Returns an operator, or a caller whose key is not in the database. */
  callerWith(...scopes: Scope[]): Caller
  /** Creates a key that is not the root key, in the default account or the given one. */
  managerWith(request: Omit<KeyRequest, 'name'>, ofAccount?: string): Promise<Caller>
  close(): Promise<void>
}

export async function startKeyProcesses(): Promise<KeyProcesses> {
  const testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  const database = connectDatabase({ connectionString, poolSize: 4, statementTimeoutMs: 10_000 })
  const connectBus = () => createMessageBus({ connectionString, logger: silentLogger })
  const buses = await Promise.all([connectBus(), connectBus()])
  const state = { nowMs: Date.UTC(2030, 0, 1) }
  const createProcess = (messageBus: KeyChangeBus) =>
    createKeys({ database, clock: fakeClock(() => state.nowMs), messageBus, findUnknownModel: () => null })
  const insertAccount = async (): Promise<string> => {
    const id = createId()
    await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'an account')`, [id])
    return id
  }
  const accountId = await insertAccount()
  const [keys, otherProcess] = [createProcess(buses[0]), createProcess(buses[1])]
  const callerWith = (...scopes: Scope[]): Caller => ({
    accountId,
    keyId: createId(),
    environment: 'dev',
    scopes: new Set(scopes),
    permissions: heldPermissions({ scopes, ownerRoles: null, isOfSessions: false }),
    projectId: null,
    groupIds: [],
    allowedModels: null,
    requestsPerMinute: null,
    limitNanoUsd: null,
  })
  return Object.assign(state, {
    database,
    keys,
    otherProcess,
    accountId,
    createProcess,
    insertAccount,
    callerWith,
    managerWith: async (request: Omit<KeyRequest, 'name'>, ofAccount = accountId): Promise<Caller> => {
      const operator = callerWith('admin')
      await keys.create(operator, ofAccount, { name: 'root', scopes: ['inference', 'manage'] })
      const { token } = await keys.create(operator, ofAccount, { name: 'a manager', ...request })
      return keys.authenticate(token)
    },
    close: async () => {
      await Promise.all([keys.close(), otherProcess.close()])
      await Promise.all(buses.map((bus) => bus.close()))
      await database.close()
      await testDatabase.drop()
    },
  })
}

/** Rejects if the module throws. */
export async function authenticate(on: Keys, token: string): Promise<Caller> {
  return on.authenticate(token)
}
