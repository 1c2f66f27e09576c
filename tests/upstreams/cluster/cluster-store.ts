import { randomUUID } from 'node:crypto'
import { isRecord } from '../../../src/kernel/is-record.ts'

export type Json = Record<string, unknown>

interface StoredObject {
  readonly value: Json
  /** Per manager, the fields that it has applied: a path as JSON, and the value. */
  readonly managers: Map<string, ReadonlyMap<string, unknown>>
}

interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly collection: string
  readonly version: number
  readonly object: Json
}

/** An error that is sent as a Status object. */
export class StoreError extends Error {
  readonly code: number
  readonly reason: string

  constructor(code: number, reason: string, message: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

/** Stores objects with versions and an event history. Supports server-side apply with field owners. */
export class ClusterStore {
  readonly #objects = new Map<string, StoredObject>()
  readonly #listeners = new Set<(event: StoreEvent) => void>()
  #events: StoreEvent[] = []
  #version = 1
  #oldest = 0

  get version(): number {
    return this.#version
  }

  get(collection: string, name: string): Json | null {
    return this.#objects.get(`${collection}/${name}`)?.value ?? null
  }

  list(collection: string): Json[] {
    return [...this.#objects]
      .filter(([path]) => path.startsWith(`${collection}/`))
      .map(([, { value }]) => value)
  }

  /** Returns the events after a version. Throws 410 if the version is too old. */
  since(collection: string, version: number): StoreEvent[] {
    if (version < this.#oldest) throw new StoreError(410, 'Expired', 'too old resource version')
    return this.#events.filter((event) => event.collection === collection && event.version > version)
  }

  listen(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Deletes all events, as a server does after some time. */
  compact(): void {
    this.#events = []
    this.#oldest = this.#version
  }

  apply(
    path: { collection: string; name: string },
    given: Json,
    by: { manager: string; isForced: boolean },
  ): Json {
    const { collection, name } = path
    const known = this.#objects.get(`${collection}/${name}`)
    const fields = fieldsOf(given)
    const uid = read(given, 'metadata', 'uid')
    if (uid !== undefined && uid !== uidOf(known)) throw new StoreError(409, 'Conflict', 'uid mismatch')
    if (known === undefined && collection === 'deployments' && read(given, 'spec', 'selector') === undefined)
      throw new StoreError(422, 'Invalid', 'spec.selector: Required value')
    const managers = new Map(known?.managers)
    for (const [manager, owned] of managers) {
      if (manager === by.manager) continue
      const clashes = [...fields].filter(
        ([field, value]) => owned.has(field) && !isSame(owned.get(field), value),
      )
      if (clashes.length > 0 && !by.isForced)
        throw new StoreError(
          409,
          'Conflict',
          `Apply failed with conflict with "${manager}": ${clashes[0]?.[0]}`,
        )
      const lost = new Set(clashes.map(([field]) => field))
      managers.set(manager, new Map([...owned].filter(([field]) => !lost.has(field))))
    }
    const value = structuredClone(known?.value ?? {})
    const others = [...managers].filter(([manager]) => manager !== by.manager).map(([, owned]) => owned)
    for (const field of managers.get(by.manager)?.keys() ?? [])
      if (!fields.has(field) && !others.some((owned) => owned.has(field)))
        write(value, JSON.parse(field), undefined)
    for (const [field, one] of fields) write(value, JSON.parse(field), one)
    managers.set(by.manager, fields)
    return this.#put(path, value, managers)
  }

  /** Changes an object like a controller, without server-side apply. */
  update(collection: string, name: string, change: (value: Json) => void): void {
    const known = this.#objects.get(`${collection}/${name}`)
    if (known === undefined) return
    const value = structuredClone(known.value)
    change(value)
    if (!isSame(value, known.value)) this.#put({ collection, name }, value, known.managers)
  }

  create(collection: string, name: string, value: Json): void {
    this.#put({ collection, name }, structuredClone(value), new Map())
  }

  /** Deletes an object and the objects that it owns. */
  delete(collection: string, name: string): boolean {
    const known = this.#objects.get(`${collection}/${name}`)
    if (known === undefined) return false
    this.#objects.delete(`${collection}/${name}`)
    this.#version += 1
    this.#tell('DELETED', collection, known.value)
    for (const [path, { value }] of this.#objects) {
      const owners = read(value, 'metadata', 'ownerReferences')
      const isOwned = Array.isArray(owners) && owners.some((owner) => owner.uid === uidOf(known))
      const [other = '', otherName = ''] = path.split('/')
      if (isOwned) this.delete(other, otherName)
    }
    return true
  }

  #put(path: { collection: string; name: string }, value: Json, managers: StoredObject['managers']): Json {
    const { collection, name } = path
    const known = this.#objects.get(`${collection}/${name}`)
    const isSpecSame = isSame(known?.value['spec'], value['spec'])
    this.#version += 1
    write(value, ['metadata', 'name'], name)
    write(value, ['metadata', 'uid'], uidOf(known) ?? randomUUID())
    write(
      value,
      ['metadata', 'creationTimestamp'],
      read(value, 'metadata', 'creationTimestamp') ?? new Date().toISOString(),
    )
    write(value, ['metadata', 'resourceVersion'], String(this.#version))
    write(
      value,
      ['metadata', 'generation'],
      Number(read(value, 'metadata', 'generation') ?? 0) + (isSpecSame ? 0 : 1),
    )
    this.#objects.set(`${collection}/${name}`, { value, managers })
    this.#tell(known === undefined ? 'ADDED' : 'MODIFIED', collection, value)
    return value
  }

  #tell(type: StoreEvent['type'], collection: string, value: Json): void {
    const object = structuredClone(value)
    write(object, ['metadata', 'resourceVersion'], String(this.#version))
    const event = { type, collection, version: this.#version, object }
    this.#events.push(event)
    for (const listener of this.#listeners) listener(event)
  }
}

function uidOf(object: StoredObject | undefined): unknown {
  return object === undefined ? undefined : read(object.value, 'metadata', 'uid')
}

export function read(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, step) => (isRecord(found) ? found[step] : undefined), value)
}

export function write(value: Json, path: readonly string[], member: unknown): void {
  let parent = value
  for (const step of path.slice(0, -1)) {
    const next = parent[step]
    const child = isRecord(next) ? next : {}
    parent[step] = child
    parent = child
  }
  const last = path.at(-1) ?? ''
  if (member === undefined) delete parent[last]
  else parent[last] = member
}

/** Returns the leaf fields of an object. A list is one leaf. */
function fieldsOf(value: Json, path: readonly string[] = []): Map<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const [name, member] of Object.entries(value)) {
    const here = [...path, name]
    if (isRecord(member) && Object.keys(member).length > 0)
      for (const [field, leaf] of fieldsOf(member, here)) fields.set(field, leaf)
    else fields.set(JSON.stringify(here), member)
  }
  return fields
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
