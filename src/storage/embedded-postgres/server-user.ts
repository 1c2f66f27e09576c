import { stat } from 'node:fs/promises'
import { readSystemUsers, type SystemUser } from '../../kernel/system-user.ts'

/** The unprivileged user that runs the server. Null if it runs as the gateway's user. */
export type ServerUser = SystemUser | null

const PREFERRED_NAMES = ['parkway', 'postgres', 'nobody']

/**
 * Chooses the server's user. PostgreSQL refuses to run as root, so root uses the owner of the cluster, or else the first suitable
 * user of the system.
 */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return null
  const owner = await stat(clusterDir).catch(() => null)
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = await readSystemUsers()
  for (const name of PREFERRED_NAMES) {
    const user = users.get(name)
    if (user && user.uid !== 0) return user
  }
  return { uid: 65_534, gid: 65_534 }
}
