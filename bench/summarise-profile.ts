/** Sums up a V8 CPU profile by file or package and by function. Standalone: `node bench/summarise-profile.ts <file>`. */
import { readFileSync } from 'node:fs'

const LINES_MAX = 25

export function summariseProfile({
  path,
  fromMicroseconds = 0,
  untilMicroseconds = Number.POSITIVE_INFINITY,
}: {
  path: string
  fromMicroseconds?: number
  untilMicroseconds?: number
}): string {
  const profile = parseProfile(readFileSync(path, 'utf8'))
  const selfMicroseconds = sumSelfTime(profile, { fromMicroseconds, untilMicroseconds })
  const byPlace = new Map<string, number>()
  const byFunction = new Map<string, number>()
  let busyMicroseconds = 0
  let idleMicroseconds = 0
  for (const { id, callFrame } of profile.nodes) {
    const self = selfMicroseconds.get(id) ?? 0
    if (callFrame.functionName === '(idle)') {
      idleMicroseconds += self
      continue
    }
    busyMicroseconds += self
    const place = namePlace(callFrame)
    const line = place.startsWith('(') ? '' : `  ${place}:${callFrame.lineNumber + 1}`
    add(byPlace, place, self)
    add(byFunction, `${callFrame.functionName || '(anonymous)'}${line}`, self)
  }
  const idleShare = (100 * idleMicroseconds) / Math.max(1, idleMicroseconds + busyMicroseconds)
  return [
    `idle ${idleShare.toFixed(1)} % of the time; the shares below are of the rest\n`,
    'by file or package',
    ...formatTop(byPlace, busyMicroseconds),
    '\nby function (self time)',
    ...formatTop(byFunction, busyMicroseconds),
  ].join('\n')
}

interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly startTime: number
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: CallFrame
}

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

function parseProfile(text: string): Profile {
  const profile: Profile = JSON.parse(text)
  if (
    !Array.isArray(profile.nodes) ||
    !Array.isArray(profile.samples) ||
    !Array.isArray(profile.timeDeltas)
  ) {
    throw new Error('this is not a V8 CPU profile')
  }
  return profile
}

function sumSelfTime(
  { samples, timeDeltas, startTime }: Profile,
  { fromMicroseconds, untilMicroseconds }: { fromMicroseconds: number; untilMicroseconds: number },
): Map<number, number> {
  const selfMicroseconds = new Map<number, number>()
  let atMicroseconds = startTime
  samples.forEach((nodeId, index) => {
    atMicroseconds += timeDeltas[index] ?? 0
    // A sample counts for the time until the next one.
    const lasts = Math.max(0, timeDeltas[index + 1] ?? 0)
    if (atMicroseconds >= fromMicroseconds && atMicroseconds < untilMicroseconds)
      add(selfMicroseconds, nodeId, lasts)
  })
  return selfMicroseconds
}

/** Names a file of this checkout by path, a dependency by package, Node's own code by module. */
function namePlace({ functionName, url }: CallFrame): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native code)'
  if (url.startsWith('node:')) return url
  const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  if (packageName !== undefined) return packageName
  const root = new URL('..', import.meta.url).href
  return url.startsWith(root) ? url.slice(root.length) : url
}

function add<Key>(totals: Map<Key, number>, key: Key, amount: number): void {
  totals.set(key, (totals.get(key) ?? 0) + amount)
}

function formatTop(totals: ReadonlyMap<string, number>, whole: number): string[] {
  return [...totals]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, LINES_MAX)
    .map(([name, amount]) => `${((100 * amount) / Math.max(1, whole)).toFixed(1).padStart(6)} %  ${name}`)
}

const [ownPath, profilePath] = process.argv.slice(1)
if (ownPath !== undefined && profilePath !== undefined && import.meta.filename === ownPath) {
  process.stdout.write(`${summariseProfile({ path: profilePath })}\n`)
}
