import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole, type OpenConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

/** A picture of one pixel. */
const PICTURE = {
  name: 'photo.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
}

const DURATION = `document.querySelector('audio, video').duration`

describe.skipIf(NO_BROWSER !== null)('the playground with pictures, sound and video', () => {
  let gateway: TestGateway
  let opened: OpenConsole
  beforeAll(async () => {
    gateway = await startTestGateway()
    opened = await openConsole(gateway)
  })
  afterAll(async () => {
    await opened.close()
    await gateway.close()
  })

  test('makes a video and plays it', async () => {
    const { page, goto } = opened
    await goto('/playground?kind=video')
    await page.getByLabel('Prompt').fill('[[sandbox:job ms=200]] Waves')
    await page.getByRole('button', { name: 'Make the video' }).click()
    await page.locator('video').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-video')
  })

  test('says what a video costs, and asks before one that costs more than is set', async () => {
    const { page, goto } = opened
    await goto('/playground?kind=video&model=veo-3.1')
    await page.getByLabel('Prompt').fill('[[sandbox:job ms=0]] Waves')
    await page.getByText('About $3.20.').waitFor()
    await page.getByRole('button', { name: 'Make the video' }).click()
    const dialog = page.getByRole('dialog', { name: 'This costs about $3.20' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect((await gateway.request('GET', '/v1/tasks?model=veo-3.1')).body.total).toBe(0)
    await page.getByRole('button', { name: 'Make the video' }).click()
    await dialog.getByLabel('Ask above (USD)').fill('3.5')
    await dialog.getByRole('button', { name: 'Make the video' }).click()
    await page.locator('video').waitFor()
    await page.getByRole('button', { name: 'Make the video' }).click()
    await expect
      .poll(async () => (await gateway.request('GET', '/v1/tasks?model=veo-3.1')).body.total)
      .toBe(2)
  })

  test('speaks a text', async () => {
    const { page, goto } = opened
    await goto('/playground?kind=tts')
    await page.getByLabel('Text').fill('Good evening from the gateway.')
    await page.getByLabel('Format').selectOption('wav')
    await page.getByRole('button', { name: 'Speak' }).click()
    await page.getByLabel('The spoken text').waitFor()
    // The browser reads a length only out of a real sound.
    await expect.poll(() => page.evaluate<number | null>(DURATION)).toBeGreaterThan(0.1)
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-speech')
  })

  test('transcribes what the microphone records', async () => {
    const { page, goto } = opened
    await goto('/playground?kind=stt')
    await page.getByRole('button', { name: 'Record', exact: true }).click()
    await page.getByRole('button', { name: 'Stop recording (1 s)' }).click()
    await page.locator('audio').waitFor()
    const sent = page.waitForRequest('**/v1/audio/transcriptions')
    await page.getByRole('button', { name: 'Transcribe' }).click()
    expect((await sent).headers()['content-type']).toContain('multipart/form-data')
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    await takeScreenshots(page, 'playground-transcription')
  })

  test.each([
    ['upscale', 'Enlarge'],
    ['bg_remove', 'Remove the background'],
  ])('changes a picture: %s', async (kind, action) => {
    const { page, goto } = opened
    await goto(`/playground?kind=${kind}`)
    await page.getByLabel('Picture').setInputFiles(PICTURE)
    await page.getByAltText('What will be sent').waitFor()
    await page.getByRole('button', { name: action }).click()
    await page.getByAltText('Result 1').waitFor()
    await takeScreenshots(page, `playground-${kind}`)
  })

  test('says what is harmful in a text', async () => {
    const { page, goto } = opened
    await goto('/playground?kind=moderation')
    await page.getByLabel('Text').fill('I will kill you tomorrow.')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('flagged', { exact: true }).waitFor()
    await page.getByRole('rowheader', { name: 'violence', exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-moderation')
  })
})
