import { existsSync } from 'node:fs'
import { isReachableBy } from '../../kernel/system-user.ts'
import type { ServerUser } from './server-user.ts'

/** The data directory of one PostgreSQL server, its log file and its user. */
export interface Cluster {
  readonly dir: string
  readonly logFile: string
  readonly user: ServerUser
}

export const PASSWORD_FILE = 'parkway.password'
export const ROLE = 'parkway'
export const DATABASE = 'postgres'

/**
 * Returns the path by which the server can access the directory. Its user may have no access to the parent directories (a
 * checkout in root's home), but a process that starts inside a directory can always use /proc.
 */
export async function nameForServer(dir: string, user: ServerUser): Promise<string | null> {
  if (await isReachableBy(dir, user)) return dir
  return existsSync('/proc/self/cwd') ? '/proc/self/cwd' : null
}
