import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { detectProtocol } from '../../cli/pictures/detect-protocol.ts'
import { encodeSixel } from '../../cli/pictures/encode-sixel.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { startInTerminal } from './in-terminal.ts'

const { home } = await startGatewayAndHome(startTestGateway)

const show = async (environment: Record<string, string>) => {
  const terminal = startInTerminal(home, ['image', '--show', '--force', '-o', 'a.png', 'A cup'], {
    environment,
  })
  expect([await terminal.ended(), terminal.screen()]).toEqual([0, expect.any(String)])
  return { raw: terminal.raw(), file: (await readFile(join(home.directory, 'a.png'))).toString('base64') }
}

// oxlint-disable no-control-regex -- the tests read escape sequences
describe('a picture is shown', () => {
  test("with kitty's protocol, in pieces of at most 4,096 characters", async () => {
    const { raw, file } = await show({ KITTY_WINDOW_ID: '1' })
    const pieces = [...raw.matchAll(/\u001B_G([^;]*);([A-Za-z0-9+/=]*)\u001B\\/g)]
    expect(pieces[0]?.[1]).toMatch(/^a=T,f=100,q=2,c=60,m=[01]$/)
    expect(pieces.at(-1)?.[1]).toMatch(/m=0$/)
    for (const [, , text = ''] of pieces) expect(text.length).toBeLessThanOrEqual(4_096)
    expect(pieces.map(([, , text]) => text).join('')).toBe(file)
  })

  test("with iTerm2's protocol", async () => {
    const { raw, file } = await show({ TERM_PROGRAM: 'iTerm.app' })
    const [, text] = /\u001B\]1337;File=inline=1;size=\d+;width=60;[^:]*:([^\u0007]*)\u0007/.exec(raw) ?? []
    expect(text).toBe(file)
  })

  test('as sixels', async () => {
    const { raw } = await show({ PARKWAY_PICTURES: 'sixel' })
    expect(raw).toMatch(/\u001BPq"1;1;480;480(?:#\d+;2;\d+;\d+;\d+)+#[^\u001B]*-\u001B\\/)
  })

  test('a picture is shown by nothing but its path where the terminal or the reader cannot show it', async () => {
    const { raw } = await show({})
    expect(raw).toContain('shows no pictures')
    const piped = await home.run(['image', '--show', '--force', '-o', 'a.png', 'A cup'], {
      environment: { KITTY_WINDOW_ID: '1' },
    })
    expect([piped.code, piped.stdout]).toEqual([0, 'a.png\n'])
  })
})

test.each([
  [{ TERM: 'xterm-kitty' }, 'kitty'],
  [{ TERM_PROGRAM: 'ghostty' }, 'kitty'],
  [{ TERM_PROGRAM: 'WezTerm' }, 'iterm'],
  [{ LC_TERMINAL: 'iTerm2' }, 'iterm'],
  [{ TERM: 'mlterm' }, 'sixel'],
  [{ TERM: 'xterm-256color' }, null],
  [{ TERM: 'tmux-256color', KITTY_WINDOW_ID: '1', TMUX: '/tmp/tmux' }, null],
  [{ TERM: 'xterm-kitty', PARKWAY_PICTURES: 'none' }, null],
  [{ PARKWAY_PICTURES: 'sixel' }, 'sixel'],
])('%j shows pictures with %s', (environment, protocol) => {
  expect(detectProtocol(environment)).toBe(protocol)
})

test('sixels are bands of six rows, one line for each colour', () => {
  const red = [255, 0, 0]
  const blue = [0, 0, 255]
  const pixels = Uint8Array.from([...red, ...red, ...red, ...red, ...blue, ...blue, ...red, ...red])
  expect(encodeSixel(pixels, { width: 4, height: 2, channels: 3 })).toBe(
    '\u001BPq"1;1;4;2#180;2;100;0;0#5;2;0;0;100#180@@BB$#5AA??-\u001B\\',
  )
})
