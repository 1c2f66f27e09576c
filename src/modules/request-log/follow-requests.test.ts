import { expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { followRequests, type EndedRequests } from './follow-requests.ts'
import type { LogPage, LogQuery } from './list-entries.ts'
import type { LogEntry } from './log-entry.ts'

const START_MS = Date.UTC(2030, 0, 1)
const QUERY = { accountId: null, projectId: null, ownKeyId: null, filter: { model: 'followed' } }

/** A log in memory, and time that passes while somebody waits. */
function setStage() {
  let nowMs = START_MS
  let isOpen = true
  const entries: LogEntry[] = []
  const asked: LogQuery[] = []
  const pauses: number[] = []
  let lookMs = 0
  const list = async (query: LogQuery): Promise<LogPage> => {
    asked.push(query)
    nowMs += lookMs
    const { range, page } = query
    const found = entries
      .filter(({ createdAtMs }) => createdAtMs >= range.fromMs && createdAtMs < range.toMs)
      .filter(({ id }) => page.afterId === null || id < page.afterId)
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    const some = found.slice(0, page.limit)
    return { entries: some, nextCursor: found.length > page.limit ? (some.at(-1)?.id ?? null) : null }
  }
  const following = followRequests(QUERY, list, {
    nowMs: () => nowMs,
    toldMax: 1_000,
    pause: async (milliseconds) => {
      pauses.push(milliseconds)
      nowMs += milliseconds
      return isOpen
    },
  })
  return {
    asked,
    pauses,
    /** A request that ends now and began earlier. */
    end: (name: string, agoMs = 0) => {
      const createdAtMs = nowMs - agoMs
      entries.push({ id: createId(createdAtMs), keyName: name, createdAtMs } as LogEntry)
    },
    slowDown: (milliseconds: number) => void (lookMs = milliseconds),
    close: () => void (isOpen = false),
    next: async () => {
      const { value, done } = await following.next()
      return done === true ? null : namesOf(value)
    },
    nextWhole: async (): Promise<EndedRequests> => {
      const { value, done } = await following.next()
      if (done === true) throw new Error('the stream ended')
      return value
    },
  }
}

const namesOf = ({ entries }: EndedRequests) => entries.map(({ keyName }) => keyName)

test('a stream begins with the last requests and goes on with each that ends, once and oldest first', async () => {
  const stage = setStage()
  stage.end('first', 2_000)
  stage.end('second', 1_000)
  expect(await stage.next()).toEqual(['first', 'second'])
  stage.end('third', 100)
  stage.end('fourth')
  expect(await stage.next()).toEqual(['third', 'fourth'])
  stage.end('fifth')
  expect(await stage.next()).toEqual(['fifth'])
  stage.close()
  expect(await stage.next()).toBeNull()
  for (const { filter, requestUuid } of stage.asked)
    expect([filter, requestUuid]).toEqual([QUERY.filter, null])
})

test('a request that took minutes is told when it ends, also behind those that began later', async () => {
  const stage = setStage()
  stage.end('quick')
  expect(await stage.next()).toEqual(['quick'])
  stage.end('slow', 10 * 60_000)
  stage.end('later')
  expect(await stage.next()).toEqual(['slow', 'later'])
})

test('what the first look did not reach is not told as new', async () => {
  const stage = setStage()
  for (let index = 0; index < 150; index += 1) stage.end(`old ${index}`, 200_000 - index * 1_000)
  expect((await stage.next())?.length).toBe(100)
  stage.end('new')
  expect(await stage.next()).toEqual(['new'])
})

test('a look that is full says so, and reads no more than five pages', async () => {
  const stage = setStage()
  expect(await stage.next()).toEqual([])
  for (let index = 0; index < 700; index += 1) stage.end(`${index}`, 700 - index)
  const before = stage.asked.length
  const { entries, isCut } = await stage.nextWhole()
  expect([entries.length, isCut, stage.asked.length - before]).toEqual([500, true, 5])
})

test('silence is told every fifteen seconds, so that a connection that is gone is noticed', async () => {
  const stage = setStage()
  expect(await stage.next()).toEqual([])
  expect(await stage.next()).toEqual([])
  expect(stage.pauses).toEqual(Array.from({ length: 15 }, () => 1_000))
})

test('looks that are slow come less often, so that they take a tenth of the time', async () => {
  const stage = setStage()
  stage.slowDown(3_000)
  await stage.next()
  for (const name of ['one', 'two']) {
    stage.end(name)
    expect(await stage.next()).toEqual([name])
  }
  expect(stage.pauses.slice(0, 2)).toEqual([1_000, 30_000])
})

test('requests that are remembered are bounded: later ones are still told, and none twice', async () => {
  const stage = setStage()
  expect(await stage.next()).toEqual([])
  const told = new Map<string | null, number>()
  for (let round = 0; round < 8; round += 1) {
    for (let index = 0; index < 200; index += 1) stage.end(`${round}/${index}`, 200 - index)
    for (const name of (await stage.next()) ?? []) told.set(name, (told.get(name) ?? 0) + 1)
  }
  expect([...told.values()].every((times) => times === 1)).toBe(true)
  stage.end('last')
  expect(await stage.next()).toEqual(['last'])
})
