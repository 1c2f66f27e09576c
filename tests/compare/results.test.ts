import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, stream } from '../upstreams/openai-server.ts'
import { speakers, startCompareGateway } from './start-compare-gateway.ts'
import { readTable } from './read-csv.ts'
import { makeRun, readCells, RUNS } from './wait-for-run.ts'

/** Texts that a spreadsheet would execute, or that need escaping in CSV. */
const NASTY = [
  '=HYPERLINK("http://example.com","click")',
  '+1+1',
  '-2+3',
  '@SUM(A1)',
  '\tTab',
  'a "quoted" word, and a comma',
  'two\r\nlines\nand a third',
  'Grüße 🎈',
  ' plain ',
]

const CACHED = {
  prompt_tokens: 100,
  completion_tokens: 7,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
}

let gateway: ChatGateway
// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
let run: any

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'caller'])
  const echo = ({ messages }: { messages: { content: string }[] }) => messages.at(-1)?.content ?? ''
  const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }
  gateway.upstream.respondWith(
    speakers({
      red: echo,
      blue: echo,
      caller: stream([
        chunk({ delta: { role: 'assistant', tool_calls: [{ index: 0, ...call }] } }),
        chunk({ finish_reason: 'tool_calls' }),
        { ...chunk(), choices: [], usage: CACHED },
      ]),
    }),
  )
  run = await makeRun(gateway, {
    name: '=cmd',
    prompts: NASTY.map((prompt, index) => ({ prompt, id: `case ${index}`, expected: prompt })),
    lanes: [{ model: 'red', seed: 5, temperature: 0 }, { model: 'blue' }, { model: 'caller' }],
    repeats: 2,
    seed: 99,
  })
})
afterAll(() => gateway.close())

const results = (query: string) => gateway.request('GET', `${RUNS}/${run.id}/results${query}`)

describe('results', () => {
  test('are paged in the order of prompts, repeats and lanes, each cell once', async () => {
    const cells = await readCells(gateway, run.id)
    expect(cells).toHaveLength(NASTY.length * 3 * 2)
    const { body: first } = await results('?limit=4')
    expect(first).toMatchObject({ object: 'list', total: 54, has_more: true })
    expect(first.results).toEqual(first.data)
    const { body: second } = await results(`?limit=4&after=${first.next_cursor}`)
    expect([...first.data, ...second.data]).toEqual(cells.slice(0, 8))
    expect(cells.slice(0, 4).map(({ prompt_index: index, repeat, model }) => [index, repeat, model])).toEqual(
      [
        [0, 0, 'red'],
        [0, 0, 'blue'],
        [0, 0, 'caller'],
        [0, 1, 'red'],
      ],
    )
  })

  test('have the prompts of the page, once each', async () => {
    const { body: page } = await results('?limit=8')
    expect(page.prompts).toEqual([
      { prompt_index: 0, id: 'case 0', text: NASTY[0], is_cut: false, judgements: [] },
      { prompt_index: 1, id: 'case 1', text: NASTY[1], is_cut: false, judgements: [] },
    ])
    const { body: one } = await results('?prompt_index=7')
    expect(one.prompts).toEqual([
      { prompt_index: 7, id: 'case 7', text: NASTY[7], is_cut: false, judgements: [] },
    ])
    expect((await results('?status=failed')).body.prompts).toEqual([])
  })

  test('have the beginning of a long prompt, and only what the user said last', async () => {
    const long = '🎈'.repeat(2_001)
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
    const parts = [{ type: 'text', text: 'First' }, picture, { type: 'text', text: 'Second' }]
    const { id } = await makeRun(gateway, {
      models: ['red', 'blue'],
      prompts: [
        long,
        '🎈'.repeat(2_000),
        { system: 'Be brief', messages: [{ role: 'user', content: parts }] },
        {
          messages: [
            { role: 'user', content: 'Before' },
            { role: 'assistant', content: 'Yes' },
            { role: 'user', content: 'After' },
          ],
        },
        { messages: [{ role: 'system', content: 'Nobody asks' }] },
      ],
    })
    const { body } = await gateway.request('GET', `${RUNS}/${id}/results`)
    expect(
      body.prompts.map(({ text, is_cut: isCut }: { text: string; is_cut: boolean }) => [text, isCut]),
    ).toEqual([
      ['🎈'.repeat(2_000), true],
      ['🎈'.repeat(2_000), false],
      ['First\nSecond', false],
      ['After', false],
      ['', false],
    ])
  })

  test('are filtered by lane, prompt and status', async () => {
    const [red] = run.lanes
    expect((await results(`?lane_id=${red.id}`)).body.total).toBe(18)
    expect((await results('?prompt_index=3')).body).toMatchObject({ total: 6, has_more: false })
    expect((await results('?prompt_index=99')).body).toMatchObject({ total: 0, data: [] })
    expect((await results('?status=completed')).body.total).toBe(54)
    expect((await results(`?status=completed&prompt_index=0&lane_id=${red.id}`)).body.total).toBe(2)
    expect((await results('?status=failed')).body).toMatchObject({ total: 0, data: [], next_cursor: null })
  })

  test('have what a lane answered besides text', async () => {
    const { body } = await results(`?lane_id=${run.lanes[2].id}&limit=1`)
    expect(body.data[0]).toMatchObject({
      output: '',
      finish_reason: 'tool_calls',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
    })
  })

  test.each(['?limit=0', '?limit=101', '?after=nonsense', '?lane_id=red', '?prompt_index=-1', '?status=odd'])(
    'are refused with %s',
    async (query) => {
      const { status, body } = await results(query)
      expect([status, body.error.code]).toEqual([400, 'invalid_value'])
    },
  )
})

const exported = (query: string, headers = {}) =>
  gateway.fetch('GET', `${RUNS}/${run.id}/export${query}`, { headers })

describe('an export as CSV', () => {
  test('has one row per cell, survives a CSV reader unchanged, and contains no formula', async () => {
    const answer = await exported('?format=csv')
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="compare-${run.id}.csv"`)
    const rows = readTable(await answer.text())
    expect(rows).toHaveLength(54)
    const red = rows.filter(({ model, repeat }) => model === 'red' && repeat === '0')
    const asText = (text: string) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text)
    expect(red.map(({ output }) => output)).toEqual(NASTY.map(asText))
    expect(rows.flatMap((row) => Object.values(row)).filter((field) => /^[=+\-@\t\r\n]/.test(field))).toEqual(
      [],
    )
    expect(red.map(({ messages }) => JSON.parse(messages ?? '')[0].content)).toEqual(NASTY)
  })

  test('has cache reads and writes, like the results', async () => {
    const rows = readTable(await (await exported('?format=csv')).text())
    expect(rows.find(({ model }) => model === 'caller')).toMatchObject({
      prompt_tokens: '100',
      cached_tokens: '60',
      cache_write_tokens: '30',
    })
    expect(rows.find(({ model }) => model === 'red')).toMatchObject({
      cached_tokens: '0',
      cache_write_tokens: '0',
    })
    const cells = await readCells(gateway, run.id)
    const cell = cells.find(({ usage }) => usage?.prompt_tokens === CACHED.prompt_tokens)
    expect(cell?.usage.prompt_tokens_details).toEqual(CACHED.prompt_tokens_details)
  })

  test('has everything that is needed to repeat the run', async () => {
    const [row] = readTable(await (await exported('', { accept: 'text/csv' })).text())
    expect(row).toMatchObject({
      run_id: run.id,
      run_name: "'=cmd",
      run_seed: '99',
      prompt_id: 'case 0',
      repeat: '0',
      lane_name: 'red',
      model: 'red',
      model_id: 'red',
      provider: 'openai',
      seed: '5',
      status: 'completed',
      prompt_tokens: '11',
      completion_tokens: '7',
      cost_usd: '0.000081',
      finish_reason: 'stop',
      score: '1',
    })
    expect(JSON.parse(row?.['params'] ?? '')).toEqual({ seed: 5, temperature: 0 })
    expect(JSON.parse(row?.['price'] ?? '')).toMatchObject({
      unit: 'token',
      input_usd_per_1m: 1,
      output_usd_per_1m: 10,
    })
  })
})

describe('an export as JSON', () => {
  test('has the run, its prices and every cell with its messages', async () => {
    const answer = await exported('')
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="compare-${run.id}.json"`)
    const document = JSON.parse(await answer.text())
    const { body: read } = await gateway.request('GET', `${RUNS}/${run.id}`)
    // The document has a list of all cells, so the run in it contains no answers.
    for (const lane of Object.values<{ answers: unknown }>(read.results)) lane.answers = null
    expect(document.run).toEqual(read)
    expect(document.prices[run.lanes[0].id]).toMatchObject({ unit: 'token' })
    expect(document.cells).toHaveLength(54)
    const cells = await readCells(gateway, run.id)
    expect(document.cells[3]).toMatchObject({
      ...cells[3],
      prompt_id: 'case 0',
      messages: [{ role: 'user', content: NASTY[0] }],
      expected: NASTY[0],
      answered_by: { model: 'red', provider: 'openai' },
      seed: 6,
    })
    expect(new Set(document.cells[0].lane_order)).toEqual(
      new Set(run.lanes.map(({ id }: { id: string }) => id)),
    )
  })

  test('is refused in another format', async () => {
    expect((await exported('?format=xml')).status).toBe(400)
  })
})
