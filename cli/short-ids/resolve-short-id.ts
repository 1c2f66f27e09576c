import type { GatewayClient } from '../api/gateway-client.ts'
import { readJson } from '../api/read-body.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import type { IdKind } from './id-kinds.ts'

const DIGITS_MIN = 4
const DIGITS_OF_AN_ID = 32
const PAGES_MAX = 20
const PAGE_SIZE = 100
const CANDIDATES_SHOWN = 10
/** The first digits of an id are its time, in units of 65 seconds. */
const TIME_DIGITS = 8
const TIME_UNIT_MS = 65_536
/** Lists are sorted by time, which may differ from that of the id by some seconds. */
const TIME_MARGIN = 2

interface Entry {
  readonly id: string
  readonly [member: string]: unknown
}

interface ListPage {
  readonly data: readonly Entry[]
  readonly has_more?: boolean
  readonly next_cursor?: string | null
  readonly next?: string | null
  readonly last_id?: string | null
}

/** Whether a word is the beginning of an id of this kind, and not a whole one. */
export function isShortId(word: string, { prefix }: IdKind): boolean {
  const rest = word.startsWith(prefix) ? word.slice(prefix.length) : word
  const { length } = rest.replaceAll('-', '')
  return /^[0-9a-f][0-9a-f-]*$/i.test(rest) && length >= DIGITS_MIN && length < DIGITS_OF_AN_ID
}

/**
 * Returns the only id that begins with a word. Throws for none, for several, and if there are too many entries to be sure.
 */
export async function resolveShortId(gateway: GatewayClient, kind: IdKind, word: string): Promise<string> {
  const wanted = digitsOf(word, kind)
  const found: Entry[] = []
  let isComplete = true
  for (const path of await listPaths(gateway, kind, word)) {
    let isRead = false
    for await (const { data, isLast } of readPages(gateway, { ...kind, path }, wanted)) {
      found.push(...data.filter(({ id }) => digitsOf(id, kind).startsWith(wanted)))
      isRead = isLast || (kind.isNewestFirst === true && isPast(data.at(-1), wanted, kind))
      if (isRead) break
    }
    isComplete &&= isRead
  }
  if (found.length > 1) throw ambiguous(kind, word, found)
  if (!isComplete) throw unsure(kind, word)
  const [only] = found
  if (only === undefined)
    throw new CommandFailure(EXIT.notFound, `No id of the ${kind.things} begins with "${word}".`)
  return only.id
}

/** The lists that have the id: that of the kind, or those of all projects. */
async function listPaths(gateway: GatewayClient, kind: IdKind, word: string): Promise<string[]> {
  if (kind.isOfAnyProject !== true) return [kind.path]
  const projects: Entry[] = []
  for await (const { data, isLast } of readPages(gateway, PROJECTS, '')) {
    projects.push(...data)
    if (projects.length > PROJECTS_MAX) throw unsure(kind, word)
    if (isLast) break
  }
  return projects.map(({ id }) => kind.path.replace('{project}', encodeURIComponent(id)))
}

const PROJECTS = { things: 'projects', prefix: 'proj_', path: '/v1/organization/projects' }
/** Each is asked for its own list. */
const PROJECTS_MAX = 100

async function* readPages(
  gateway: GatewayClient,
  kind: IdKind,
  wanted: string,
): AsyncGenerator<{ data: readonly Entry[]; isLast: boolean }> {
  let after: string | null = null
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = new URLSearchParams({
      limit: String(PAGE_SIZE),
      ...(kind.isByTime === true && timeOf(wanted)),
      ...(after !== null && { after }),
    })
    const response = await gateway.send(`${kind.path}?${query.toString()}`, { method: 'GET' })
    const list = (await readJson(response)) as ListPage
    after = list.has_more === false ? null : (list.next_cursor ?? list.next ?? list.last_id ?? null)
    yield { data: list.data, isLast: after === null }
    if (after === null) return
  }
}

/** The time of all ids that begin with these digits, for a list that takes one. */
function timeOf(digits: string): { since?: string; until?: string } {
  if (digits.length < TIME_DIGITS) return {}
  const unit = Number.parseInt(digits.slice(0, TIME_DIGITS), 16)
  const at = (units: number): string => new Date(units * TIME_UNIT_MS).toISOString()
  return { since: at(unit - TIME_MARGIN), until: at(unit + TIME_MARGIN) }
}

function digitsOf(id: string, { prefix }: IdKind): string {
  return (id.startsWith(prefix) ? id.slice(prefix.length) : id).replaceAll('-', '').toLowerCase()
}

/** Whether all entries behind this one are older than any id that begins with the wanted digits. */
function isPast(last: Entry | undefined, wanted: string, kind: IdKind): boolean {
  if (last === undefined) return false
  const time = (digits: string): number => Number.parseInt(digits.slice(0, TIME_DIGITS), 16)
  return time(digitsOf(last.id, kind)) + TIME_MARGIN < time(wanted.padEnd(TIME_DIGITS, '0'))
}

function ambiguous({ things }: IdKind, word: string, found: readonly Entry[]): CommandFailure {
  const named = found.slice(0, CANDIDATES_SHOWN).map((entry) => `    ${describe(entry)}`)
  const others = found.length - named.length
  return new CommandFailure(
    EXIT.usage,
    `Several ${things} begin with "${word}":\n${named.join('\n')}${others > 0 ? `\n    and ${others} more` : ''}`,
    'Give more of the id.',
  )
}

function unsure({ things }: IdKind, word: string): CommandFailure {
  return new CommandFailure(
    EXIT.usage,
    `There are too many ${things} to look through, so that "${word}" may mean several.`,
    'Give the whole id.',
  )
}

const TELLING = ['name', 'filename', 'email', 'key_name', 'code', 'model', 'status'] as const

/** The id with what people know the entry by. */
function describe(entry: Entry): string {
  const told = TELLING.map((member) => entry[member]).find(
    (value): value is string => typeof value === 'string' && value !== '',
  )
  return told === undefined ? entry.id : `${entry.id}  ${told.replaceAll(/\s+/g, ' ')}`
}
