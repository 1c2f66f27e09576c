import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { KEY, startInTerminal, type TerminalSession } from './in-terminal.ts'
import { createHome, signIn, type Home } from './run-parkway.ts'

let gateway: TestGateway
let home: Home
let terminal: TerminalSession

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())
beforeEach(async () => {
  home = await createHome()
  await signIn(home, gateway)
})
afterEach(async () => {
  terminal.kill()
  await home.remove()
})

const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`
const historyFile = () => join(home.directory, 'state/parkway/chat-history')
const start = async (words: readonly string[] = []) => {
  terminal = startInTerminal(home, ['chat', '--max-tokens', '40', ...words])
  await terminal.waitFor(/^>/m)
}
const say = async (line: string, shown: string | RegExp) => {
  terminal.type(line + KEY.enter)
  return terminal.waitFor(shown)
}
const countOf = (text: string, part: RegExp): number => text.match(part)?.length ?? 0
const answered = (times: number) =>
  eventually(() => expect(countOf(terminal.screen(), /tokens in, \d+ out/g)).toBe(times))
const readHistory = async () =>
  (await readFile(historyFile(), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('a conversation', () => {
  test('remembers what was said, tells the cost of each answer, and ends with Ctrl-D', async () => {
    await start()
    await say('The word is quince.', /tokens in, \d+ out, \$[\d.]+ \(\$[\d.]+ in all\)/)
    await say('/retry', 'tokens in')
    await answered(2)
    await say('And now?', 'tokens in')
    await answered(3)
    await say('/save talk.json', 'Saved to talk.json.')
    await say('/save talk.json', 'EEXIST')
    terminal.type(KEY.end)
    expect(await terminal.ended()).toBe(0)
    const { model, messages } = JSON.parse(await readFile(join(home.directory, 'talk.json'), 'utf8'))
    expect([model, messages.map(({ role }: { role: string }) => role)]).toEqual([
      'gpt-5.6-luna',
      ['user', 'assistant', 'user', 'assistant'],
    ])
    expect(messages[0].content).toBe('The word is quince.')
  })

  test('changes the model and the system prompt, and knows its commands', async () => {
    await start(['-s', 'Be kind.'])
    await say('/system', 'The system prompt is: Be kind.')
    await say('/system Be short.', 'The system prompt is: Be short.')
    await say('/model no-such', 'no-such')
    await say('/model gpt-5.4', 'The model is gpt-5.4.')
    await say('/nothing', 'There is no /nothing.')
    await say('/help', '/retry')
    await say('/retry', 'Nothing was asked yet.')
    await say('hello', /gpt-5\.4: \d+ tokens in/)
    await say('/save talk.md', 'Saved')
    expect(await readFile(join(home.directory, 'talk.md'), 'utf8')).toMatch(
      /^## system\n\nBe short\.\n\n## user\n\nhello\n\n## gpt-5\.4\n/,
    )
    terminal.type(`/exit${KEY.enter}`)
    expect(await terminal.ended()).toBe(0)
  })

  test('goes on after a failure, and the prompt can be asked again', async () => {
    await start()
    await say('[[sandbox:error status=503]] one', /\d{3}|unavailable|fail/i)
    await say('two', 'tokens in')
    await answered(1)
    terminal.type(KEY.end)
    expect(await terminal.ended()).toBe(0)
  })

  test('stops an answer with Ctrl-C, and a second one leaves with 130', async () => {
    await start()
    terminal.type(`[[sandbox:hang]] hello${KEY.enter}`)
    terminal.type('typed ahead')
    terminal.type(KEY.interrupt)
    await terminal.waitFor('Stopped. Ctrl-C again leaves.')
    await say('still here', 'tokens in')
    terminal.type(KEY.interrupt)
    await terminal.waitFor('Ctrl-C again leaves.')
    terminal.type(KEY.interrupt)
    expect(await terminal.ended()).toBe(130)
    expect(terminal.raw().includes('\u001B[?2004l')).toBe(true)
  })
})

describe('a prompt of several lines', () => {
  test('is continued after a backslash and in quotes, and pasted without being sent', async () => {
    await start()
    terminal.type(`first\\${KEY.enter}second${KEY.enter}`)
    await answered(1)
    terminal.type(`"""${KEY.enter}alpha${KEY.enter}beta"""${KEY.enter}`)
    await answered(2)
    terminal.type(paste('one\r\n\ttwo\u001B]0;evil\u0007\nthree'))
    await terminal.waitFor('one␊␉two]0;evil␊three')
    terminal.type(KEY.enter)
    await answered(3)
    terminal.type(paste('line\n'.repeat(500)))
    await terminal.waitFor('[pasted text 1: 501 lines]')
    terminal.type(` what?${KEY.enter}`)
    await answered(4)
    await say('/save talk.json', 'Saved')
    const { messages } = JSON.parse(await readFile(join(home.directory, 'talk.json'), 'utf8'))
    const prompts = messages.filter(({ role }: { role: string }) => role === 'user')
    expect(prompts.map(({ content }: { content: string }) => content)).toEqual([
      'first\nsecond',
      'alpha\nbeta',
      'one\n\ttwo]0;evil\nthree',
      `${'line\n'.repeat(500)} what?`,
    ])
  })
})

describe('the history', () => {
  test('is kept for the next conversation, readable only for its user, and bounded', async () => {
    await mkdir(join(home.directory, 'state/parkway'), { recursive: true })
    const old = Array.from({ length: 1_000 }, (_, index) => JSON.stringify(`old ${index}`))
    await writeFile(historyFile(), ['not JSON', ...old].join('\n'))
    await start()
    await say('a new prompt', 'tokens in')
    terminal.type(KEY.end)
    await terminal.ended()
    expect((await stat(historyFile())).mode & 0o777).toBe(0o600)
    const entries = await readHistory()
    expect([entries.length, entries[0], entries.at(-1)]).toEqual([1_000, 'old 1', 'a new prompt'])
    await start()
    terminal.type(KEY.up)
    await terminal.waitFor('> a new prompt')
    terminal.type(KEY.up)
    await terminal.waitFor('> old 999')
  })
})
