import type { ChildProcess } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'

const { gateway, home } = await startGatewayAndHome(() =>
  startTestGateway({ settings: { PARKWAY_BODY_STORAGE: 'accounts' } }),
)

const models = ['-m', 'gpt-4o-mini', '-m', 'gpt-5.4']
const MISSING = 'cannot be read: there is no such file.\n'
const DIRECTORY = 'cannot be read: it is a directory.\n'
const UNKNOWN = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'
const write = (name: string, text: string) => writeFile(join(home.directory, name), text)
const readRuns = async (query = '') => (await gateway.request('GET', `/v1/compare/runs${query}`)).body.data

describe('a comparison', () => {
  test('runs prompts of a file, as text and as JSON, and shows its lanes with intervals', async () => {
    await write(
      'prompts.txt',
      'Why?\n\n{"prompt":"2 + 2?","expected":{"type":"contains","value":"4"}}\nHow?\n',
    )
    const { code, stdout, stderr } = await home.run([
      'compare',
      'run',
      ...models,
      '-f',
      'prompts.txt',
      '--repeats',
      '2',
      '--name',
      'Small ones',
    ])
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^3 prompts, 12 answers: about \$0\.\d+, and \d+ s\.\n\d+ of 12 answers, \$[\s\S]*12 of 12 answers/,
      ),
    ])
    expect(stdout).toMatch(/^status +completed$/m)
    expect(stdout).toMatch(/^ +gpt-4o-mini +6 +\d\.\d\d \(\d\.\d\d–\d\.\d\d\) +\d+ \(\d+–\d+\)/m)
    const [run] = await readRuns()
    expect(run).toMatchObject({ name: 'Small ones', prompts_total: 3, repeats: 2, status: 'completed' })
    const shown = await home.run(['compare', 'show', '--json', run.id])
    expect(JSON.parse(shown.stdout)).toEqual(
      (await gateway.request('GET', `/v1/compare/runs/${run.id}`)).body,
    )
    const answers = await home.run(['compare', 'show', '--answers', run.id])
    expect([answers.code, answers.stdout]).toEqual([0, expect.stringContaining('gpt-5.4, prompt 2')])
    const listed = await home.run(['compare', 'list', '--json'])
    expect(JSON.parse(listed.stdout.split('\n')[0] ?? '')).toMatchObject({ id: run.id })
    expect((await home.run(['compare'])).stdout).toContain(run.id)
  })

  test('is voted on by name, and exported', async () => {
    const { stdout } = await home.run(['compare', 'run', ...models, '--json', 'Why is the sky blue?'])
    const run = JSON.parse(stdout)
    const voted = await home.run(['compare', 'vote', run.id, 'gpt-5.4', '--reason', 'Shorter.', '--json'])
    const [, lane] = run.lanes
    expect(JSON.parse(voted.stdout)).toMatchObject({
      winner_lane_id: lane.id,
      vote: { outcome: 'winner', reason: 'Shorter.', winner_lane_id: lane.id },
    })
    const tie = await home.run(['compare', 'vote', run.id, lane.id, '--prompt', '0', '--tie'])
    expect([tie.code, tie.stdout]).toEqual([0, expect.stringMatching(/^Voted: tie\.\n[\s\S]*\* gpt-5\.4/)])
    const saved = await home.run(['compare', 'export', '-o', 'run.csv', run.id])
    expect([saved.code, saved.stdout]).toEqual([0, 'run.csv\n'])
    expect((await readFile(join(home.directory, 'run.csv'), 'utf8')).split('\r\n')).toHaveLength(4)
    expect((await home.run(['compare', 'export', '-o', 'run.csv', run.id])).code).toBe(1)
    const piped = await home.run(['compare', 'export', run.id])
    expect(JSON.parse(piped.stdout)).toMatchObject({ object: 'compare.export', run: { id: run.id } })
  })

  test('is cancelled by an interruption', async () => {
    let child: ChildProcess | undefined
    const words = ['compare', 'run', ...models, '--name', 'Endless', '[[sandbox:hang]] hello']
    const running = home.run(words, { onStart: (started) => (child = started) })
    const run = await eventually(async () => {
      const runs: { id: string; name: string }[] = await readRuns('?status=running')
      const started = runs.find(({ name }) => name === 'Endless')
      expect(started).toBeDefined()
      return started
    })
    child?.kill('SIGINT')
    const { code, stderr } = await running
    expect([code, stderr]).toEqual([130, expect.stringMatching(/was cancelled after 0 of 2 answers\. \$/)])
    expect(await readRuns('?status=cancelled')).toContainEqual(expect.objectContaining({ id: run?.id }))
  })

  test('is a live grid on a terminal, which gives way to the result', async () => {
    const words = ['compare', 'run', ...models, '[[sandbox:latency ms=1500]] hello']
    const terminal = startInTerminal(home, words, { columns: 150 })
    await terminal.waitFor(/^gpt-4o-mini +[█░]{20} 0\/1, \$0\.00$/m)
    await terminal.waitFor('status   completed')
    expect(await terminal.ended()).toBe(0)
    expect(terminal.screen()).not.toMatch(/[█░]/)
    const second = startInTerminal(home, ['compare', 'run', ...models, '[[sandbox:hang]] hello'])
    await second.waitFor('0/1')
    second.type(KEY.interrupt)
    expect(await second.ended()).toBe(130)
  })

  const promptsOf = async (name: string) => {
    const run = (await readRuns()).find((one: { name: string }) => one.name === name)
    const { body } = await gateway.request('GET', `/v1/compare/runs/${run?.id}/results?limit=100`)
    return body.prompts.map(({ messages, text }: { messages?: unknown; text?: string }) => messages ?? text)
  }
  const runFile = (name: string, ...words: string[]) =>
    home.run(['compare', 'run', ...models, '--name', name, ...words])

  test('never sends the line of names of a CSV file, and reads quoted fields', async () => {
    await write(
      'quoted.csv',
      '\uFEFFid,Prompt,expected\r\n1,"Say ""a, b""\nplease.","a, b"\r\n,,\n2,Of Peru?,Lima\n',
    )
    const { code, stderr } = await runFile('Quoted', '-f', 'quoted.csv')
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^2 prompts, 4 answers: about \$/)])
    expect(JSON.stringify(await promptsOf('Quoted'))).toContain(String.raw`Say \"a, b\"\nplease.`)
    expect(JSON.stringify(await promptsOf('Quoted'))).not.toMatch(/prompt"|expected/i)
  })

  test('takes the prompts from the column or member that is named', async () => {
    await write('questions.csv', 'question;count\n"One; two?";1\nThree?;2\n')
    const { code } = await runFile('Column', '-f', 'questions.csv', '--column', 'Question')
    expect(code).toBe(0)
    expect(JSON.stringify(await promptsOf('Column'))).toMatch(/One; two\?.*Three\?/)
    await write('questions.jsonl', '{"question":"Four?","other":1}\n')
    expect((await runFile('Member', '-f', 'questions.jsonl', '--column', 'question')).code).toBe(0)
    expect(JSON.stringify(await promptsOf('Member'))).toContain('Four?')
    await write('texts.jsonl', '"Five?"\n')
    expect((await runFile('Texts', '-f', 'texts.jsonl')).code).toBe(0)
    expect(JSON.stringify(await promptsOf('Texts'))).not.toContain(String.raw`\"Five`)
  })

  test('asks nothing if a file has no column that is clearly the prompt, or costs more than was agreed to', async () => {
    await write('unclear.csv', 'question,answer\nWhy?,So\n')
    const before = (await readRuns()).length
    const unclear = await runFile('Unclear', '-f', 'unclear.csv')
    expect([unclear.code, unclear.stderr]).toEqual([
      2,
      expect.stringMatching(/"question", "answer"\.\n {2}Choose one with --column/),
    ])
    expect((await runFile('Unclear', '-f', 'unclear.csv', '--column', 'nope')).stderr).toContain(
      'no column "nope"',
    )
    await write('broken.csv', 'prompt\n"Why\n')
    expect((await runFile('Unclear', '-f', 'broken.csv')).stderr).toContain('broken.csv is not CSV')
    expect((await runFile('Unclear', '--column', 'a', 'Why?')).code).toBe(2)
    const dear = await home.run(['compare', 'run', ...models, 'Why?'], {
      environment: { PARKWAY_ASK_ABOVE_USD: '0.000001' },
    })
    expect([dear.code, dear.stderr]).toEqual([
      2,
      expect.stringMatching(/The 2 answers would cost about \$0\.0\d+, .*\n.*--yes/),
    ])
    expect(await readRuns()).toHaveLength(before)
    const agreed = await home.run(['compare', 'run', ...models, '--yes', 'Why?'], {
      environment: { PARKWAY_ASK_ABOVE_USD: '0.000001' },
    })
    expect(agreed.code).toBe(0)
  })

  test('prints the verdict of a judge', async () => {
    const judge = ['--judge', 'gpt-5.4', '--rubric', 'Which is shorter?']
    const { code, stdout, stderr } = await runFile('Judged', ...judge, 'Why is the sky blue?')
    expect([code, stderr]).toEqual([0, expect.stringContaining('of it for the judge')])
    expect(stdout).toMatch(/^Verdict: not enough votes/m)
    expect((await runFile('Judged', '--rubric', 'x', 'Why?')).code).toBe(2)
  })

  test.each([
    [['compare', 'run', '-m', 'gpt-4o-mini', 'x'], 2, 'two models'],
    [['compare', 'run', ...models], 2, 'one of a prompt'],
    [['compare', 'run', ...models, '-f', '/nowhere'], 2, `"/nowhere" ${MISSING}`],
    [['compare', 'run', ...models, '-f', '/'], 2, `"/" ${DIRECTORY}`],
    [['compare', 'run', ...models, '--lane', '{', 'x'], 2, '--lane'],
    [['compare', 'run', ...models, '--repeats', '0', 'x'], 2, '--repeats'],
    [['compare', 'run', '-m', 'gpt-4o-mini', '-m', 'no-such', 'x'], 4, 'no-such'],
    [['compare', 'run', ...models, '--dataset', UNKNOWN], 4, ''],
    [['compare', 'run', '-m', 'gpt-5.4', '--again', UNKNOWN], 2, 'two models'],
    [['compare', 'run', '--again', UNKNOWN], 4, ''],
    [['compare', 'run', '--again', UNKNOWN, 'x'], 2, 'one of a prompt'],
    [['compare', 'diff', UNKNOWN, UNKNOWN], 4, ''],
    [['datasets', 'from-run', UNKNOWN], 4, ''],
    [['datasets', 'from-run', '--which', 'best', UNKNOWN], 2, '--which'],
    [['datasets', 'from-run', '--below', '2', UNKNOWN], 2, '--below'],
    [['datasets', 'from-log', '--model', 'none'], 1, 'stored body'],
    [['compare', 'show', UNKNOWN], 4, ''],
    [['compare', 'vote', UNKNOWN, 'x'], 4, ''],
    [['compare', 'export', UNKNOWN], 4, ''],
    [['compare', 'export', '--format', 'xml', UNKNOWN], 2, '--format'],
    [['datasets', 'show', UNKNOWN], 4, ''],
    [['datasets', 'rm', UNKNOWN], 4, ''],
    [['datasets', 'create', '/nowhere'], 2, `"/nowhere" ${MISSING}`],
    [['datasets', 'create', '/nowhere.csv'], 2, `"/nowhere.csv" ${MISSING}`],
    [['datasets', 'create', '/'], 2, `"/" ${DIRECTORY}`],
    [['datasets', 'create', 'directory.csv'], 2, '"directory.csv" is not a file.\n'],
  ])('%j ends with %i and says why', async (words, exitCode, reason) => {
    await mkdir(join(home.directory, 'directory.csv'), { recursive: true })
    const { code, stdout, stderr } = await home.run(words)
    expect([code, stdout, stderr]).toEqual([exitCode, '', expect.stringContaining(reason)])
  })
})

test('a dataset is made of a CSV file or of lines, shown, used and deleted', async () => {
  await write('capitals.csv', 'prompt,expected\nThe capital of France?,Paris\nOf Peru?,Lima\n')
  const created = await home.run(['datasets', 'create', '--name', 'Capitals', 'capitals.csv'])
  expect([created.code, created.stderr]).toEqual([0, '2 prompts\n'])
  const id = created.stdout.trim()
  const lines = await home.run(['datasets', 'create', '-', '--description', 'two', '--json'], {
    stdin: 'one\n{"prompt":"two"}\n',
  })
  expect(JSON.parse(lines.stdout)).toMatchObject({ name: 'stdin', description: 'two', prompts_total: 2 })
  expect((await home.run(['datasets', 'show', id])).stdout).toMatch(/^ +1 +"Lima" +Of Peru\?$/m)
  const { body } = await gateway.request('GET', `/v1/compare/datasets/${id}`)
  expect(JSON.parse((await home.run(['datasets', 'show', '--json', id])).stdout)).toEqual(body)
  expect((await home.run(['datasets'])).stdout).toContain('Capitals')
  const run = await home.run(['compare', 'run', ...models, '--dataset', id, '--no-follow'])
  expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/^[\da-f-]{36}\n$/)])
  expect((await home.run(['datasets', 'rm', id])).stdout).toBe(`Deleted ${id}.\n`)
  expect((await home.run(['datasets', 'show', id])).code).toBe(4)
})

test('the answers of a run that scored low make a dataset, and the run is repeated with a change and compared', async () => {
  const first = await home.run(['compare', 'run', ...models, '--score', 'exact=No.', '--json', 'Why?', 'so?'])
  const { id } = JSON.parse(first.stdout)
  const made = await home.run([
    'datasets',
    'from-run',
    id.slice(0, -2),
    '--which',
    'low_score',
    '--lane',
    'gpt-5.4',
    '--json',
  ])
  expect(JSON.parse(made.stdout)).toMatchObject({
    prompts_total: 1,
    name: expect.stringContaining('Failures'),
  })
  const lanes = ['--lane', '{"model":"gpt-4o-mini","system":"Answer No."}', '-m', 'gpt-5.4']
  const again = await home.run(['compare', 'run', '--again', id.slice(0, -2), ...lanes, '--json'])
  const changed = JSON.parse(again.stdout)
  expect(changed).toMatchObject({ prompts_total: 1, scores: [{ type: 'exact' }] })
  const diff = await home.run(['compare', 'diff', changed.id, id])
  expect([diff.code, diff.stdout]).toEqual([
    0,
    expect.stringMatching(/^gpt-4o-mini +score +0\.00 +0\.00 .*not enough prompts/m),
  ])
  const json = await home.run(['compare', 'diff', '--json', changed.id, id])
  expect(JSON.parse(json.stdout)).toMatchObject({ run_id: changed.id, against_run_id: id })
})

test('requests of the log whose bodies are stored make a dataset', async () => {
  await gateway.request('PATCH', '/v1/body-storage', { body: { enabled: true } })
  await home.run(['chat', '--model', 'gpt-4o-mini', 'What is tea?'])
  const made = await eventually(async () => {
    const words = [
      'datasets',
      'from-log',
      '--name',
      'Real',
      '--model',
      'gpt-4o-mini',
      '--since',
      '1h',
      '--limit',
      '5',
    ]
    const found = await home.run([...words, '--json'])
    expect(found.code).toBe(0)
    return JSON.parse(found.stdout)
  })
  const { body } = await gateway.request('GET', `/v1/compare/datasets/${made.id}`)
  expect(JSON.stringify(body.prompts)).toContain('What is tea?')
})
