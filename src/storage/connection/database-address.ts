import { callbackify } from 'node:util'
import { Client } from 'pg'
import { messageOf, StorageError } from '../storage-error.ts'
import { isReadOnly, READ_ONLY_COLUMN, readOnlyServer, type ReadOnlyRow } from './require-primary.ts'

/** The address of the database: one server, or several with one primary. */
export interface DatabaseAddress {
  /** In the driver's format, with the first host. */
  readonly connectionString: string
  readonly hosts: readonly DatabaseHost[]
}

interface DatabaseHost {
  readonly host: string
  readonly port: number
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/
const HOST_PARTS = /^(\[[0-9a-f:.]+\]|[^:[\],]*)(?::(\d{1,5}))?$/i
const PORT_DEFAULT = 5432
const HOSTS_MAX = 16
/** Accepted values of libpq's `target_session_attrs`. The gateway needs a writable server, so others are refused. */
const SESSION_ATTRIBUTES = new Set(['any', 'read-write', 'primary'])

/** Throws a `RangeError` with a description of the problem. */
export function parseDatabaseAddress(url: string): DatabaseAddress {
  const parts = URL_PARTS.exec(url)
  if (parts === null) {
    // Other formats that the driver understands.
    if (URL.canParse(url) && /^postgres(ql)?:/.test(url)) return { connectionString: url, hosts: [] }
    throw new RangeError('postgres://user:password@host:port/database')
  }
  const [, head = '', hostList = '', path = '', query = ''] = parts
  const parameters = new URLSearchParams(query)
  const attributes = parameters.get('target_session_attrs')
  if (attributes !== null && !SESSION_ATTRIBUTES.has(attributes))
    throw new RangeError('target_session_attrs=read-write: the gateway writes')
  const names = hostList.split(',')
  if (names.length > HOSTS_MAX) throw new RangeError(`at most ${HOSTS_MAX} hosts`)
  const hosts = names.map(parseHost)
  if (names.length === 1 && attributes === null) return { connectionString: url, hosts }
  parameters.delete('target_session_attrs')
  const rest = parameters.size > 0 ? `?${parameters.toString()}` : ''
  return { connectionString: `${head}${names[0]}${path}${rest}`, hosts }
}

function parseHost(text: string): DatabaseHost {
  const [, host, port] = HOST_PARTS.exec(text) ?? []
  if (host === undefined) throw new RangeError('hosts as host:port, with commas between them')
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? PORT_DEFAULT : Number(port) }
}

/** Returns the driver's options for this address. With several hosts, the client connects to the primary. */
export function connectionOf(url: string): {
  readonly connectionString: string
  readonly Client: typeof Client
} {
  const { connectionString, hosts } = parseDatabaseAddress(url)
  return { connectionString, Client: hosts.length > 1 ? createHostClient(connectionString, hosts) : Client }
}

/** Connections opened within this time share one choice of host. After it the choice is repeated, because of failovers. */
const CHOICE_MS = 1_000
const PROBE_MS_MAX = 2_000

function createHostClient(connectionString: string, hosts: readonly DatabaseHost[]): typeof Client {
  let choice: { readonly host: Promise<DatabaseHost>; readonly untilMs: number } | null = null
  const choose = (): Promise<DatabaseHost> => {
    if (choice !== null && performance.now() < choice.untilMs) return choice.host
    const host = findPrimary(connectionString, hosts)
    choice = { host, untilMs: performance.now() + CHOICE_MS }
    host.catch(() => {
      choice = null
    })
    return host
  }
  return class HostClient extends Client {
    override connect(): Promise<this>
    override connect(callback: (error: Error) => void): void
    override connect(callback?: (error: Error) => void): Promise<this> | void {
      const connected = choose().then(async (chosen) => {
        Object.assign(this, chosen)
        await super.connect()
        return this
      })
      if (callback === undefined) return connected
      callbackify(() => connected)(callback)
    }
  }
}

/** Probes all hosts in parallel, so that a hanging host causes no delay. */
async function findPrimary(connectionString: string, hosts: readonly DatabaseHost[]): Promise<DatabaseHost> {
  try {
    return await Promise.any(hosts.map((host) => probe(connectionString, host)))
  } catch (error) {
    const failures = error instanceof AggregateError ? error.errors : [error]
    const names = hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
    if (failures.some((failure) => failure instanceof StorageError))
      throw readOnlyServer(`none of ${names} takes writes`)
    const reasons = failures.map(messageOf).join('; ')
    throw new StorageError('unreachable_database', `The database cannot be reached at ${names}: ${reasons}`, {
      cause: error,
    })
  }
}

async function probe(connectionString: string, host: DatabaseHost): Promise<DatabaseHost> {
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: PROBE_MS_MAX,
    query_timeout: PROBE_MS_MAX,
  })
  Object.assign(client, host)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<ReadOnlyRow>(`SELECT ${READ_ONLY_COLUMN}`)
    if (isReadOnly(rows[0])) throw readOnlyServer('a standby')
    return host
  } finally {
    void client.end().catch(() => {})
  }
}
