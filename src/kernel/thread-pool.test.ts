import { expect, test } from 'vitest'
import { FairQueue } from './turns/fair-queue.ts'
import { ThreadPool } from './thread-pool.ts'

const SCRIPT = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (question) => {
    if (question === 'die') throw new Error('told to')
    while (question === 'hang');
    parentPort.postMessage('answer to ' + question)
  })
  parentPort.postMessage('ready')`

function createPool(ownerQuestionsMax = 100) {
  const script = new URL(
    `data:text/javascript,${encodeURIComponent(`import { createRequire } from 'node:module'
    const require = createRequire('file:///')
    ${SCRIPT}`)}`,
  )
  return new ThreadPool<string>({ script, threadsMax: 1, ownerQuestionsMax })
}

const UNHURRIED = 60_000

test('an owner with many questions delays another owner by one question at most', async () => {
  const pool = createPool()
  const answered: string[] = []
  const ask = async (owner: string, question: string) => {
    await pool.ask(question, { owner, timeMsMax: UNHURRIED })
    answered.push(owner)
  }
  const many = Array.from({ length: 50 }, (_, index) => ask('many', String(index)))
  await Promise.all([...many, ask('one', 'x')])
  expect(answered.indexOf('one')).toBeLessThanOrEqual(2)
  expect(answered).toHaveLength(51)
})

test('a question that hangs or crashes its thread is given up, and the next one is answered', async () => {
  const pool = createPool()
  const [hung, broke, next] = await Promise.all([
    pool.ask('hang', { owner: 'a', timeMsMax: 10 }),
    pool.ask('die', { owner: 'a', timeMsMax: UNHURRIED }),
    pool.ask('me', { owner: 'a', timeMsMax: UNHURRIED }),
  ])
  expect([hung, broke, next]).toEqual([undefined, undefined, 'answer to me'])
})

test('only a question that took too long is told to be late', async () => {
  const pool = createPool(3)
  const late: string[] = []
  const ask = (question: string, timeMsMax: number) =>
    pool.ask(question, { owner: 'a', timeMsMax, onTooLate: () => late.push(question) })
  await Promise.all([
    ask('hang', 10),
    ask('die', UNHURRIED),
    ask('me', UNHURRIED),
    ask('you', UNHURRIED),
    ask('one too many', 10),
  ])
  expect(late).toEqual(['hang'])
})

test('an owner with too many questions gets no answer, while others do', async () => {
  const pool = createPool(2)
  const ask = (owner: string) => pool.ask('q', { owner, timeMsMax: UNHURRIED })
  const answers = await Promise.all([ask('a'), ask('a'), ask('a'), ask('a'), ask('b')])
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(1)
  expect(answers.at(-1)).toBe('answer to q')
})

test('owners take turns, each in its own order', () => {
  const queue = new FairQueue<string>({ ownerItemsMax: 10 })
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) queue.add(item.slice(0, 1), item)
  const taken = Array.from({ length: 7 }, () => queue.take())
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined])
})
