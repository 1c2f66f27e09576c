import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createBatch, readResults, toLines, waitForBatch } from '../batches/run-batch.ts'
import { startNativeGateway, type NativeGateway } from '../messages/start-native-gateway.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { createStranger } from '../sessions/sign-in.ts'
import { eventually } from '../support/eventually.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n')
const TEXT = Buffer.from('Nothing but words')

let gateway: NativeGateway
let pdf: string
let png: string
let text: string

const upload = async (content: Buffer, filename: string, members: object = {}, key = gateway.key) => {
  const body = { purpose: 'user_data', filename, file: content.toString('base64'), ...members }
  return (await gateway.request('POST', '/v1/files', { key, body })).body.id
}

beforeAll(async () => {
  gateway = await startNativeGateway()
  pdf = await upload(PDF, 'paper.pdf')
  png = await upload(PNG, 'dot.png', { purpose: 'vision' })
  text = await upload(TEXT, 'words.txt')
})
afterAll(() => gateway.close())

beforeEach(() => {
  gateway.upstream.requests.length = 0
  gateway.anthropic.requests.length = 0
})

const chatOf = (...content: object[]) => ({ model: 'either', messages: [{ role: 'user', content }] })
const filePart = (file_id: string) => ({ type: 'file', file: { file_id } })
const chat = (content: object[], key = gateway.key, members: object = {}) =>
  gateway.request('POST', '/v1/chat/completions', { key, body: { ...chatOf(...content), ...members } })
const messagesOf = (...content: object[]) => ({
  model: 'claude',
  max_tokens: 100,
  messages: [{ role: 'user', content }],
})
const messages = (content: object[], key = gateway.key) =>
  gateway.request('POST', '/v1/messages', { key, body: messagesOf(...content) })
const respond = (content: object[], members: object = {}, key = gateway.key) =>
  gateway.request('POST', '/v1/responses', {
    key,
    body: { model: 'claude', input: [{ role: 'user', content }], ...members },
  })
const blockOf = (type: string, file_id: string) => ({ type, source: { type: 'file', file_id } })
const source = (media_type: string, data: Buffer) => ({
  type: 'base64',
  media_type,
  data: data.toString('base64'),
})
const arrived = async () => JSON.parse((await gateway.anthropic.requestNumber(0)).text).messages[0].content

test('chat, Responses and Messages send what a file holds, by the id of either form', async () => {
  const anthropicId = pdf.replace('file-', 'file_')
  expect((await messages([blockOf('document', anthropicId), blockOf('image', png)])).status).toBe(200)
  expect(await arrived()).toMatchObject([
    { type: 'document', source: source('application/pdf', PDF) },
    { type: 'image', source: source('image/png', PNG) },
  ])
  gateway.anthropic.requests.length = 0
  expect((await messages([blockOf('document', text)])).status).toBe(200)
  expect((await arrived())[0].source).toEqual({
    type: 'text',
    media_type: 'text/plain',
    data: 'Nothing but words',
  })

  gateway.anthropic.requests.length = 0
  const answer = await respond([
    { type: 'input_file', file_id: pdf },
    { type: 'input_image', file_id: png },
  ])
  expect([answer.status, await arrived()]).toMatchObject([
    200,
    [
      { type: 'document', source: source('application/pdf', PDF) },
      { type: 'image', source: source('image/png', PNG) },
    ],
  ])

  gateway.anthropic.requests.length = 0
  expect((await chat([filePart(pdf)], gateway.key, { model: 'claude' })).status).toBe(200)
  expect((await arrived())[0]).toMatchObject({ source: source('application/pdf', PDF) })
})

test('costs and is held like the same file sent inline', async () => {
  const inline = `data:application/pdf;base64,${PDF.toString('base64')}`
  const byId = await chat([filePart(pdf)])
  const sent = await chat([{ type: 'file', file: { filename: 'paper.pdf', file_data: inline } }])
  expect([byId.status, byId.body.usage]).toEqual([200, sent.body.usage])
})

test('works in streams, background responses and what continues a stored one, which keeps the id', async () => {
  const part = { type: 'input_file', file_id: pdf }
  const streamed = await gateway.fetch('POST', '/v1/responses', {
    body: { model: 'either', stream: true, input: [{ role: 'user', content: [part] }] },
  })
  expect([streamed.status, (await streamed.text()).includes('response.completed')]).toEqual([200, true])

  const first = await respond([part], { background: true })
  expect(first.status).toBe(200)
  await eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/responses/${first.body.id}`)
    if (body.status !== 'completed') throw new Error(JSON.stringify(body))
  })
  const { data } = (await gateway.request('GET', `/v1/responses/${first.body.id}/input_items`)).body
  expect(data[0].content[0].file_id).toBe(pdf)
  expect(JSON.stringify(data)).not.toContain(PDF.toString('base64'))

  gateway.anthropic.requests.length = 0
  const again = await respond([{ type: 'input_text', text: 'More' }], { previous_response_id: first.body.id })
  expect([again.status, await arrived()]).toMatchObject([
    200,
    [{ type: 'document', source: source('application/pdf', PDF) }],
  ])
})

test('works in the lines of a batch, with the rights of its account', async () => {
  const foreign = await upload(PDF, 'paper.pdf', {}, await createStranger(gateway))
  const lines = [pdf, foreign].map((id, index) => ({
    custom_id: `line-${index}`,
    body: chatOf(filePart(id)),
  }))
  const { body } = await createBatch(gateway, toLines(lines, '/v1/chat/completions'))
  const batch = await waitForBatch(gateway, body.id)
  expect(batch.request_counts).toMatchObject({ completed: 1, failed: 1 })
  const errors = await readResults(gateway, batch.error_file_id)
  expect(errors.get('line-1')?.response?.status_code).toBe(404)
})

describe('a file that cannot be used', () => {
  const spent = async () => (await gateway.request('GET', '/v1/usage/records?limit=1')).body.data[0]?.id

  test('is 404 in the form of each wire if it is deleted or of another account or project, and costs nothing', async () => {
    const before = await spent()
    const gone = await upload(PDF, 'paper.pdf')
    await gateway.request('DELETE', `/v1/files/${gone}`)
    const stranger = await upload(PDF, 'paper.pdf', {}, await createStranger(gateway))
    const project = await createProjectKey(gateway, await createProject(gateway))
    const cases = [
      [gone, gateway.key],
      [stranger, gateway.key],
      [pdf, project],
    ] as const
    for (const [id, key] of cases) {
      const answer = await chat([filePart(id)], key)
      expect([answer.status, answer.body.error]).toMatchObject([
        404,
        { code: 'not_found', param: 'messages.0.content.0.file.file_id' },
      ])
      const message = await messages([blockOf('document', id)], key)
      expect([message.status, message.body]).toMatchObject([
        404,
        { type: 'error', error: { type: 'not_found_error' } },
      ])
      const response = await respond([{ type: 'input_file', file_id: id }], { background: true }, key)
      expect([response.status, response.body.error.param]).toEqual([404, 'input.0.content.0.file_id'])
    }
    expect(gateway.upstream.requests.length + gateway.anthropic.requests.length).toBe(0)
    expect(await spent()).toBe(before)
  })

  test('is refused if it is for something else, of another kind, or beside its content', async () => {
    const batch = await upload(TEXT, 'lines.jsonl', { purpose: 'batch' })
    expect((await chat([filePart(batch)])).body.error).toMatchObject({ code: 'invalid_value' })
    expect((await messages([blockOf('image', pdf)])).status).toBe(400)
    expect((await messages([blockOf('document', png)])).status).toBe(400)
    expect((await respond([{ type: 'input_image', file_id: text }])).status).toBe(400)
    const both = { type: 'input_file', file_id: pdf, file_data: 'data:text/plain;base64,eA==' }
    expect((await respond([both])).body.error.param).toBe('input.0.content.0.file_data')
  })

  test('is refused if all of a request are too large together, before any is read', async () => {
    const large = await upload(Buffer.alloc(7_000_000, 'x'), 'large.txt')
    const { status, body } = await chat([filePart(large), filePart(large), filePart(large)])
    expect([status, body.error.code, body.error.param]).toEqual([
      413,
      'request_too_large',
      'messages.0.content.2.file.file_id',
    ])
  })
})
