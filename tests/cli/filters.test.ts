import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CommandFailure } from '../../cli/command-failure.ts'
import { startFilter } from '../../cli/filter/start-filter.ts'
import type { Output } from '../../cli/output/terminal.ts'
import { loadTemplate } from '../../cli/template/load-template.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const EXAMPLES = readFileSync(resolve(import.meta.dirname, '../../docs/cli-output.md'), 'utf8').match(
  /^parkway .*$/gm,
)

describe('filters of the command line', () => {
  test.each(EXAMPLES ?? [])('the document is right about %s', async (line) => {
    await home.run(['image', '--no-wait', 'A cup'])
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
    const { code, stdout, stderr } = await home.run(words.slice(1))
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^\S.*\S\n$/s), ''])
  })

  test('a filter gets a list as one array, and prints texts without quotes', async () => {
    const { body } = await gateway.request('GET', '/v1/models?category=embedding')
    const ids = body.data.map(({ id }: { id: string }) => id)
    const words = ['models', '--category', 'embedding']
    const filtered = await home.run([...words, '--jq', 'map(.id)[]'])
    expect([filtered.stdout.trim().split('\n'), filtered.code]).toEqual([ids, 0])
    const written = await home.run([...words, '--template', '{{range .}}{{.id}}{{"\\n"}}{{end}}'])
    expect(written.stdout.trim().split('\n')).toEqual(ids)
    expect((await home.run([...words, '--jq', 'length'])).stdout).toBe(`${ids.length}\n`)
  })

  test('a filter that is not valid costs nothing: the command does not begin', async () => {
    const before = (await gateway.request('GET', '/v1/tasks')).body.data.length
    for (const filter of [
      ['--jq', '.['],
      ['--jq', 'nosuch'],
      ['--template', '{{.id'],
      ['--template', '{{nosuch .}}{{end}}'],
      ['--jq', '.', '--template', 'x'],
    ]) {
      const { code, stdout, stderr } = await home.run(['image', 'A cup', ...filter])
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/--(jq|template)/)])
    }
    expect((await gateway.request('GET', '/v1/tasks')).body.data).toHaveLength(before)
  })

  test('a filter that fails on a value is a failure with the reason, after what it printed', async () => {
    const { code, stdout, stderr } = await home.run(['whoami', '--jq', '.object, error("no such thing")'])
    expect([code, stdout, stderr]).toEqual([
      1,
      expect.stringMatching(/\n$/),
      'parkway: --jq failed: no such thing.\n',
    ])
    const template = await home.run([
      'whoami',
      '--template',
      '{{range .}}{{range .}}{{end}}{{index $missing 1}}{{end}}',
    ])
    expect([template.code, template.stderr]).toEqual([
      1,
      expect.stringMatching(/^parkway: --template failed: /),
    ])
  })

  test('a filter reads neither files nor the environment', async () => {
    const secret = { environment: { PARKWAY_SECRET: 'kept' } }
    for (const filter of ['$ENV', 'env', 'input_filename', '-f'])
      expect((await home.run(['whoami', '--jq', filter], secret)).stdout).not.toContain('kept')
    expect((await home.run(['whoami', '--jq', 'import "/etc/passwd" as $f; $f'])).code).toBe(2)
  })

  test('a filter takes texts that are no well-formed Unicode, and keeps empty lines', async () => {
    const output = collect()
    const filter = await startFilter('jq', '.[]', output)
    filter.take(JSON.stringify(['\ud800x', '\\ud800', '', '']))
    await filter.end()
    expect(output.written()).toBe('\ufffdx\n\\ud800\n\n\n')
  })
})

test.each([
  ['jq', '[recurse(1)]', /longer than/],
  ['template', `${'{{range $}}'.repeat(9)}x${'{{end}}'.repeat(9)}`, /longer than|memory/],
] as const)('a --%s that does not end is stopped', async (kind, text, reason) => {
  const filter = await startFilter(kind, text, collect(), 300)
  filter.take(JSON.stringify(Array.from({ length: 1_000 }, (_, index) => index)))
  const failure = await filter.end().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(CommandFailure)
  expect(String(failure)).toMatch(reason)
  // A command that goes on ends with its next value.
  expect(() => filter.take('1')).toThrow(reason)
})

const THINGS = [
  { id: 'a', n: 1.5, list: ['x', 'y'], at: '2020-01-02T00:00:00Z', inner: { deep: true } },
  { id: 'bbb', n: null, list: [], at: 1_577_923_200, inner: null },
]

test.each([
  ['{{range .}}{{.id}} {{.inner.deep}};{{end}}', 'a true;bbb ;\n'],
  ['{{range $i, $e := .}}{{$i}}{{if $e.n}}+{{else if $e.inner}}?{{else}}-{{end}}{{end}}', '0+1-\n'],
  ['{{range .}}{{tablerow .id (len .list) "x"}}{{end}}{{tablerender}}end', 'a    2  x\nbbb  0  x\nend\n'],
  ['{{range .}}{{tablerow .id (timeago .at)}}{{end}}', 'a    2020-01-02\nbbb  2020-01-02\n'],
  [
    '{{range .}}{{.at | timefmt "Mon 2 January 06, 15:04:05.000 MST (3 PM), _2, 002"}};{{end}}',
    'Thu 2 January 20, 00:00:00.000 UTC (12 AM),  2, 002;Thu 2 January 20, 00:00:00.000 UTC (12 AM),  2, 002;\n',
  ],
  [
    '{{timefmt "2006-01-02T15:04:05.999Z07:00" "2026-11-09T13:07:03.250+01:00"}}',
    '2026-11-09T12:07:03.25Z\n',
  ],
  ['{{pluck "id" . | join ", "}} {{truncate 3 "abcdef"}}', 'a, bbb ab…\n'],
  ['{{$found := "no"}}{{range .}}{{if eq .id "bbb"}}{{$found = "yes"}}{{end}}{{end}}{{$found}}', 'yes\n'],
  ['{{range .}}{{if eq .id "bbb"}}{{break}}{{end}}{{.id}}{{end}}', 'a\n'],
  ['{{with index . 0 "inner"}}{{.deep}}{{end}}{{with index . 1 "inner"}}x{{else}}none{{end}}', 'truenone\n'],
  ['{{- /* nothing */ -}}  a {{- " b" -}} c', 'a bc\n'],
  ['{{2.7 | printf "%3s|%-4v|%.2f|%q|%%%d" "a" true 1.5 "z"}}', '  a|true|1.50|"z"|%2\n'],
  ['{{and nil true}}{{or nil "x"}}{{not 0}}{{and 1 2}}', 'xtrue2\n'],
  ['{{.constructor}}{{index . "length"}}{{(index . 0).__proto__}}|', '|\n'],
  ['{{index . 0 "inner"}}', '{"deep":true}\n'],
  ['{{color "green+bold" "hi"}}', 'hi\n'],
])('the template %s makes %j', (text, made) => {
  const render = loadTemplate({ text, isForPerson: false, columns: 80 })
  expect(render(JSON.stringify(THINGS)).text).toBe(made)
})

test.each([
  '{{if .}}',
  '{{end}}',
  '{{.a',
  '{{.}',
  '{{"a}}',
  '{{range $a = .}}{{end}}',
  '{{$a, $b := .}}',
  `{{${'('.repeat(500)}1${')'.repeat(500)}}}`,
])('the template %s is refused', (text) => {
  expect(() => loadTemplate({ text, isForPerson: false, columns: 80 })).toThrow()
})

function collect(): Output & { written: () => string } {
  const parts: string[] = []
  const write = (text: string): void => void parts.push(text)
  return {
    isTerminal: false,
    columns: Number.POSITIVE_INFINITY,
    write,
    copy: write,
    control: write,
    line: write,
    text: write,
    note: write,
    style: (_, text) => text,
    time: (time) => time ?? '-',
    written: () => parts.join(''),
  }
}
