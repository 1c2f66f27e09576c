import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

/** Lets a model answer with this text. */
async function answerWith(page: Page, content: string): Promise<void> {
  await page.unroute('**/v1/chat/completions').catch(() => {})
  await page.route('**/v1/chat/completions', (route) =>
    route.fulfill({
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\ndata: [DONE]\n\n`,
    }),
  )
}

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

describe.skipIf(NO_BROWSER !== null)('an answer of a model', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('runs nothing, loads nothing, and has links to the web only', async () => {
    // The text is parsed in a document of its own, where the policy blocks what the answer tries.
    const expected = /violates the following Content Security Policy/
    const { page, goto, close } = await openConsole(gateway, { expected })
    const foreign: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(gateway.baseUrl)) foreign.push(request.url())
    })
    await answerWith(
      page,
      [
        '<script>document.title = "taken"</script><img src=x onerror="document.title = 1">',
        '![remote](https://elsewhere.example/pixel.png)',
        '[script](javascript:document.title=1) [data](data:text/html,x) [relative](/v1/sessions) [web](https://good.example/)',
        '<form action="https://elsewhere.example/"><input name="key"><button>Go</button></form>',
        '<style>* { display: none }</style><iframe src="https://elsewhere.example/"></iframe><base href="https://elsewhere.example/">',
        '<p style="position:fixed;inset:0" class="fixed" id="page" onclick="x()">covered</p>',
        '<svg><a xlink:href="javascript:x()"><text>svg</text></a></svg><math href="javascript:x()">m</math>',
        'the end',
      ].join('\n\n'),
    )
    await goto('/playground?model=gpt-5.6')
    await ask(page, 'Hello')
    await page.locator('.markdown', { hasText: 'the end' }).waitFor()
    const log = page.locator('[role=log] .markdown')
    for (const tag of [
      'script',
      'img',
      'form',
      'input',
      'style',
      'iframe',
      'base',
      'svg[xmlns]',
      'math',
      '[style]',
      '[onclick]',
      '#page',
    ])
      expect([tag, await log.locator(tag).count()]).toEqual([tag, 0])
    const links = await log.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    expect(links.filter((link) => link !== null)).toEqual(['https://good.example/'])
    expect(await log.getByRole('link', { name: 'web' }).getAttribute('rel')).toBe('noopener noreferrer')
    expect([foreign, await page.title()]).toEqual([[], expect.not.stringContaining('taken')])
    await close()
  })

  test.each([
    ['quotes', '>'.repeat(5_000)],
    ['lists', Array.from({ length: 400 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n')],
    ['lists in one line', '- '.repeat(5_000)],
    ['marks', '_'.repeat(20_000)],
    ['words', 'word '.repeat(50_000)],
  ])('of thousands of %s is shown as it is, and the page goes on', async (_, text) => {
    const { page, goto, close } = await openConsole(gateway)
    await answerWith(page, `${text}\n\nthe end`)
    await goto('/playground?model=gpt-5.6')
    await ask(page, 'Hello')
    await page.locator('.markdown', { hasText: 'the end' }).waitFor({ timeout: 20_000 })
    await answerWith(page, '**next**')
    await ask(page, 'Again')
    await page.locator('strong', { hasText: 'next' }).waitFor()
    expect(await page.locator('.markdown', { hasText: 'the end' }).count()).toBe(1)
    await close()
  })
})
