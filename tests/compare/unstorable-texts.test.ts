import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { waitForTask } from '../generation/wait-for-task.ts'
import { chunk, chunksOf, completion, failure, stream } from '../upstreams/openai-server.ts'
import { speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, waitForRun } from './wait-for-run.ts'

/** A text that PostgreSQL cannot store. */
const HOSTILE = 'a\u0000b\ud83dc'
const KEPT = 'a\ufffdb\ufffdc'
const TOOL_CALL = {
  index: 0,
  id: HOSTILE,
  type: 'function',
  function: { name: HOSTILE, arguments: HOSTILE },
}

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'broken'])
})

afterAll(() => gateway.close())

function answerBadly(): void {
  const chunks = chunksOf(HOSTILE)
  const calls = [chunk({ delta: { reasoning_content: HOSTILE, tool_calls: [TOOL_CALL] } }), ...chunks]
  gateway.upstream.respondWith(
    speakers({ red: () => HOSTILE, blue: stream(calls), broken: failure(400, { message: HOSTILE }) }),
  )
}

test('cells of a run store an answer, a tool call and an error with invalid characters replaced', async () => {
  answerBadly()
  const { id } = await makeRun(gateway, {
    prompts: ['one'],
    lanes: [{ model: 'red' }, { model: 'blue' }, { model: 'broken' }],
  })
  expect((await waitForRun(gateway, id)).status).toBe('completed')
  const cells = await readCells(gateway, id)
  const cellOf = (model: string) => cells.find((cell) => cell.model === model)
  expect(cellOf('red')).toMatchObject({ status: 'completed', output: KEPT })
  expect(cellOf('blue')).toMatchObject({
    status: 'completed',
    reasoning: KEPT,
    tool_calls: [{ id: KEPT, function: { name: KEPT, arguments: KEPT } }],
  })
  expect(cells.filter(({ status }) => status === 'failed')).toHaveLength(1)
})

test('a turn of a conversation is stored, and sent with the next turn', async () => {
  answerBadly()
  const { body: conversation } = await gateway.request('POST', '/v1/compare/conversations', {
    body: { models: ['red', 'blue', 'broken'] },
  })
  const turns = `/v1/compare/conversations/${conversation.id}/turns`
  for (const index of [0, 1])
    expect(await gateway.request('POST', turns, { body: { content: 'Hi' } })).toMatchObject({
      status: 200,
      body: { index },
    })
  const { status, body } = await gateway.request('GET', `/v1/compare/conversations/${conversation.id}`)
  expect([status, JSON.stringify(body).includes(KEPT)]).toEqual([200, true])
})

test('an answer with an idempotency key is replayed unchanged', async () => {
  gateway.upstream.respondWith(completion({ message: { content: HOSTILE } }))
  const ask = () =>
    gateway.request('POST', '/v1/chat/completions', {
      headers: { 'idempotency-key': 'hostile' },
      body: { model: 'red', messages: [{ role: 'user', content: 'Hi' }] },
    })
  const first = await ask()
  const again = await ask()
  expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true'])
  expect(again.body).toEqual(first.body)
  expect(first.body.choices[0].message.content).toBe(HOSTILE)
})

test('a task ends with the error of its upstream', async () => {
  gateway.upstream.respondWith(failure(400, { message: HOSTILE }))
  const { status, body } = await gateway.request('POST', '/v1/images/generations', {
    headers: { prefer: 'respond-async' },
    body: { model: 'gpt-image-1.5', prompt: 'a house' },
  })
  expect(status).toBe(202)
  const task = await waitForTask(gateway, body.id)
  expect([task.status, task.error.message.includes(KEPT)]).toEqual(['failed', true])
})
