import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const TOOLS = [
  { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } },
]

/** Answers chat requests with these deltas, and collects what was sent. */
async function scriptChat(
  page: Page,
  answers: readonly object[][],
): Promise<{ readonly messages: object[] }[]> {
  const sent: { messages: object[] }[] = []
  await page.route('**/v1/chat/completions', async (route) => {
    const deltas = answers[sent.length] ?? []
    sent.push(route.request().postDataJSON())
    const events = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`)
    await route.fulfill({ contentType: 'text/event-stream', body: `${events.join('')}data: [DONE]\n\n` })
  })
  return sent
}

describe.skipIf(NO_BROWSER !== null)('a conversation in the playground', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('shows reasoning and tool calls, and goes on with the result that was entered', async () => {
    const { page, goto, close } = await openConsole(gateway)
    const call = { index: 0, id: 'call_1', function: { name: 'get_weather', arguments: '{"city":' } }
    const rest = { index: 0, function: { arguments: '"Bern"}' } }
    const sent = await scriptChat(page, [
      [{ reasoning_content: 'I need the weather.' }, { tool_calls: [call] }, { tool_calls: [rest] }],
      [{ content: 'It is **warm**.\n\n```python\nprint(1)\n```\n<img src=x onerror=alert(1)>' }],
    ])
    await goto(`/playground?model=gpt-5.6&tools=${encodeURIComponent(JSON.stringify(TOOLS))}`)
    await page.getByLabel('Message').fill('How warm is it?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('"Bern"').waitFor()
    await page.getByText('Reasoning', { exact: true }).waitFor()
    await page.getByLabel('Result of the tool').fill('{"celsius": 30}')
    await page.getByRole('button', { name: 'Send the results' }).click()
    await page.locator('strong', { hasText: 'warm' }).waitFor()
    expect(await page.locator('[role=log] .markdown img').count()).toBe(0)
    expect(sent[1]?.messages).toMatchObject([
      { role: 'user', content: 'How warm is it?' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { arguments: '{"city":"Bern"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: '{"celsius": 30}' },
    ])
    await page.waitForLoadState('networkidle')
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-tools')
    await close()
  })

  test('a prompt is saved in the account, opened again, and shared by a link', async () => {
    const { page, context, goto, close } = await openConsole(gateway)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await goto('/playground?model=gpt-5.6&system=In%20rhymes')
    await page.getByLabel('Message').fill('Tell me of the sea')
    await page.getByText(/^about \$/).waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The prompt is saved.').first().waitFor()
    await goto('/playground')
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('button', { name: 'Actions for Tell me of the sea' }).click()
    await page.getByRole('menuitem', { name: 'Share and copy the link' }).click()
    await page.getByText('shared', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-saved')
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(link).toMatch(/\/playground\?saved=[0-9a-f-]{36}$/)
    await goto(link.slice(link.indexOf('/playground')))
    await expect.poll(() => page.getByLabel('Message').inputValue()).toBe('Tell me of the sea')
    await expect.poll(() => page.getByLabel('System prompt').inputValue()).toBe('In rhymes')
    await close()
  })

  test('a conversation is kept once the person wants it, and goes on later', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await scriptChat(page, [[{ content: 'Salt and wind.' }]])
    await goto('/playground?model=gpt-5.6')
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('switch', { name: 'Keep my conversations' }).click()
    await page.keyboard.press('Escape')
    await page.getByLabel('Message').fill('What is the sea?')
    await page.getByLabel('Message').press('Enter')
    await page.getByText('Salt and wind.').waitFor()
    await expect
      .poll(
        async () => (await gateway.request('GET', '/v1/saved-chats?kind=conversation')).body.data[0]?.name,
      )
      .toBe('What is the sea?')
    await goto('/playground')
    await page.getByRole('button', { name: 'Saved' }).click()
    await page.getByRole('tab', { name: 'History' }).click()
    await page
      .getByRole('button', { name: /^What is the sea\?/ })
      .first()
      .click()
    await page.getByText('Salt and wind.').waitFor()
    await close()
  })

  test('a second model answers beside the first', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await scriptChat(page, [[{ content: 'First answer' }], [{ content: 'Second answer' }]])
    await goto('/playground?model=gpt-5.6')
    await page.getByRole('button', { name: 'Compare with a second model' }).click()
    await page.getByLabel('Message').fill('Hello')
    await page.getByLabel('Message').press('Enter')
    await page
      .getByRole('log', { name: 'Conversation with the second model' })
      .getByText(/(First|Second) answer/)
      .waitFor()
    await page
      .getByRole('log', { name: 'Conversation', exact: true })
      .getByText(/(First|Second) answer/)
      .waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'playground-beside')
    await close()
  })

  test('stops when the person stops it, and keeps what was said', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route('**/v1/chat/completions', () => {})
    await goto('/playground?model=gpt-5.6')
    await page.getByLabel('Message').fill('Hello')
    await page.getByLabel('Message').press('Enter')
    await page.getByText('Waiting for the first token').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(/stopped/).waitFor()
    await page.getByText('Hello', { exact: true }).waitFor()
    await close()
  })

  test('shows the end of a long answer to a long question, and leaves who reads further up in peace', async () => {
    const { page, goto, close } = await openConsole(gateway, { width: 390, height: 844 })
    const long = Array.from({ length: 80 }, (_, line) => `Line ${line}`).join('\n\n')
    await scriptChat(page, [[{ content: long }], [{ content: 'Second' }]])
    await goto('/playground?model=gpt-5.6')
    await page.getByLabel('Message').fill(long)
    await page.getByRole('button', { name: 'Send' }).click()
    const log = page.getByRole('log')
    const hiddenPx = () => log.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight)
    await log.locator('.markdown', { hasText: 'Line 79' }).waitFor()
    await expect.poll(hiddenPx).toBeLessThan(2)
    await log.evaluate((one) => one.scrollTo(0, 0))
    await page.setViewportSize({ width: 380, height: 844 })
    await expect.poll(hiddenPx).toBeGreaterThan(500)
    // A message of one's own is shown in any case.
    await page.getByLabel('Message').fill('Again')
    await page.getByRole('button', { name: 'Send' }).click()
    await log.locator('.markdown', { hasText: 'Second' }).waitFor()
    await expect.poll(hiddenPx).toBeLessThan(2)
    await close()
  })

  test('sends the turns before, and pictures', async () => {
    const { page, goto, close } = await openConsole(gateway)
    const sent = await scriptChat(page, [[{ content: 'One.' }], [{ content: 'Two.' }]])
    await goto('/playground?model=gpt-5.6&system=Be%20brief')
    for (const [text, answer] of [
      ['First', 'One.'],
      ['Second', 'Two.'],
    ] as const) {
      if (text === 'Second')
        await page.getByLabel('Pictures').setInputFiles({
          name: 'a.png',
          mimeType: 'image/png',
          buffer: Buffer.from('picture'),
        })
      await page.getByLabel('Message').fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText(answer).waitFor()
    }
    expect(sent[1]?.messages).toEqual([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'One.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Second' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,cGljdHVyZQ==' } },
        ],
      },
    ])
    await close()
  })

  test('says what the API refused', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/playground?model=gpt-5.6&temperature=1')
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({
        status: 402,
        headers: { 'x-request-id': 'req_4711' },
        json: { error: { message: 'The balance does not cover it.', code: 'insufficient_balance' } },
      }),
    )
    await page.getByLabel('Message').fill('Hello')
    await page.getByLabel('Message').press('Enter')
    await page.getByRole('alert').getByText('The balance does not cover it.').waitFor()
    await page.getByRole('alert').getByText('req_4711').waitFor()
    await close()
  })

  test('asks for an answer that fits a JSON schema', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/playground?model=gpt-5.6')
    const field = page.getByLabel('JSON schema of the answer')
    await field.fill('{"type": "object"')
    await page.getByText('not valid JSON').waitFor()
    const schema = { type: 'object', properties: { colour: { enum: ['green'] } }, required: ['colour'] }
    await field.fill(JSON.stringify(schema))
    await expect.poll(() => new URL(page.url()).searchParams.get('schema')).toContain('colour')
    await page.getByLabel('Message').fill('Which colour?')
    const sent = page.waitForRequest('**/v1/chat/completions')
    await page.getByLabel('Message').press('Enter')
    expect((await sent).postDataJSON().response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema },
    })
    await page.getByText('"green"').waitFor()
    await close()
  })
})
