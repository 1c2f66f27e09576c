import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBatch, toLines, waitForBatch } from '../batches/run-batch.ts'
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

describe.skipIf(NO_BROWSER !== null)('comparisons and batches in the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('a run is asked as batches, which it links to', async () => {
    const user = await createUser(gateway)
    const { page, goto, close } = await openConsole(user)
    await goto('/compare?tab=runs')
    await page.getByRole('button', { name: 'New run' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('One prompt a line').fill('[[sandbox:echo one]]\n[[sandbox:echo two]]')
    await dialog.getByLabel('Answers', { exact: true }).selectOption('batch')
    await expectAccessible(page)
    await takeScreenshots(page, 'new-batched-run')
    await dialog.getByRole('button', { name: 'Start the run' }).click()
    const batches = page.getByRole('region', { name: 'Batches' })
    await expect.poll(() => batches.getByText('completed').count(), { timeout: 30_000 }).toBe(2)
    await page.getByText('completed').first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'batched-run')
    await batches.getByRole('link').first().click()
    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByRole('link', { name: /^[0-9a-f]{8}-/ }).waitFor()
    await takeScreenshots(page, 'batch-of-run')
    await close()
  })

  test('answers of a batch become a dataset, and files and batches link to each other', async () => {
    const user = await createUser(gateway)
    const { body: made } = await createBatch(user, toLines([line('a', '[[sandbox:echo forty-two]]')], CHAT))
    const batch = await waitForBatch(user, made.id)
    const { page, goto, close } = await openConsole(user)
    await goto(`/batches/${batch.id}`)
    await page.getByRole('button', { name: 'Answers as a dataset' }).click()
    await page.getByText('was made').waitFor()
    const { body: datasets } = await user.request('GET', '/v1/compare/datasets')
    expect(datasets.data).toMatchObject([{ name: `Answers of ${batch.id}`, prompts_total: 1 }])

    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByRole('link', { name: batch.input_file_id, exact: true }).click()
    await page.getByText('reads it').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'file')
    await page.getByRole('link', { name: batch.id }).click()
    await page.waitForURL((url) => url.pathname === `/batches/${batch.id}`)
    await goto('/files?purpose=batch_output')
    await page.getByRole('link', { name: /_output\.jsonl$/ }).waitFor()
    expect(await page.getByRole('link', { name: 'lines.jsonl' }).count()).toBe(0)
    await takeScreenshots(page, 'files-of-purpose')
    await close()
  })

  test('a file that a running batch reads is not deleted, and the page says why', async () => {
    const user = await createUser(gateway)
    const text = toLines([line('slow', '[[sandbox:latency ms=60000]] Hi')], CHAT)
    const { body: batch } = await createBatch(user, text)
    const { page, goto, close } = await openConsole(user)
    await goto('/files')
    await page.getByRole('button', { name: 'Delete lines.jsonl' }).click()
    await page.getByRole('button', { name: 'Delete the file' }).click()
    await page.getByText(`in use by the batch ${batch.id}`).waitFor()
    await expectAccessible(page)
    await user.request('POST', `/v1/batches/${batch.id}/cancel`)
    await close()
  })
})
