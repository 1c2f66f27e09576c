import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** The unprivileged user that runs the server. Null if it runs as the gateway's user. */
export type ServerUser = { readonly uid: number; readonly gid: number } | null

const PREFERRED_NAMES = ['parkway', 'postgres', 'nobody']

/**
 * Chooses the server's user. PostgreSQL refuses to run as root, so root uses the owner of the cluster, or else the first suitable
 * user of the system.
 */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return null
  const owner = await stat(clusterDir).catch(() => null)
  if (owner !== null && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = parsePasswd(await readFile('/etc/passwd', 'utf8').catch(() => ''))
  for (const name of PREFERRED_NAMES) {
    const user = users.get(name)
    if (user && user.uid !== 0) return user
  }
  return { uid: 65_534, gid: 65_534 }
}

/** Returns whether the user may enter the directory, by the owner, group and mode of it and all its parents. */
export async function isReachableBy(path: string, user: ServerUser): Promise<boolean> {
  if (user === null) return true
  for (let current = resolve(path); ; current = dirname(current)) {
    const found = await stat(current).catch(() => null)
    if (found === null) return false
    const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0
    if (((found.mode >> shift) & 0o1) === 0) return false
    if (current === dirname(current)) return true
  }
}

function parsePasswd(text: string): Map<string, { uid: number; gid: number }> {
  const users = new Map<string, { uid: number; gid: number }>()
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name && uid && gid) users.set(name, { uid: Number(uid), gid: Number(gid) })
  }
  return users
}
