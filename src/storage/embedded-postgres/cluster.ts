import { existsSync } from 'node:fs'
import { isReachableBy, type ServerUser } from './server-user.ts'

/** Where one PostgreSQL keeps its data, and how its processes may name that place. */
export interface Cluster {
  readonly dir: string
  readonly logFile: string
  readonly user: ServerUser
}

export const PASSWORD_FILE = 'parkway.password'
export const ROLE = 'parkway'
export const DATABASE = 'postgres'

/**
 * The directory as the server is told it. Its user may be unable to walk there (a checkout in root's home), but a
 * process that starts inside a directory can always name it through /proc.
 */
export async function nameForServer(dir: string, user: ServerUser): Promise<string | null> {
  if (await isReachableBy(dir, user)) return dir
  return existsSync('/proc/self/cwd') ? '/proc/self/cwd' : null
}
