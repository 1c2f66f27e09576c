import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

/**
 * Lets a model answer with this text. The newest route is the one that answers. No route is taken away: a script that the browser
 * loads at that moment may never arrive.
 */
async function answerWith(page: Page, content: string): Promise<void> {
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
    // Until it is parsed the text is shown as it is.
    await page.locator('[role=log] .markdown a', { hasText: 'web' }).waitFor()
    await page.locator('[role=log] .markdown p', { hasText: 'the end' }).waitFor()
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
  ])('an answer of a model of thousands of %s is shown as it is, and the page goes on', async (_, text) => {
    const { page, goto, close } = await openConsole(gateway)
    await answerWith(page, `${text}\n\nthe end`)
    await goto('/playground?model=gpt-5.6')
    await ask(page, 'Hello')
    await page.locator('.markdown', { hasText: 'the end' }).waitFor()
    await answerWith(page, '**next**')
    await ask(page, 'Again')
    await page.locator('strong', { hasText: 'next' }).waitFor()
    expect(await page.locator('.markdown', { hasText: 'the end' }).count()).toBe(1)
    await close()
  })

  test.each([
    ['marks and letters', '_a'.repeat(95_000)],
    ['marks and letters in paragraphs', '_a'.repeat(9_000).concat('\n\n').repeat(10)],
    ['spaces', `a${' '.repeat(40_000)}b`],
    ['brackets', '['.repeat(15_000)],
    ['backticks', '`a'.repeat(9_000)],
  ])(
    'an answer of a model of many %s, in one piece or in small ones, does not stop the page',
    async (_, text) => {
      const { page, goto, close } = await openConsole(gateway)
      await page.addInitScript(() => {
        Reflect.set(globalThis, 'longestMs', 0)
        let before = performance.now()
        setInterval(() => {
          const now = performance.now()
          Reflect.set(globalThis, 'longestMs', Math.max(Reflect.get(globalThis, 'longestMs'), now - before))
          before = now
        }, 20)
      })
      const pieces = text.match(/[^]{1,2000}/g) ?? []
      for (const parts of [[text], pieces]) {
        await page.route('**/v1/chat/completions', (route) =>
          route.fulfill({
            headers: { 'content-type': 'text/event-stream' },
            body: `${[...parts, '\n\nthe **end**']
              .map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
              .join('')}data: [DONE]\n\n`,
          }),
        )
        await goto('/playground?model=gpt-5.6')
        await ask(page, 'Hello')
        await page.locator('.markdown strong', { hasText: 'end' }).waitFor()
      }
      // The parser alone took seconds; this leaves room for a busy machine.
      expect(await page.evaluate(() => Reflect.get(globalThis, 'longestMs'))).toBeLessThan(3_000)
      await close()
    },
  )

  test('an answer of a model that grows is parsed as one text: code over empty lines, lists and numbers stay together', async () => {
    const { page, goto, close } = await openConsole(gateway)
    const text =
      '# Title\n\n```js\nconst a = 1\n\nconst b = 2\n```\n\n1. one\n\n2. two\n\n   more\n\nlast **word**'
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({
        headers: { 'content-type': 'text/event-stream' },
        body: `${text
          .split('')
          .map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
          .join('')}data: [DONE]\n\n`,
      }),
    )
    await goto('/playground?model=gpt-5.6')
    await ask(page, 'Hello')
    const shown = page.locator('[role=log] .markdown')
    await shown.locator('strong', { hasText: 'word' }).waitFor()
    await expect.poll(() => shown.locator('h1').allInnerTexts()).toEqual(['Title'])
    await expect.poll(() => shown.locator('ol').count()).toBe(1)
    expect(await shown.locator('ol > li').count()).toBe(2)
    expect(await shown.getByText('const b = 2').count()).toBeGreaterThan(0)
    await close()
  })
})
