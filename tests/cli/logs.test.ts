import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const ask = (model: string, content = 'Hi') =>
  gateway.request('POST', '/v1/chat/completions', {
    body: { model, messages: [{ role: 'user', content }] },
  })
const idOf = ({ headers }: { headers: Headers }): string => headers.get('x-request-id') ?? ''
const run = async (...words: string[]) => {
  const { code, stdout, stderr } = await home.run(['logs', ...words])
  return { code, stderr, stdout, lines: stdout.trim().split('\n') }
}

let answered: string
let refused: string

beforeAll(async () => {
  answered = idOf(await ask('gpt-4o-mini'))
  refused = idOf(await ask('no-such-model'))
  // Failed requests are written a second later.
  await eventually(async () => {
    expect((await gateway.request('GET', `/v1/requests/${refused}`)).status).toBe(200)
  })
})

describe('parkway logs', () => {
  test('lists requests as the API has them with --json, and as a table without', async () => {
    const { body } = await gateway.request('GET', `/v1/requests?request_id=${answered}`)
    const { lines } = await run('--json')
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(body.data[0])
    const table = await run()
    expect(table.lines[0]).toMatch(/^request +when +status +operation +model +provider +took /)
    const row = table.lines.find((line) => line.startsWith(refused))
    expect(row).toMatch(/ 404 .* no-such-model .* model_not_found$/)
    // A program gets the time as the API has it.
    expect(table.stdout).toContain(body.data[0].created_at)
  })

  test.each([
    [['--model', 'gpt-4o-mini'], true, false],
    [['--outcome', 'refused'], false, true],
    [['--status', '404', '--error-code', 'model_not_found', '--since', '10m'], false, true],
    [['--operation', 'embedding'], false, false],
    [['--until', '1h'], false, false],
  ])('%j finds only what matches', async (words, findsAnswered, findsRefused) => {
    const { code, stdout } = await run(...words)
    expect([code, stdout.includes(answered), stdout.includes(refused)]).toEqual([
      0,
      findsAnswered,
      findsRefused,
    ])
  })

  test('an operator reads those of all accounts, with their names', async () => {
    const { lines } = await run('--all-accounts', '--json', '--status', '404')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ account_name: expect.any(String) })
    expect((await run('--all-accounts')).lines[0]).toContain('  account  ')
  })

  test.each([
    [['--since', 'lately'], 2, '30m, 6h or 7d'],
    [['--outcome', 'lost'], 1, 'outcome'],
    [['--follow', '--until', '1h'], 2, '--until'],
    [['show', 'req_1'], 4, 'request'],
  ])('%j ends with %i and says why', async (words, exitCode, reason) => {
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout]).toEqual([exitCode, ''])
    expect(stderr).toContain(reason)
  })

  test('shows one request with its attempts, and says that its bodies are not stored', async () => {
    const { stdout } = await run('show', answered)
    expect(stdout).toMatch(new RegExp(`^request +${answered}$`, 'm'))
    expect(stdout).toMatch(/^model +gpt-4o-mini$/m)
    expect(stdout).toMatch(/^attempt +provider /m)
    const { body } = await gateway.request('GET', `/v1/requests/${answered}`)
    expect(JSON.parse((await run('show', '--json', answered)).stdout)).toEqual(body)
    expect(await run('show', '--body', answered)).toMatchObject({ code: 4, stdout: '' })
  })

  test('--follow shows the last ones, then each that ends once, and Ctrl-C ends it well', async () => {
    const first = idOf(await ask('gpt-4o-mini'))
    const terminal = startInTerminal(home, ['logs', '-f', '--limit', '2'], { columns: 200 })
    await terminal.waitFor(first)
    const next = idOf(await ask('gpt-5.4'))
    const other = idOf(await ask('also-no-model'))
    await terminal.waitFor(next)
    await terminal.waitFor(other)
    terminal.type(KEY.interrupt)
    expect(await terminal.ended()).toBe(0)
    const screen = terminal.screen()
    for (const id of [first, next, other]) expect(screen.split(id)).toHaveLength(2)
    expect(screen.indexOf(first)).toBeLessThan(screen.indexOf(next))
  })
})
