import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

/** A picture of one pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe.skipIf(NO_BROWSER !== null)('the playground for models that are not for chat', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('makes a picture, with its parameters in the address', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/playground?kind=image')
    await page.getByLabel('Prompt').fill('A lighthouse at dusk')
    await expect.poll(() => new URL(page.url()).searchParams.get('form')).toContain('A lighthouse at dusk')
    await page.getByRole('button', { name: 'Make the picture' }).click()
    await page.getByAltText('Result 1').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-image')
    await page.getByRole('button', { name: 'Show code' }).click()
    expect(await page.getByLabel('The call in curl').innerText()).toContain('/v1/images/generations')
    await close()
  })

  test('edits a part of a picture that was painted over', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/playground?model=gpt-image-1.5')
    await page.getByLabel('Prompt').fill('Make it night')
    await page
      .getByLabel('Picture to edit')
      .setInputFiles({ name: 'photo.png', mimeType: 'image/png', buffer: PICTURE })
    const canvas = page.getByLabel('Paint over the part to change')
    await canvas.dispatchEvent('pointerdown', { buttons: 1, clientX: 1, clientY: 1 })
    await canvas.dispatchEvent('pointerup')
    await page.getByRole('button', { name: 'Change the whole picture' }).waitFor()
    const sent = page.waitForRequest('**/v1/images/edits')
    await page.getByRole('button', { name: 'Make the picture' }).click()
    expect((await sent).headers()['content-type']).toContain('multipart/form-data')
    await page.getByAltText('Result 1').waitFor()
    await close()
  })

  test('follows a task to its result', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/playground?kind=music')
    await page.getByLabel('Prompt').fill('A calm piano piece')
    await page.getByLabel('Length, seconds').fill('10')
    await page.getByRole('button', { name: 'Make the music' }).click()
    await page.getByText(/Waiting for its turn|In progress/).waitFor()
    await page.locator('audio').waitFor({ timeout: 120_000 })
    await takeScreenshots(page, 'playground-music')
    await close()
  })

  test.each([
    ['embedding', 'Embed and compare', 'Cosine of each pair'],
    ['rerank', 'Rank', 'A gateway joins two networks.'],
  ])('shows the answer of a model for %s', async (kind, action, shown) => {
    const { page, goto, close } = await openConsole(gateway)
    await goto(`/playground?kind=${kind}`)
    await page.getByRole('button', { name: action }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    await page.getByText(shown).last().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, `playground-${kind}`)
    await close()
  })
})
