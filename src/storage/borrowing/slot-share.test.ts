import { describe, expect, it } from 'vitest'
import { SlotShare } from './slot-share.ts'

const CAPACITY = 10

/** Creates a share; the test controls when the pool and the other processes answer. */
function startShare() {
  const asked = { visits: 0, recalls: 0 }
  let endRecall = () => {}
  let nowMs = 0
  const share = new SlotShare('a pool', CAPACITY, {
    visitSoon: () => void (asked.visits += 1),
    recall: () =>
      new Promise((resolve) => {
        asked.recalls += 1
        endRecall = resolve
      }),
    isTrusted: () => true,
  })
  const begin = () => share.beginVisit(nowMs)
  const end = (slots: number, lentInAll: number) => share.endVisit({ slots, lentInAll }, nowMs)
  return {
    share,
    asked,
    take: () => watch(share.take(CAPACITY, nowMs)),
    begin,
    end,
    visit: (slots: number, lentInAll: number) => {
      begin()
      end(slots, lentInAll)
    },
    endRecall: () => {
      endRecall()
      return tick()
    },
    wait: (durationMs: number) => void (nowMs += durationMs),
  }
}

function watch(taken: boolean | Promise<boolean>) {
  const watched: { isTaken: boolean | null } = { isTaken: null }
  void Promise.resolve(taken).then((isTaken) => void (watched.isTaken = isTaken))
  return watched
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

describe('a share of slots', () => {
  it('is refused only after the other processes have given back', async () => {
    const { take, visit, endRecall, asked } = startShare()
    const taker = take()
    visit(0, CAPACITY)
    await tick()
    expect([taker.isTaken, asked.recalls]).toEqual([null, 1])
    await endRecall()
    visit(0, CAPACITY)
    await tick()
    expect([taker.isTaken, asked.recalls]).toEqual([false, 1])
  })

  it('is refused at once when no other process has any', async () => {
    const { take, visit, asked } = startShare()
    const [first, second] = [take(), take()]
    visit(1, 1)
    await tick()
    expect([first.isTaken, second.isTaken, asked.recalls]).toEqual([true, false, 0])
  })

  it('waits for what is being given back, also when it is asked for later', async () => {
    const { take, visit, endRecall, asked } = startShare()
    const early = take()
    visit(0, CAPACITY)
    const late = take()
    visit(0, CAPACITY)
    await tick()
    expect([early.isTaken, late.isTaken]).toEqual([null, null])
    await endRecall()
    visit(2, CAPACITY)
    await tick()
    expect([early.isTaken, late.isTaken, asked.recalls]).toEqual([true, true, 1])
  })

  it('asks once more if its visit may have missed slots that were just given back', async () => {
    const { take, visit, begin, end, endRecall, asked } = startShare()
    const taker = take()
    visit(0, CAPACITY)
    begin()
    await endRecall()
    const { visits } = asked
    end(0, CAPACITY)
    await tick()
    expect([taker.isTaken, asked.visits]).toEqual([null, visits + 1])
    visit(1, CAPACITY)
    await tick()
    expect(taker.isTaken).toBe(true)
  })

  it('serves a request that waits for a recall as soon as a slot is free here', async () => {
    const { share, take, visit } = startShare()
    take()
    visit(1, CAPACITY)
    const taker = take()
    visit(1, CAPACITY)
    share.release()
    await tick()
    expect(taker.isTaken).toBe(true)
  })

  it('sends no further recall while one is running', async () => {
    const { take, visit, asked } = startShare()
    take()
    visit(0, CAPACITY)
    visit(0, CAPACITY)
    visit(0, CAPACITY)
    expect(asked).toEqual({ visits: 1, recalls: 1 })
  })

  it('recalls at most a few times a second', async () => {
    const { take, visit, endRecall, wait, asked } = startShare()
    for (const [pauseMs, recalls] of [
      [0, 1],
      [100, 1],
      [150, 2],
    ] as const) {
      wait(pauseMs)
      take()
      visit(0, CAPACITY)
      await endRecall()
      visit(0, CAPACITY)
      expect(asked.recalls).toBe(recalls)
    }
  })
})
