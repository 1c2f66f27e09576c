import {
  JSON_DEPTH_MAX,
  JSON_ITEMS_MAX,
  JSON_MEMBERS_MAX,
  JSON_RUN_LENGTH_MAX,
  JsonExcess,
  partsMaxOf,
} from './json-limits.ts'
import { nextLoopTurn } from '../turns/loop-turns.ts'
import { findQuote, LongJsonString, unexpected } from './long-json-string.ts'
import { parseJson } from './parse-json.ts'

/** How long the event loop is held before other work gets its turn. */
const TURN_MS_MAX = 2
/** Longer texts are parsed in turns, so that they do not delay other requests. */
export const AT_ONCE_LENGTH_MAX = 256 * 1024
/** Values and characters between two looks at the time. */
const VALUES_PER_LOOK = 128
const LENGTH_PER_LOOK = 256 * 1024

interface TurnLimits {
  /** Objects, arrays and members, because later steps of a request read all of them at once. */
  readonly partsMax: number
  /** Items of all arrays. Numbers and short texts are much cheaper than objects: token ids are long lists of them. */
  readonly itemsMax: number
}

const CLIENT_LIMITS: TurnLimits = { partsMax: 100_000, itemsMax: 500_000 }
/** For texts that were accepted before, or come from an upstream. */
const WIDE_LIMITS: TurnLimits = { partsMax: Number.POSITIVE_INFINITY, itemsMax: JSON_ITEMS_MAX }

interface ParseOptions {
  readonly checkText?: CheckText
  readonly limits?: TurnLimits
}

/**
 * Parses a large JSON text of a client like `parseJson`, with lower limits, in short turns: `JSON.parse` would hold the event
 * loop for the whole text. Strings are as fast as there, other values several times slower.
 */
export async function parseJsonInTurns(
  text: string,
  { checkText = () => {}, limits = CLIENT_LIMITS }: ParseOptions = {},
): Promise<ParsedJson> {
  const reader = new JsonReader(text, checkText, limits)
  while (!reader.isDone) {
    await nextLoopTurn()
    const endMs = performance.now() + TURN_MS_MAX
    do reader.advance()
    while (!reader.isDone && performance.now() < endMs)
  }
  const { result: value, memoryBytes, repeatedMember } = reader
  return { value, memoryBytes, repeatedMember }
}

/** Parses a JSON text that is not a client's, with the limits of `parseJson`: in turns if it is large. */
export async function parseLargeJson(text: string): Promise<unknown> {
  if (text.length <= AT_ONCE_LENGTH_MAX) return parseJson(text)
  return (await parseJsonInTurns(text, { limits: WIDE_LIMITS })).value
}

/** Called with every string and every name. Throws to refuse it. `path` leads to the string, or to the object of the name. */
export type CheckText = (text: string, path: () => string[]) => void

interface ParsedJson {
  readonly value: unknown
  /** An upper estimate of the memory of the value without its strings. */
  readonly memoryBytes: number
  /** The first name that occurs twice in one object, or null. */
  readonly repeatedMember: string | null
}

const BYTES_PER_PART = 80
const BYTES_PER_ITEM = 32

/** An object or array whose end has not been read. */
interface OpenContainer {
  /** Null for an array. */
  readonly object: Record<string, unknown> | null
  /** Where the items of an array begin in the list of items. */
  readonly start: number
  count: number
  /** The name of the member whose value comes next. */
  name: string
}

/** Reads a JSON text value by value. */
class JsonReader {
  result: unknown = undefined
  isDone = false
  repeatedMember: string | null = null
  readonly #text: string
  readonly #partsMax: number
  readonly #itemsMax: number
  readonly #checkText: CheckText
  readonly #open: OpenContainer[] = []
  /** The items of all open arrays, so that an array is made in its final size. A growing one takes more memory. */
  readonly #held: unknown[] = []
  #at = 0
  #parts = 0
  #items = 0
  /** A long string that is being decoded. */
  #longString: LongJsonString | null = null

  constructor(text: string, checkText: CheckText, { partsMax, itemsMax }: TurnLimits) {
    this.#text = text
    this.#checkText = checkText
    this.#partsMax = Math.min(partsMax, partsMaxOf(text.length))
    this.#itemsMax = itemsMax
  }

  get memoryBytes(): number {
    return this.#parts * BYTES_PER_PART + this.#items * BYTES_PER_ITEM
  }

  /** Reads a few values, or one piece of a long string. */
  advance(): void {
    const lookAt = this.#at + LENGTH_PER_LOOK
    for (let count = 0; count < VALUES_PER_LOOK && this.#at < lookAt && !this.isDone; count += 1) {
      if (this.#longString === null) this.#readValue()
      if (this.#longString === null) continue
      const end = this.#longString.readPiece()
      if (end === null) return
      const value = this.#longString.join()
      this.#longString = null
      this.#at = end + 1
      this.#accept(value)
    }
  }

  #readValue(): void {
    const start = this.#skipSpace()
    const first = this.#text[start]
    if (first === '{') this.#enter({}, '}')
    else if (first === '[') this.#enter(null, ']')
    else if (first === '"') {
      const end = findQuote(this.#text, start + 1)
      if (end === null) this.#longString = new LongJsonString(this.#text, start + 1)
      else this.#acceptText(start, end + 1)
    } else {
      SCALAR.lastIndex = start
      SCALAR.test(this.#text)
      if (SCALAR.lastIndex - start === JSON_RUN_LENGTH_MAX) throw new JsonExcess('run')
      this.#acceptText(start, SCALAR.lastIndex)
    }
  }

  /** Parses a string, a number or a literal. */
  #acceptText(start: number, end: number): void {
    this.#at = end
    this.#accept(JSON.parse(this.#text.slice(start, end)))
  }

  #enter(object: OpenContainer['object'], closing: string): void {
    this.#at += 1
    this.#countPart()
    this.#open.push({ object, start: this.#held.length, count: 0, name: '' })
    if (this.#open.length > JSON_DEPTH_MAX) throw new JsonExcess('depth')
    if (this.#text[this.#skipSpace()] === closing) this.#leave()
    else if (object !== null) this.#readName()
  }

  #leave(): void {
    this.#at += 1
    const { object = null, start = 0 } = this.#open.pop() ?? {}
    this.#accept(object ?? this.#held.splice(start))
  }

  #readName(): void {
    const start = this.#skipSpace()
    if (this.#text[start] !== '"') throw unexpected(this.#text, start)
    const end = findQuote(this.#text, start + 1)
    if (end === null) throw new JsonExcess('members')
    this.#at = end + 1
    const name: unknown = JSON.parse(this.#text.slice(start, end + 1))
    const colon = this.#skipSpace()
    if (this.#text[colon] !== ':') throw unexpected(this.#text, colon)
    this.#at = colon + 1
    this.#countPart()
    const open = this.#open.at(-1)
    if (open === undefined || typeof name !== 'string') throw unexpected(this.#text, start)
    this.#checkText(name, () => this.#path().slice(0, -1))
    if (open.object !== null && Object.hasOwn(open.object, name)) this.repeatedMember ??= name
    open.name = name
    open.count += 1
    if (open.count > JSON_MEMBERS_MAX) throw new JsonExcess('members')
  }

  /** Puts a complete value where it belongs, and reads up to the next one. */
  #accept(value: unknown): void {
    const open = this.#open.at(-1)
    const next = this.#skipSpace()
    if (typeof value === 'string') this.#checkText(value, () => this.#path())
    if (open === undefined) {
      if (next < this.#text.length) throw unexpected(this.#text, next)
      this.result = value
      this.isDone = true
      return
    }
    const isArray = open.object === null
    if (open.object === null) this.#held.push(value)
    else setMember(open.object, open.name, value)
    if (this.#text[next] === ',') {
      this.#at = next + 1
      this.#items += 1
      if (this.#items > this.#itemsMax) throw new JsonExcess('values')
      if (!isArray) this.#readName()
    } else if (this.#text[next] === (isArray ? ']' : '}')) this.#leave()
    else throw unexpected(this.#text, next)
  }

  #path(): string[] {
    return this.#open.map(({ object, name, start }, depth) => {
      const end = this.#open[depth + 1]?.start ?? this.#held.length
      return object === null ? String(end - start) : name
    })
  }

  #countPart(): void {
    this.#parts += 1
    if (this.#parts > this.#partsMax) throw new JsonExcess('values')
  }

  #skipSpace(): number {
    if (isSpace(this.#text.charCodeAt(this.#at))) {
      SPACES.lastIndex = this.#at
      SPACES.test(this.#text)
      if (SPACES.lastIndex - this.#at === JSON_RUN_LENGTH_MAX) throw new JsonExcess('run')
      this.#at = SPACES.lastIndex
    }
    return this.#at
  }
}

// Regular expressions, because they read long runs several times faster than a loop.
const SPACES = new RegExp(`[ \\t\\n\\r]{0,${JSON_RUN_LENGTH_MAX}}`, 'y')
/** A number, `true`, `false` or `null`, up to the character that must follow. */
const SCALAR = new RegExp(`[^,\\]} \\t\\n\\r]{0,${JSON_RUN_LENGTH_MAX}}`, 'y')

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
