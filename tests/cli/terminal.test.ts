import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createOther } from '../deployments/deploy.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'
import { createHome } from './run-parkway.ts'

const PROGRAM = resolve(import.meta.dirname, '../../cli/main.ts')

const { gateway, home } = await startGatewayAndHome(startTestGateway)

describe('in a terminal', () => {
  test('login asks for the key, does not show it, and keeps it', async () => {
    const own = await createHome()
    const terminal = startInTerminal(own, ['login', '--url', gateway.baseUrl])
    await terminal.waitFor(`API key for ${gateway.baseUrl}`)
    terminal.type(gateway.key + KEY.enter)
    await terminal.waitFor('Signed in to')
    expect(await terminal.ended()).toBe(0)
    expect(terminal.raw()).not.toContain(gateway.key)
    expect(await own.run(['whoami'])).toMatchObject({ code: 0 })
    await own.remove()
  })

  test('login that is interrupted changes nothing', async () => {
    const other = await createHome()
    const terminal = startInTerminal(other, ['login', '--url', gateway.baseUrl])
    await terminal.waitFor('API key for')
    terminal.type(KEY.interrupt)
    expect(await terminal.ended()).toBe(130)
    expect(await other.run(['whoami'])).toMatchObject({ code: 3 })
    await other.remove()
  })

  test('an answer is followed by its tokens and its cost', async () => {
    const terminal = startInTerminal(home, ['chat', '--max-tokens', '20', 'hello'])
    const shown = await terminal.waitFor(/tokens in, \d+ out, \$/)
    expect(await terminal.ended()).toBe(0)
    expect(shown).toContain('gpt-5.6-luna')
  })

  test('a watched table follows its tasks until Ctrl-C', async () => {
    const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway) }
    const terminal = startInTerminal(home, ['tasks', 'list', '--watch'], { environment })
    await terminal.waitFor('There are no tasks.')
    const made = await home.run(['image', '-o', 'watched.png', 'A cup'], { environment })
    expect(made.code).toBe(0)
    const shown = await terminal.waitFor('completed')
    expect(shown).not.toContain('There are no tasks.')
    terminal.type(KEY.interrupt)
    expect(await terminal.ended()).toBe(0)
  })

  test('colours are left out with NO_COLOR', async () => {
    const coloured = startInTerminal(home, ['models', '--category', 'llm'])
    const plain = startInTerminal(home, ['models', '--category', 'llm'], { environment: { NO_COLOR: '1' } })
    expect(await Promise.all([coloured.ended(), plain.ended()])).toEqual([0, 0])
    expect(coloured.raw()).toContain('\u001B[')
    expect(plain.raw()).not.toContain('\u001B[')
  })

  test('a terminal that cannot move its cursor gets plain lines', async () => {
    const environment = { TERM: 'dumb' }
    for (const words of [
      ['models', '--category', 'llm'],
      ['image', '-o', 'dumb.png', 'A cup'],
      ['chat', 'hi'],
    ]) {
      const terminal = startInTerminal(home, words, { environment })
      expect([words, await terminal.ended()]).toEqual([words, 0])
      expect(terminal.raw()).not.toContain('\u001B')
    }
    const watched = startInTerminal(home, ['tasks', 'list', '--watch'], { environment })
    await watched.waitFor('completed')
    const talking = startInTerminal(home, ['chat'], { environment })
    await talking.waitFor(/^>/m)
    talking.type(KEY.end)
    watched.type(KEY.interrupt)
    expect(await Promise.all([watched.ended(), talking.ended()])).toEqual([0, 0])
    expect(watched.raw() + talking.raw()).not.toContain('\u001B')
  })

  test('a terminal without a size is taken for one of 80 columns', async () => {
    await home.run(['keys', 'create', '--name', '\u65e5'.repeat(60)])
    const start = (words: string) =>
      startInTerminal(home, [], {
        program: ['sh', '-c', `stty cols 0 rows 0; exec '${process.execPath}' '${PROGRAM}' ${words}`],
        columns: 200,
      })
    const listed = start('keys')
    expect(await listed.ended()).toBe(0)
    const lines = listed.screen().split('\n')
    expect(lines[0]).toMatch(/^id +key /)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
    await home.run(['image', '-o', 'sized.png', 'A cup'])
    const watched = start('tasks list --watch')
    await watched.waitFor('completed')
    watched.type(KEY.interrupt)
    expect(await watched.ended()).toBe(0)
  })

  test('a narrow terminal gets one line for each row', async () => {
    for (const columns of [1, 5, 20]) {
      const terminal = startInTerminal(home, ['models', '--category', 'tts'], { columns })
      expect(await terminal.ended()).toBe(0)
      const { body } = await gateway.request('GET', '/v1/models?category=tts')
      expect(terminal.screen().split('\n')).toHaveLength(body.data.length + 1)
    }
  })
})
