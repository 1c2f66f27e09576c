import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { speakers, startCompareGateway } from '../compare/start-compare-gateway.ts'
import { chunk, chunksOf, pacedStream } from '../upstreams/openai-server.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const part = (content: string) => chunk({ delta: { role: 'assistant', content } })

describe.skipIf(NO_BROWSER !== null)('the arena', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    gateway = await startCompareGateway(['red', 'blue'])
  })
  afterAll(() => gateway.close())

  test('shows the answers while they are written, and takes a vote with a key when they are complete', async () => {
    const [red, blue] = [pacedStream(), pacedStream()]
    gateway.upstream.respondWith(speakers({ red: red.reply, blue: blue.reply }))
    const { page, goto, close } = await openConsole(gateway)
    await goto('/compare')
    await page.getByLabel('Model 1', { exact: true }).selectOption('red')
    await page.getByLabel('Model 2', { exact: true }).selectOption('blue')
    await page.getByLabel('Prompt').fill('Why is the sky blue?')
    await page.getByLabel('Prompt').press('Control+Enter')
    const answers = page.getByRole('region', { name: 'Answers' })
    await answers.getByText('The models are answering.').waitFor()
    red.release(part('Because **light**'))
    await answers.locator('strong', { hasText: 'light' }).waitFor()
    blue.release(part('Rayleigh'))
    await answers.getByText('Rayleigh').waitFor()
    red.release(part(' scatters.'))
    await answers.getByText('Because light scatters.').waitFor()
    const { body: list } = await gateway.request('GET', '/v1/compare/runs')
    expect(list.data[0].status).toBe('running')
    expect(await answers.getByRole('button', { name: /^Best/ }).count()).toBe(0)
    for (const name of ['red', 'blue'])
      expect(await answers.getByRole('heading', { name, exact: true }).count()).toBe(0)
    await takeScreenshots(page, 'arena-streaming')
    for (const lane of [red, blue]) {
      for (const entry of chunksOf(' The end.')) lane.release(entry)
      lane.finish()
    }
    await answers.getByText('Which answer is best?').waitFor()
    // Typing the next prompt is no vote.
    await page.getByLabel('Prompt').press('1')
    expect(await answers.getByText('your vote').count()).toBe(0)
    await page.getByRole('tab', { name: 'Arena' }).focus()
    await page.keyboard.press('1')
    await answers.getByText('your vote', { exact: true }).waitFor()
    for (const name of ['red', 'blue']) await answers.getByRole('heading', { name, exact: true }).waitFor()
    const { body: board } = await gateway.request('GET', '/v1/compare/leaderboard')
    expect(board.votes).toMatchObject({ total: 1, human: 1 })
    await close()
  })
})
