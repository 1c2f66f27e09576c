import type { TestGateway } from '../support/start-test-gateway.ts'
import { createBatch, toLines, waitForBatch } from '../batches/run-batch.ts'

const CHAT = '/v1/chat/completions'

/** Makes a batch with one line, and returns its id. */
export async function makeBatch(gateway: TestGateway, content: string): Promise<string> {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }
  return (await createBatch(gateway, toLines([{ custom_id: 'one', body }], CHAT))).body.id
}

export async function completeBatch(gateway: TestGateway, content = 'Hi'): Promise<string> {
  const id = await makeBatch(gateway, content)
  await waitForBatch(gateway, id)
  return id
}
