import { eventually } from '../support/eventually.ts'
import type { MakeCall } from './walk-call.ts'

const LINE = {
  custom_id: 'slow',
  method: 'POST',
  url: '/v1/chat/completions',
  body: {
    model: 'gpt-5.4-mini',
    messages: [{ role: 'user', content: '[[sandbox:latency ms=5000]] Hi' }],
  },
}

/** A batch that is still running when it is cancelled. */
export async function walkBatches(call: MakeCall): Promise<void> {
  const file = Buffer.from(JSON.stringify(LINE)).toString('base64')
  const input = await call('POST /v1/files', { body: { purpose: 'batch', filename: 'lines.jsonl', file } })
  const order = { input_file_id: input.id, endpoint: LINE.url, completion_window: '24h' }
  const batch = await call('POST /v1/batches', { body: order })
  await call('GET /v1/batches')
  await call('GET /v1/batches/{id}', { params: { id: batch.id } })
  await call('POST /v1/batches/{id}/cancel', { params: { id: batch.id } })
  await walkRetry(call)
  const messages = await call('POST /v1/messages/batches')
  await call('GET /v1/messages/batches')
  const path = { params: { id: messages.id } }
  await eventually(async () => {
    const { processing_status: status } = await call('GET /v1/messages/batches/{id}', path)
    if (status !== 'ended') throw new Error(`the batch is ${status}`)
  })
  await call('GET /v1/messages/batches/{id}/results', path)
  await call('DELETE /v1/messages/batches/{id}', path)
  const other = await call('POST /v1/messages/batches', { body: { requests: [SLOW] } })
  await call('POST /v1/messages/batches/{id}/cancel', { params: { id: other.id } })
}

/** One upload that becomes a file, and one that is cancelled. */
export async function walkUploads(call: MakeCall): Promise<void> {
  const upload = { params: { id: (await call('POST /v1/uploads')).id } }
  const part = await call('POST /v1/uploads/{id}/parts', upload)
  await call('POST /v1/uploads/{id}/complete', { ...upload, body: { part_ids: [part.id] } })
  const other = await call('POST /v1/uploads')
  await call('POST /v1/uploads/{id}/cancel', { params: { id: other.id } })
}

/** Its only line fails. */
async function walkRetry(call: MakeCall): Promise<void> {
  const content = '[[sandbox:error status=400 code=invalid_value]] Hi'
  const line = { ...LINE, body: { ...LINE.body, messages: [{ role: 'user', content }] } }
  const file = Buffer.from(JSON.stringify(line)).toString('base64')
  const input = await call('POST /v1/files', { body: { purpose: 'batch', filename: 'lines.jsonl', file } })
  const order = { input_file_id: input.id, endpoint: LINE.url, completion_window: '24h' }
  const batch = await call('POST /v1/batches', { body: order })
  await eventually(async () => {
    const { status } = await call('GET /v1/batches/{id}', { params: { id: batch.id } })
    if (status !== 'completed') throw new Error(`the batch is ${status}`)
  })
  await call('POST /v1/batches/{id}/retry', { params: { id: batch.id } })
}

const SLOW = {
  custom_id: 'slow',
  params: { ...LINE.body, max_tokens: 16 },
}
