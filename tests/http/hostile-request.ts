import type { SeededRandom } from '../../src/kernel/seeded-random.ts'

/** The parts of an OpenAPI operation that are needed to build requests. */
export interface FuzzedOperation {
  readonly method: string
  /** The path with its parameters as `{id}`. */
  readonly template: string
  readonly query: readonly string[]
  /** The members in the schema of the body. */
  readonly members: readonly string[]
  readonly example: unknown
  readonly takesForm: boolean
}

export interface HostileRequest {
  readonly path: string
  readonly body: string | FormData | undefined
}

const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

/** JSON text instead of values, because some of it cannot be represented as a JavaScript value. */
const HOSTILE_JSON: readonly string[] = [
  'null',
  'true',
  '-1',
  '0',
  '0.5',
  '1e400',
  '-1e400',
  '9007199254740993',
  '123456789012345678901234567890',
  '""',
  '" "',
  String.raw`"a\u0000b"`,
  String.raw`"\ud83d"`,
  String.raw`"\ude00\ud83d"`,
  String.raw`"\u202e\ufeff\uffff"`,
  String.raw`"\r\nset-cookie: a=b"`,
  `"'; DROP TABLE accounts; --"`,
  `"../../etc/passwd"`,
  `"http://127.0.0.1:1/"`,
  `"data:image/png;base64,AAAA"`,
  `"9999-99-99T99:99:99Z"`,
  `"+275760-09-13T00:00:00Z"`,
  `"${'x'.repeat(100_000)}"`,
  `"${'é'.repeat(20_000)}"`,
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
  `[${'0,'.repeat(5_000)}0]`,
  `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":${index}`).join()}}`,
  deep(90),
  deep(5_000),
]

const ODD_VALUES: readonly string[] = [
  '',
  '%00',
  '%ED%A0%80',
  '%FF',
  '%',
  'true',
  '0x5',
  '1e1',
  '-1',
  '99999999999999999999',
  '%F0%9F%98%80',
  '..%2F..%2F',
  'a'.repeat(3_000),
  '00000000-0000-0000-0000-000000000000',
  '2026-13-45',
  '2026-01-01T00:00:00Z',
  '%0d%0aa:b',
  "'%20OR%201=1",
]

/** Builds a request that is nearly valid, or very invalid. `ids` belong to another account. */
export function makeHostileRequest(
  operation: FuzzedOperation,
  random: SeededRandom,
  ids: readonly string[],
): HostileRequest {
  const pick = <Item>(items: readonly Item[], otherwise: Item): Item =>
    items[random.below(items.length)] ?? otherwise
  const path = operation.template.replaceAll(/\{\w+\}/g, () =>
    random.next() < 0.5 ? pick(ids, 'x') : encodeOdd(pick(ODD_VALUES, 'x')),
  )
  const query = operation.query
    .filter(() => random.next() < 0.5)
    .map((name) => `${name}=${pick(ODD_VALUES, '')}`)
  if (random.next() < 0.2) query.push(`${pick(ODD_VALUES, 'x')}=${pick(ODD_VALUES, 'x')}`)
  const hasBody = operation.example !== undefined || operation.members.length > 0
  const target = path + (query.length > 0 ? `?${query.join('&')}` : '')
  if (!hasBody || operation.method === 'GET') return { path: target, body: undefined }
  if (operation.takesForm && random.next() < 0.3)
    return { path: target, body: makeForm(operation, random, pick) }
  return { path: target, body: makeBody(operation, random, pick) }
}

type Pick = <Item>(items: readonly Item[], otherwise: Item) => Item

// An empty path segment would make it another path.
function encodeOdd(value: string): string {
  return value === '' ? '%20' : value
}

function makeBody({ example, members }: FuzzedOperation, random: SeededRandom, pick: Pick): string {
  if (random.next() < 0.1) return pick(HOSTILE_JSON, '')
  const marks: string[] = []
  const mark = (): string => `@hostile:${marks.push(pick(HOSTILE_JSON, 'null')) - 1}@`
  // Damage at most one place of the example, and sometimes set a member of the schema to a hostile value.
  const places = countPlaces(example)
  const at = random.below(places + 1)
  let visited = 0
  const damage = (value: unknown): unknown => {
    visited += 1
    if (visited - 1 === at) return mark()
    if (Array.isArray(value)) return value.map(damage)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, damage(inner)]))
  }
  const damaged = damage(example ?? {})
  if (typeof damaged === 'object' && damaged !== null && !Array.isArray(damaged) && random.next() < 0.6)
    Object.assign(damaged, { [pick(members, 'metadata')]: mark() })
  const text = JSON.stringify(damaged)
  return text.replaceAll(/"@hostile:(\d+)@"/g, (_, index: string) => marks[Number(index)] ?? 'null')
}

function countPlaces(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, inner) => sum + countPlaces(inner), 1)
}

function makeForm({ members }: FuzzedOperation, random: SeededRandom, pick: Pick): FormData {
  const form = new FormData()
  for (const name of members) {
    const value = pick(HOSTILE_JSON, 'null')
    if (random.next() < 0.7) form.set(name, value.startsWith('"') ? value.slice(1, -1) : value)
  }
  const bytes = Uint8Array.from({ length: random.below(4_000) }, () => random.below(256))
  for (const name of ['file', 'image', 'mask', 'image[]'])
    if (random.next() < 0.5) form.append(name, new Blob([bytes]), pick(ODD_VALUES, 'a.png'))
  return form
}
