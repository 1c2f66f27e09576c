import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** A user of this machine, by number. */
export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

/** Reads the users of this machine by name. */
export async function readSystemUsers(): Promise<ReadonlyMap<string, SystemUser>> {
  const users = new Map<string, SystemUser>()
  for (const line of (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name && uid && gid) users.set(name, { uid: Number(uid), gid: Number(gid) })
  }
  return users
}

/** Returns whether the user may enter the directory, by the owner, group and mode of it and all its parents. Null is this process. */
export async function isReachableBy(path: string, user: SystemUser | null): Promise<boolean> {
  if (user === null) return true
  for (let current = resolve(path); ; current = dirname(current)) {
    if (!(await hasMode(current, user, 0o1))) return false
    if (current === dirname(current)) return true
  }
}

/** Returns whether the user may read the file or list the directory, if it may also enter the parents. */
export async function isReadableBy(path: string, user: SystemUser): Promise<boolean> {
  return (await hasMode(path, user, 0o4)) && (await isReachableBy(dirname(resolve(path)), user))
}

async function hasMode(path: string, user: SystemUser, bit: number): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  if (found === null) return false
  const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0
  return ((found.mode >> shift) & bit) !== 0
}
