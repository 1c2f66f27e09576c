import { expect, test } from 'vitest'
import { LoadGate } from './load-gate.ts'

const TURN_MS_MAX = 50
const SLOW_MS = 200
const ROUTE = '/v1/chat/completions'

function startGate({ unitsMin = 10, turnMsMax = TURN_MS_MAX } = {}) {
  const running: string[] = []
  const heard: string[] = []
  let nowMs = 0
  const gate = new LoadGate({
    turnMsMax,
    unitsMin,
    listRunning: () => running,
    observer: {
      began: () => heard.push('began'),
      ended: (refused) => heard.push(`ended ${refused}`),
      refused: () => {},
    },
  })
  const turn = (turnMs: number, turns = 1): void => {
    for (let count = 0; count < turns; count += 1) {
      nowMs += 100
      gate.noteTurn(turnMs, nowMs)
    }
  }
  const begin = (accountId: string, requests: number): number => {
    let admitted = 0
    for (let count = 0; count < requests; count += 1)
      if (gate.admits(accountId, ROUTE)) {
        admitted += 1
        running.push(accountId)
      }
    return admitted
  }
  return { gate, running, heard, turn, begin }
}

test('nothing is refused while turns are short, and a single slow one changes nothing', () => {
  const { begin, turn } = startGate()
  expect(begin('busy', 5_000)).toBe(5_000)
  turn(SLOW_MS, 9)
  turn(1)
  turn(SLOW_MS, 9)
  expect(begin('busy', 5_000)).toBe(5_000)
})

test('in an overload a new account is admitted and the one with most is refused', () => {
  const { begin, turn, heard } = startGate()
  begin('busy', 5_000)
  turn(SLOW_MS, 10)
  expect(heard).toEqual(['began'])
  expect(begin('busy', 1)).toBe(0)
  expect(begin('quiet', 20)).toBe(20)
  expect(begin('busy', 100)).toBe(0)
})

test('two accounts that ask for more than there is get the same', () => {
  const { begin, turn, running } = startGate()
  const admitted = { first: 0, second: 0 }
  // 100 units a turn are more than this process can do, so turns get slow.
  for (let round = 0; round < 400; round += 1) {
    const before = running.length
    const first = begin('first', 500)
    const second = begin('second', 100)
    if (round >= 200) {
      admitted.first += first
      admitted.second += second
    }
    const isSlow = running.length - before > 60
    running.splice(0)
    turn(isSlow ? SLOW_MS : 1)
  }
  expect(admitted.first / admitted.second).toBeGreaterThan(0.8)
  expect(admitted.first / admitted.second).toBeLessThan(1.25)
})

test('few requests are never refused, however slow the process is', () => {
  const { begin, turn } = startGate({ unitsMin: 256 })
  begin('only', 100)
  turn(SLOW_MS, 50)
  expect(begin('only', 100)).toBe(100)
})

test('thousands of accounts with one request each are refused too', () => {
  const { begin, turn, running } = startGate({ unitsMin: 10 })
  for (let account = 0; account < 100; account += 1) begin(`account-${account}`, 1)
  turn(SLOW_MS, 10)
  running.splice(0)
  turn(SLOW_MS, 30)
  let admitted = 0
  for (let account = 0; account < 1_000; account += 1) admitted += begin(`new-${account}`, 1)
  expect(admitted).toBe(20)
})

test('it ends when turns are short and nobody is refused', () => {
  const { begin, turn, heard, running, gate } = startGate()
  begin('busy', 1_000)
  turn(SLOW_MS, 10)
  begin('busy', 7)
  expect(gate.isLimiting).toBe(true)
  running.splice(0)
  turn(1, 40)
  expect(heard).toEqual(['began', 'ended 7'])
  expect(gate.isLimiting).toBe(false)
  expect(begin('busy', 100)).toBe(100)
})

test('0 turns it off', () => {
  const { begin, turn } = startGate({ turnMsMax: 0 })
  begin('busy', 5_000)
  turn(10_000, 100)
  expect(begin('busy', 5_000)).toBe(5_000)
})
