import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { groupErrors } from '../../console/src/pages/batch/group-errors.ts'
import { answerText } from '../../console/src/pages/batch/answer-text.ts'
import { toLines } from '../batches/run-batch.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const CHAT = '/v1/chat/completions'
const line = (custom_id: string, content: string) => ({
  custom_id,
  body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] },
})

test('errors of lines are grouped by why they failed, the most frequent first', () => {
  const refused = { status_code: 400, body: { error: { code: 'invalid_value', message: 'Wrong.' } } }
  const unasked = { code: 'batch_expired', message: 'Late.' }
  const lines = [
    { custom_id: 'a', response: refused, error: null },
    { custom_id: 'b', response: null, error: unasked },
    { custom_id: 'c', response: null, error: unasked },
  ]
  expect(groupErrors(lines)).toEqual([
    { code: 'batch_expired', message: 'Late.', count: 2, lines: ['b', 'c'] },
    { code: 'invalid_value', message: 'Wrong.', count: 1, lines: ['a'] },
  ])
})

test('the text of an answer is shown in every form, and JSON where it has none', () => {
  expect(
    [
      { choices: [{ message: { content: 'chat' } }] },
      { choices: [{ text: 'completion' }] },
      { content: [{ type: 'text', text: 'message' }] },
      { output: [{ type: 'reasoning' }, { type: 'message', content: [{ text: 'response' }] }] },
      { results: [1] },
    ].map(answerText),
  ).toEqual(['chat', 'completion', 'message', 'response', '{"results":[1]}'])
})

describe.skipIf(NO_BROWSER !== null)('the batches of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('are made of a file, show answers and errors by kind, and failed lines are asked again', async () => {
    const user = await createUser(gateway)
    const { page, goto, close } = await openConsole(user)
    await goto('/batches')
    await page.getByText('No batches yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'New batch' }).first().click()
    const text = toLines(
      [
        line('good', '[[sandbox:echo forty-two]]'),
        line('bad', '[[sandbox:error status=400 code=invalid_value]]'),
      ],
      CHAT,
    )
    await page
      .getByLabel('File with one request a line')
      .setInputFiles({ name: 'lines.jsonl', mimeType: 'application/x-jsonl', buffer: Buffer.from(text) })
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Make the batch' }).click()
    await page.getByText('forty-two').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'batch')
    await page.getByRole('tab', { name: 'Errors' }).click()
    await page.getByText('invalid_value').first().waitFor()
    const first = page.url()
    await page.getByRole('button', { name: 'Retry the failed lines' }).click()
    await page.waitForURL((url) => url.pathname !== new URL(first).pathname)
    await page.getByText('completed', { exact: true }).waitFor()
    await goto('/batches')
    const table = page.getByRole('region', { name: 'Batches' })
    await expect.poll(() => table.locator('tbody tr').count()).toBe(2)
    await expectAccessible(page)
    await takeScreenshots(page, 'batches')
    await close()
  })
})
