import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { InstanceDirectory } from './instance-directory.ts'
import type { LocalTier, Place } from './local-tiers.ts'

/** Takes a free place of the tier. Returns null if there is none. Safe for concurrent calls from several processes. */
export async function takePlace(
  directory: InstanceDirectory,
  { places }: LocalTier,
  instanceId: string,
): Promise<Place | null> {
  for (const place of places)
    if ((await isFree(directory, place)) && (await takeAll(directory, place.names, instanceId))) return place
  return null
}

export async function isFree(directory: InstanceDirectory, { names, hasMemory }: Place): Promise<boolean> {
  if (!hasMemory) return false
  for (const name of names) if (await isHeld(directory, name)) return false
  return true
}

export async function releaseAll(
  directory: InstanceDirectory,
  names: readonly string[],
  instanceId: string,
): Promise<void> {
  for (const name of names) await directory.release(name, instanceId)
}

/**
 * Takes a port of 127.0.0.1 that nothing listens on. The instance keeps it until its record is deleted, so that a stale endpoint
 * never reaches the engine of another account.
 */
export async function takePort(
  directory: InstanceDirectory,
  [first, last]: readonly [number, number],
  instanceId: string,
): Promise<number> {
  const count = last - first + 1
  const offset = randomInt(count)
  for (let tried = 0; tried < count; tried += 1) {
    const port = first + ((offset + tried) % count)
    const name = portName(port)
    await releaseLost(directory, name)
    if (!(await directory.take(name, instanceId))) continue
    if (await canListen(port)) return port
    await directory.release(name, instanceId)
  }
  throw new Error(`no port from ${first} to ${last} is free`)
}

export function portName(port: number): string {
  return `port-${port}`
}

async function takeAll(
  directory: InstanceDirectory,
  names: readonly string[],
  instanceId: string,
): Promise<boolean> {
  for (const [index, name] of names.entries()) {
    if (await directory.take(name, instanceId)) continue
    await releaseAll(directory, names.slice(0, index), instanceId)
    return false
  }
  return true
}

/** Returns whether a running instance holds the name. Releases a name that an ended instance still holds. */
async function isHeld(directory: InstanceDirectory, name: string): Promise<boolean> {
  const holder = await directory.holderOf(name)
  if (holder === null) return false
  const isOver =
    (await directory.readOrderedAtMs(holder)) === null ||
    (await directory.readState(holder))?.phase === 'ended'
  if (isOver) await directory.release(name, holder)
  return !isOver
}

/** Releases a name whose holder has no record: its process died before it wrote which port it took. */
async function releaseLost(directory: InstanceDirectory, name: string): Promise<void> {
  const holder = await directory.holderOf(name)
  if (holder !== null && (await directory.readOrderedAtMs(holder)) === null)
    await directory.release(name, holder)
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
