import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const fileOf = async (name: string, text: string): Promise<string> => {
  const path = join(home.directory, name)
  await writeFile(path, text)
  return path
}

test('batch run asks every prompt of a file and saves the answers', async () => {
  const prompts = await fileOf('prompts.csv', 'id,question\na,[[sandbox:echo one]]\nb,[[sandbox:echo two]]\n')
  const answers = join(home.directory, 'answers.jsonl')
  const words = [
    'batch',
    'run',
    '-m',
    'gpt-4o-mini',
    '--column',
    'question',
    '-o',
    answers,
    '--json',
    prompts,
  ]
  const { code, stdout, stderr } = await home.run(words)
  expect([code, stderr]).toEqual([0, expect.stringContaining('asks 2 prompts')])
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', request_counts: { completed: 2 } })
  const lines = (await readFile(answers, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(
    new Map(lines.map(({ custom_id: id, response }) => [id, response.body.choices[0].message.content])),
  ).toEqual(
    new Map([
      ['a', 'one'],
      ['b', 'two'],
    ]),
  )
})

test('batch run makes an image of every prompt of a file, and saves their addresses', async () => {
  const prompts = await fileOf('pictures.txt', 'A red cube\nA blue cube\n')
  const answers = join(home.directory, 'images.jsonl')
  const words = ['batch', 'run', '--endpoint', 'images', '--size', '1024x1024', '-m', 'gpt-image-1.5']
  const { code, stdout } = await home.run([...words, '-o', answers, '--json', prompts])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    endpoint: '/v1/images/generations',
    status: 'completed',
    cost_usd: 0.08,
  })
  const lines = (await readFile(answers, 'utf8')).trimEnd().split('\n')
  for (const line of lines)
    expect((await fetch(JSON.parse(line).response.body.data[0].url)).headers.get('content-type')).toBe(
      'image/png',
    )
  expect(lines).toHaveLength(2)
  const refused = await home.run(['batch', 'run', '--endpoint', 'edits', '-m', 'gpt-image-1.5', prompts])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('chat or images')])
})

test('batch create, watch, results and list tell of a batch, and a wrong file is explained by its lines', async () => {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: '[[sandbox:echo three]]' }] }
  const line = JSON.stringify({ custom_id: 'c', method: 'POST', url: '/v1/chat/completions', body })
  const created = await home.run(['batch', 'create', await fileOf('requests.jsonl', line)])
  const id = created.stdout.trim()
  expect([created.code, id]).toEqual([0, expect.stringMatching(/^batch_/)])
  const watched = await home.run(['batch', 'watch', id])
  expect([watched.code, watched.stdout]).toEqual([0, expect.stringMatching(/status +completed/)])
  const results = await home.run(['batch', 'results', id])
  expect(JSON.parse(results.stdout)).toMatchObject({ custom_id: 'c', response: { status_code: 200 } })
  expect((await home.run(['batch', 'results', '--errors', id])).stderr).toContain('no errors')
  const listed = await home.run(['batch', 'list', '--json'])
  expect(JSON.parse(listed.stdout.split('\n')[0] ?? '')).toMatchObject({ id })

  const wrong = await home.run(['batch', 'create', await fileOf('wrong.jsonl', `${line}\n{}\n`)])
  const failed = await home.run(['batch', 'watch', wrong.stdout.trim()])
  expect([failed.code, failed.stderr]).toEqual([
    1,
    expect.stringContaining("Line 2: 'custom_id' must be a text."),
  ])
  expect((await gateway.request('GET', '/v1/batches')).body.data[0].status).toBe('failed')
})
