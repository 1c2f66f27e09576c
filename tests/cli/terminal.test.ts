import { describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'
import { createHome, signIn } from './run-parkway.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway, { isSignedIn: false })

describe('in a terminal', () => {
  test('login asks for the key, does not show it, and keeps it', async () => {
    const terminal = startInTerminal(home, ['login', '--url', gateway.baseUrl])
    await terminal.waitFor(`API key for ${gateway.baseUrl}`)
    terminal.type(gateway.key + KEY.enter)
    await terminal.waitFor('Signed in to')
    expect(await terminal.ended()).toBe(0)
    expect(terminal.raw()).not.toContain(gateway.key)
    expect(await home.run(['whoami'])).toMatchObject({ code: 0 })
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
    await signIn(home, gateway)
    const terminal = startInTerminal(home, ['chat', '--max-tokens', '20', 'hello'])
    const shown = await terminal.waitFor(/tokens in, \d+ out, \$/)
    expect(await terminal.ended()).toBe(0)
    expect(shown).toContain('gpt-4o-mini')
  })

  test('a watched table follows its tasks until Ctrl-C', async () => {
    await signIn(home, gateway)
    const terminal = startInTerminal(home, ['tasks', 'list', '--watch'])
    await terminal.waitFor('There are no tasks.')
    const made = await home.run(['image', '-o', 'watched.png', 'A cup'])
    expect(made.code).toBe(0)
    const shown = await terminal.waitFor('completed')
    expect(shown).not.toContain('There are no tasks.')
    terminal.type(KEY.interrupt)
    expect(await terminal.ended()).toBe(0)
  })

  test('colours are left out with NO_COLOR', async () => {
    await signIn(home, gateway)
    const coloured = startInTerminal(home, ['models', '--category', 'llm'])
    const plain = startInTerminal(home, ['models', '--category', 'llm'], { environment: { NO_COLOR: '1' } })
    expect(await Promise.all([coloured.ended(), plain.ended()])).toEqual([0, 0])
    expect(coloured.raw()).toContain('\u001B[')
    expect(plain.raw()).not.toContain('\u001B[')
  })
})
