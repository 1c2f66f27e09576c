import { beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const NAME = 'Nightly report of the quarter and the year'
const WIDE_NAME = '\u65e5'.repeat(30)
const TITLES = ['id', 'key', 'env', 'scopes', 'spent', 'limit', 'last used', 'expires', 'name']
/** As on a screen: a beginning that is unique in the list. */
const SHORT_ID = String.raw`[\da-f-]{8,18}`
let wideId: string

beforeAll(async () => {
  const create = async (name: string): Promise<string> =>
    (await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name } })).body.id
  await create(NAME)
  wideId = await create(WIDE_NAME)
})

const splitTitles = (line = ''): string[] => line.trim().split(/ {2,}/)

/** Lists the keys on a screen. A line that is too long would appear as two. */
async function listKeys(columns: number): Promise<string[]> {
  const terminal = startInTerminal(home, ['keys'], { columns })
  expect(await terminal.ended()).toBe(0)
  return terminal.screen().split('\n')
}

describe('a table', () => {
  test('is complete on a wide screen', async () => {
    const [titles, ...rows] = await listKeys(200)
    expect(splitTitles(titles)).toEqual(TITLES)
    expect(rows.find((row) => row.endsWith(NAME))).toMatch(
      new RegExp(`^${SHORT_ID} .* inference,manage .* ${NAME}$`),
    )
  })

  test('shows the important columns on a narrow screen, shortens texts and marks that columns are missing', async () => {
    const { body } = await gateway.request('GET', '/v1/tenants/me/api-keys')
    const at76 = await listKeys(76)
    const important = ['id', 'key', 'spent', 'limit', 'last used', 'expires', 'name', '…']
    expect(splitTitles(at76[0])).toEqual(important)
    const at40 = await listKeys(40)
    expect(splitTitles(at40[0])).toEqual(['id', 'key', 'name', '…'])
    expect(at40).toHaveLength(body.data.length + 1)
    const rows = at40.join('\n')
    expect(rows).toMatch(new RegExp(`^${SHORT_ID} +\\S+ +Nightly.*…$`, 'm'))
    // Each of these characters takes two columns.
    expect(rows).toMatch(new RegExp(`^${SHORT_ID} +\\S+ +\u65e5{3,6}…$`, 'm'))
  })

  test('shows what identifies a row below each other if it does not fit on a line', async () => {
    const lines = await listKeys(17)
    expect(lines.slice(0, 2)).toEqual(['id', '  name'])
    const row = lines.indexOf(`  ${NAME.slice(0, 14)}…`)
    expect(lines[row - 1]).toMatch(new RegExp(`^${SHORT_ID}$`))
  })

  test('is complete without a terminal', async () => {
    const { stdout } = await home.run(['keys'], { environment: { COLUMNS: '40' } })
    const [titles, ...rows] = stdout.trimEnd().split('\n')
    expect(splitTitles(titles)).toEqual(TITLES)
    expect(rows.find((row) => row.startsWith(wideId))).toMatch(new RegExp(` ${WIDE_NAME}$`))
  })

  test('a table that is watched fits on the screen, also after the screen has become narrower', async () => {
    expect((await home.run(['image', '--no-wait', 'A cup'])).code).toBe(0)
    const terminal = startInTerminal(home, ['tasks', 'list', '--watch'], { columns: 200 })
    await terminal.waitFor(/^task +kind +status +done +cost +model +made$/m)
    terminal.resize(30, 24)
    await terminal.waitFor(/^task +(kind +)?status +…\n[\da-f-]{8,18} +(image +)?\w+$/m)
    terminal.type(KEY.interrupt)
    expect(await terminal.ended()).toBe(0)
  })
})
