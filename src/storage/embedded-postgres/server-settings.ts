/**
 * How clients reach the server: by a Unix socket in its own directory, which only its user and root can enter, or by a loopback
 * port.
 */
export type Endpoint = { readonly kind: 'socket' } | { readonly kind: 'loopback'; readonly port: number }

const SOCKET_PORT = 5432

/** Maximum path length of a Unix socket on all supported systems. */
const SOCKET_PATH_BYTES_MAX = 103

export function fitsSocket(clusterDir: string): boolean {
  return Buffer.byteLength(`${clusterDir}/.s.PGSQL.${SOCKET_PORT}`) <= SOCKET_PATH_BYTES_MAX
}

export interface SettingsOptions {
  readonly endpoint: Endpoint
  /** False trades durability for speed. For tests only. */
  readonly durable: boolean
  readonly overrides: Readonly<Record<string, string>>
}

/** Returns the text of `postgresql.conf`. It is rewritten at each start; operators override settings with `ALTER SYSTEM`. */
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
  // Reads are short and mostly served from memory, so I/O workers would only cost memory.
  io_method: 'sync',
  max_worker_processes: '4',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  dynamic_shared_memory_type: 'posix',
  // Backups are logical, so the log does not have to support replicas.
  wal_level: 'minimal',
  max_wal_senders: '0',
  min_wal_size: '64MB',
  max_wal_size: '512MB',
  checkpoint_timeout: '10min',
  autovacuum_naptime: '10s',
  // Vacuum works in steps of half a millisecond instead of three, because a commit may have to wait for a step.
  autovacuum_vacuum_cost_limit: '40',
  autovacuum_vacuum_cost_delay: '1ms',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  // The gateway reports failed statements itself, and their text may contain user data.
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
