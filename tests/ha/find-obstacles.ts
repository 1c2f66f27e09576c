import { execFileSync, spawnSync } from 'node:child_process'

/** What Debian calls the packages of the programs that the suite starts. */
const PACKAGES = new Map([
  ['ip', 'iproute2'],
  ['nft', 'nftables'],
  ['etcd', 'etcd-server'],
  ['etcdctl', 'etcd-client'],
  ['patroni', 'patroni'],
  ['patronictl', 'patroni'],
  ['haproxy', 'haproxy'],
  ['setpriv', 'util-linux'],
])

/** Returns why the suite cannot run here. Empty if it can. */
export function findObstacles(): string[] {
  const missing = [...PACKAGES].filter(([program]) => !isInstalled(program))
  if (findPostgresDirectory() === null) missing.push(['postgres', 'postgresql-15'])
  const obstacles = missing.map(([program, name]) => `${program} is missing (Debian: ${name})`)
  if (process.getuid?.() !== 0) return [...obstacles, 'network namespaces need root']
  if (spawnSync('getent', ['passwd', 'postgres']).status !== 0)
    obstacles.push('there is no user postgres, as whom PostgreSQL runs')
  const namespace = spawnSync('unshare', ['--net', 'true'], { encoding: 'utf8' })
  if (namespace.status !== 0)
    obstacles.push(`network namespaces cannot be made: ${namespace.stderr.trim() || 'no unshare'}`)
  return obstacles
}

/** The directory with the newest `postgres` and `pg_rewind`, or null. */
export function findPostgresDirectory(): string | null {
  const found = spawnSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1'], {
    encoding: 'utf8',
  }).stdout.trim()
  return found === '' ? null : found.replace(/\/postgres$/, '')
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
