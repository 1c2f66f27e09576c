import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  parseOrder,
  parsePlacement,
  parsePlan,
  parseState,
  type EnginePlan,
  type EngineState,
  type Placement,
} from './engine-plan.ts'

/** Stores the state of instances as files, shared by all processes of the gateway. */
export interface InstanceDirectory {
  /** Creates the directory of an instance. Returns false if it exists. */
  create(instanceId: string, order: { readonly orderedAtMs: number }): Promise<boolean>
  list(): Promise<readonly string[]>
  readOrderedAtMs(instanceId: string): Promise<number | null>
  readPlacement(instanceId: string): Promise<Placement | null>
  writePlacement(placement: Placement): Promise<void>
  /** Claims the start of the keeper. Returns true for one caller only. */
  claimStart(instanceId: string): Promise<boolean>
  readStartedAtMs(instanceId: string): Promise<number | null>
  readPlan(instanceId: string): Promise<EnginePlan | null>
  writePlan(plan: EnginePlan): Promise<void>
  readState(instanceId: string): Promise<EngineState | null>
  writeState(instanceId: string, state: EngineState): Promise<void>
  /** Requests a stop. Returns true for the first request only. */
  requestStop(instanceId: string): Promise<boolean>
  isStopRequested(instanceId: string): Promise<boolean>
  remove(instanceId: string): Promise<void>
  pathOf(instanceId: string): string
  /** The directories that a process passes through to reach the instance, from the top. */
  pathsTo(instanceId: string): readonly string[]
  /** Takes a name, such as a GPU or a port, for an instance. Returns false if it is taken. */
  take(name: string, instanceId: string): Promise<boolean>
  /** Releases a name if the instance holds it. */
  release(name: string, instanceId: string): Promise<void>
  holderOf(name: string): Promise<string | null>
}

const INSTANCE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns whether an id is a UUID. Only such ids are used in paths. */
export function isInstanceId(text: string): boolean {
  return INSTANCE_ID.test(text)
}

/** The working directory of the engine in the directory of its instance. */
export function workPathOf(path: string): string {
  return join(path, 'work')
}

export function openInstanceDirectory(path: string): InstanceDirectory {
  // Absolute, because a keeper has another working directory.
  const root = resolve(path)
  const pathOf = (instanceId: string) => {
    if (!isInstanceId(instanceId)) throw new Error('not the id of an instance')
    return join(root, 'instances', instanceId)
  }
  const placeOf = (name: string) => join(root, 'places', name)
  /** Creates a directory with its files by an atomic rename. Returns false if `path` is a non-empty directory. */
  const claim = async (path: string, files: Readonly<Record<string, string>>): Promise<boolean> => {
    const draft = join(root, 'drafts', randomUUID())
    await mkdir(draft, { recursive: true, mode: 0o700 })
    try {
      for (const [name, text] of Object.entries(files))
        await writeFile(join(draft, name), text, { mode: 0o600 })
      await rename(draft, path)
      return true
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      if (hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST')) return false
      throw error
    }
  }
  const replace = async (path: string, text: string): Promise<void> => {
    const draft = `${path}.${randomUUID()}`
    await writeFile(draft, text, { mode: 0o600 })
    await rename(draft, path)
  }
  const readJson = async <Content>(
    instanceId: string,
    name: string,
    parse: (text: string) => Content,
  ): Promise<Content | null> => {
    const text = await readFile(join(pathOf(instanceId), name), 'utf8').catch(ignoreMissing)
    return text === null ? null : parse(text)
  }
  const prepare = async () => {
    for (const name of ['instances', 'places'])
      await mkdir(join(root, name), { recursive: true, mode: 0o700 })
  }

  return {
    pathOf,
    pathsTo: (instanceId) => [root, join(root, 'instances'), pathOf(instanceId)],
    create: async (instanceId, order) => {
      await prepare()
      return claim(pathOf(instanceId), { 'order.json': JSON.stringify(order) })
    },
    list: async () =>
      ((await readdir(join(root, 'instances')).catch(ignoreMissing)) ?? []).filter(isInstanceId),
    readOrderedAtMs: async (instanceId) =>
      (await readJson(instanceId, 'order.json', parseOrder))?.orderedAtMs ?? null,
    readPlacement: (instanceId) => readJson(instanceId, 'placement.json', parsePlacement),
    writePlacement: (placement) =>
      replace(join(pathOf(placement.order.instanceId), 'placement.json'), JSON.stringify(placement)),
    claimStart: (instanceId) => createOnce(join(pathOf(instanceId), 'started')),
    readStartedAtMs: async (instanceId) =>
      (await stat(join(pathOf(instanceId), 'started')).catch(ignoreMissing))?.mtimeMs ?? null,
    readPlan: (instanceId) => readJson(instanceId, 'plan.json', parsePlan),
    writePlan: (plan) => replace(join(pathOf(plan.instanceId), 'plan.json'), JSON.stringify(plan)),
    readState: (instanceId) => readJson(instanceId, 'state.json', parseState),
    writeState: (instanceId, state) => replace(join(pathOf(instanceId), 'state.json'), JSON.stringify(state)),
    requestStop: (instanceId) => createOnce(join(pathOf(instanceId), 'stop')),
    isStopRequested: async (instanceId) =>
      (await readFile(join(pathOf(instanceId), 'stop')).catch(ignoreMissing)) !== null,
    remove: (instanceId) => rm(pathOf(instanceId), { recursive: true, force: true }),
    take: async (name, instanceId) => claim(placeOf(name), { [instanceId]: '' }),
    release: async (name, instanceId) => {
      await unlink(join(placeOf(name), instanceId)).catch(ignoreMissing)
    },
    holderOf: async (name) => (await readdir(placeOf(name)).catch(ignoreMissing))?.[0] ?? null,
  }
}

/** Creates an empty file. Returns false if the file exists or its directory does not. */
async function createOnce(path: string): Promise<boolean> {
  try {
    await writeFile(path, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return false
    throw error
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function ignoreMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}
