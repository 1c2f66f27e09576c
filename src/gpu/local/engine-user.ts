import { chmod, lchown, lstat, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isReadableBy, readSystemUsers, type SystemUser } from '../../kernel/system-user.ts'

/** The user of an engine. Null runs it as the gateway's user, and `problem` says why if the gateway is root. */
export interface ChosenUser {
  readonly user: SystemUser | null
  readonly problem: string | null
}

const OWN_NAME = 'parkway-engine'
/** A number that distributions and systemd leave unused. A user needs no name to run a program. */
const OWN_ID = 60_900
/** Kill and identify processes of another user, give files away, change the user: bits of `CapEff`. */
const CAPABILITIES = { CHOWN: 0, KILL: 5, SETGID: 6, SETUID: 7, SYS_PTRACE: 19 } as const

/** Chooses the user of engines if the gateway is root: the named one, or one that owns nothing. `root` keeps the gateway's user. */
export async function chooseEngineUser(name: string | null): Promise<ChosenUser> {
  if (process.getuid?.() !== 0) return { user: null, problem: null }
  const users = await readSystemUsers()
  const user = users.get(name ?? OWN_NAME) ?? (name === null ? { uid: OWN_ID, gid: OWN_ID } : null)
  if (user === null) return { user, problem: `there is no user ${name ?? ''}` }
  if (user.uid === 0) return { user: null, problem: null }
  const lacking = await findLacking()
  if (lacking !== null) return { user: null, problem: `the gateway has no capability ${lacking}` }
  return { user, problem: null }
}

async function findLacking(): Promise<string | null> {
  const status = await readFile('/proc/self/status', 'utf8')
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  const lacking = Object.entries(CAPABILITIES).find(([, bit]) => ((effective >> BigInt(bit)) & 1n) === 0n)
  return lacking?.[0] ?? null
}

const ENTER = 0o710
const LIST = 0o750
const READ = 0o640

/** Lets the user's group pass through directories of the gateway, without listing them. */
export async function letPass(paths: readonly string[], { gid }: SystemUser): Promise<void> {
  for (const path of paths) {
    await lchown(path, 0, gid)
    await chmod(path, ENTER)
  }
}

/** Lets the user's group pass through the data directory if it is private to root. A directory that is shared already is left as it is. */
export async function openWay(dataDirectory: string, user: SystemUser): Promise<void> {
  const found = await lstat(dataDirectory).catch(() => null)
  if (found?.isDirectory() === true && found.uid === 0 && (found.mode & 0o077) === 0)
    await letPass([dataDirectory], user)
}

/** The directories above a snapshot in the model cache: `<cache>/<model>/snapshots/<commit>`. */
const PARENTS = 3
const DEPTH_MAX = 10

/** Lets the user's group read a model in the gateway's cache. Directories that others may enter already are left as they are. */
export async function shareModel(directory: string, user: SystemUser): Promise<void> {
  await shareTree(directory, user, DEPTH_MAX)
  let parent = directory
  for (let level = 0; level < PARENTS; level += 1) {
    parent = dirname(parent)
    const { uid, mode } = await lstat(parent)
    if (uid === 0 && (mode & 0o001) === 0) await letPass([parent], user)
  }
}

async function shareTree(directory: string, user: SystemUser, depth: number): Promise<void> {
  await lchown(directory, 0, user.gid)
  await chmod(directory, LIST)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory() && depth > 0) await shareTree(path, user, depth - 1)
    if (!entry.isFile()) continue
    await lchown(path, 0, user.gid)
    await chmod(path, READ)
  }
}

/** Returns the first of these files that the user cannot read, or null. */
export async function findUnreadable(paths: readonly string[], user: SystemUser): Promise<string | null> {
  for (const path of paths) if (!(await isReadableBy(path, user))) return path
  return null
}
