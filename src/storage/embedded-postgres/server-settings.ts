/** How clients reach the server. A Unix socket inside its own directory, which only its user and root may enter. */
export type Endpoint = { readonly kind: 'socket' } | { readonly kind: 'loopback'; readonly port: number }

const SOCKET_PORT = 5432

/** The longest path a Unix socket may have on every system we run on. */
const SOCKET_PATH_BYTES_MAX = 103

export function fitsSocket(clusterDir: string): boolean {
  return Buffer.byteLength(`${clusterDir}/.s.PGSQL.${SOCKET_PORT}`) <= SOCKET_PATH_BYTES_MAX
}

export interface SettingsOptions {
  readonly endpoint: Endpoint
  /** False gives up safety for speed: for tests only. */
  readonly durable: boolean
  readonly overrides: Readonly<Record<string, string>>
}

/** The text of `postgresql.conf`. Written anew at each start; an operator overrides it with `ALTER SYSTEM`. */
export function renderSettings({ endpoint, durable, overrides }: SettingsOptions): string {
  const settings = {
    ...SMALL_MACHINE,
    ...endpointSettings(endpoint),
    ...(durable ? DURABLE : VOLATILE),
    ...overrides,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`)
  return ['# Written by the gateway at each start. Use ALTER SYSTEM to change a setting.', ...lines, ''].join(
    '\n',
  )
}

const SMALL_MACHINE = {
  max_connections: '100',
  shared_buffers: '64MB',
  effective_cache_size: '256MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  random_page_cost: '1.1',
  jit: 'off',
  // Reads are short and memory holds them; worker processes would only cost memory.
  io_method: 'sync',
  max_worker_processes: '4',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  dynamic_shared_memory_type: 'posix',
  // Backups are logical, so the log need not serve a replica.
  wal_level: 'minimal',
  max_wal_senders: '0',
  min_wal_size: '64MB',
  max_wal_size: '512MB',
  checkpoint_timeout: '10min',
  autovacuum_naptime: '10s',
  // Vacuum works in pieces of half a millisecond instead of three: a commit may have to wait for one.
  autovacuum_vacuum_cost_limit: '40',
  autovacuum_vacuum_cost_delay: '1ms',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // Failed statements are the gateway's to report, and their text may hold what users wrote.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
}

const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }

const VOLATILE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

function endpointSettings(endpoint: Endpoint): Record<string, string> {
  return endpoint.kind === 'socket'
    ? {
        listen_addresses: '',
        unix_socket_directories: '.',
        unix_socket_permissions: '0700',
        port: String(SOCKET_PORT),
      }
    : { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(endpoint.port) }
}
