import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRequestId } from '../../kernel/identifiers.ts'
import { responseIdOf } from '../../wires/openai-responses/response-id.ts'
import { createTaskStage, orderOf, type TaskStage } from '../tasks/testing/task-stage.ts'
import { EventRecorder } from './event-recorder.ts'

let stage: TaskStage
let recorder: EventRecorder
let announced: string[]
let givenUp: number

const DELTA = Buffer.from('{"type":"response.output_text.delta"}')
const END = Buffer.from('{"type":"response.completed","response":{"status":"completed","output":[]}}')

class ClaimLost extends Error {}

beforeEach(async () => {
  stage = await createTaskStage()
  announced = []
  givenUp = 0
  const { accountId, ...caller } = await stage.createCaller(1)
  const requestId = createRequestId(Date.now())
  const responseId = responseIdOf(requestId)
  await stage.database.query(
    `INSERT INTO responses (account_id, id, input, response, item_ids, is_background, expires_at)
     VALUES ($1, $2, '[]', '{}', '{}', true, now() + interval '1 day')`,
    [accountId, responseId],
  )
  await stage.tasks.create(orderOf({ accountId, ...caller }, { requestId, type: 'response' }))
  const [claim] = await stage.queue.claim(1)
  const giveUp = () => {
    givenUp += 1
    return Promise.reject(new ClaimLost())
  }
  recorder = new EventRecorder(
    { database: stage.database, changes: { announce: (id) => void announced.push(id) }, giveUp },
    { accountId, responseId, workerId: claim?.workerId ?? '', isStreamed: true },
  )
})

afterEach(async () => {
  recorder.stop()
  await stage.close()
})

const loseClaim = () => stage.database.query('UPDATE tasks SET worker_id = gen_random_uuid()')

const readAll = async () => ({
  events: (await stage.database.query<{ events: string }>('SELECT events FROM response_events')).map(
    ({ events }) => events,
  ),
  responses: (await stage.database.query<{ response: string }>('SELECT response FROM responses')).map(
    ({ response }) => response,
  ),
})

const PATIENCE = { timeout: 15_000 }
/** More events than the recorder buffers. */
const BURST = Array.from({ length: 2_000 }, () => DELTA)

test('a worker whose claim another worker has writes no events and announces none', async () => {
  await loseClaim()
  await expect(recorder.add(BURST)).rejects.toThrow(ClaimLost)
  expect(recorder.hasTold).toBe(false)
  expect(await readAll()).toEqual({ events: [], responses: ['{}'] })
  expect(announced).toEqual([])
})

test('a worker whose claim another worker has writes no answer', async () => {
  await recorder.add([DELTA, END])
  await loseClaim()
  await expect(recorder.finish()).rejects.toThrow(ClaimLost)
  expect(await readAll()).toEqual({ events: [], responses: ['{}'] })
})

test('a worker with its claim writes the answer with the last events', async () => {
  await recorder.add(BURST)
  expect(recorder.hasTold).toBe(true)
  await recorder.add([END])
  await recorder.finish()
  const { events, responses } = await readAll()
  expect(events.join('\n').split('\n')).toHaveLength(BURST.length + 1)
  expect(responses).toEqual(['{"status":"completed","output":[]}'])
})

test('events before a pause are written without waiting for the next ones', async () => {
  await recorder.add([DELTA])
  await recorder.add([DELTA])
  await vi.waitFor(async () => {
    const { events } = await readAll()
    expect(events.join('\n').split('\n')).toHaveLength(2)
  }, PATIENCE)
  await recorder.add([END])
  await recorder.finish()
  const numbers = await stage.database.query('SELECT sequence FROM response_events ORDER BY sequence')
  expect(numbers.at(-1)).toEqual({ sequence: 2 })
})

test('a worker that lost its claim during a pause gives up during it', async () => {
  await loseClaim()
  await recorder.add([DELTA]).catch(() => {})
  await vi.waitFor(() => expect(givenUp).toBe(1), PATIENCE)
  await expect(recorder.add(BURST)).rejects.toThrow(ClaimLost)
  expect(await readAll()).toEqual({ events: [], responses: ['{}'] })
})

test('the last event is written with the answer, even if others are still being written', async () => {
  const begun = Promise.withResolvers<void>()
  const mayWrite = Promise.withResolvers<void>()
  vi.spyOn(stage.database, 'query').mockImplementationOnce(async () => {
    begun.resolve()
    await mayWrite.promise
    return [{ one: 1 }]
  })
  const first = recorder.add(BURST)
  await begun.promise
  const second = recorder.add(BURST)
  const last = recorder.add([END])
  mayWrite.resolve()
  await Promise.all([first, second, last])
  expect(await readAll()).toEqual({ events: [], responses: ['{}'] })
  await recorder.finish()
  const { events, responses } = await readAll()
  expect(events.map((row) => row.split('\n').length)).toEqual([BURST.length + 1])
  expect(responses).toEqual(['{"status":"completed","output":[]}'])
})
