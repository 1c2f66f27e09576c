import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const embedding = ['-m', 'text-embedding-3-small', '--dimensions', '8']

describe('embed', () => {
  test('prints a vector for each argument, and with --json exactly the answer of the API', async () => {
    const { code, stdout, stderr } = await home.run(['embed', ...embedding, 'one', 'two'])
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^text-embedding-3-small, 2 texts, \$/)])
    const body = { model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 8 }
    const { body: answer } = await gateway.request('POST', '/v1/embeddings', { body })
    expect(linesOf(stdout)).toEqual(
      answer.data.map(({ index, embedding: vector }: { index: number; embedding: number[] }) => ({
        index,
        embedding: vector,
      })),
    )
    const json = await home.run(['embed', ...embedding, '--json', 'one', 'two'])
    expect(JSON.parse(json.stdout)).toEqual(answer)
  })

  test('reads files and lines of stdin as text and as JSON, in batches', async () => {
    const lines = Array.from({ length: 600 }, (_, index) =>
      index % 2 === 0 ? `text ${index}` : JSON.stringify({ id: `n${index}`, text: `text ${index}` }),
    )
    const { code, stdout } = await home.run(['embed', ...embedding], { stdin: `${lines.join('\r\n')}\n\n` })
    const rows = linesOf(stdout)
    expect([code, rows.length, rows[599].index, rows[599].id]).toEqual([0, 600, 599, 'n599'])
    const answers = await home.run(['embed', '--json', ...embedding], { stdin: lines.join('\n') })
    expect(linesOf(answers.stdout).map(({ data }) => data.length)).toEqual([256, 256, 88])
    await writeFile(join(home.directory, 'texts.txt'), '"quoted"\n"not JSON\n')
    const file = await home.run(['embed', ...embedding, '-f', 'texts.txt'])
    expect([file.code, linesOf(file.stdout).length]).toEqual([0, 2])
  })

  test('takes more input than it keeps in memory, and no endless line', async () => {
    const line = `{"text":"${'word '.repeat(40_000)}"}\n`
    const long = await home.run(['moderate'], { stdin: line.repeat(150) })
    expect([long.code, long.stdout.split('\n').length]).toEqual([0, 151])
    const endless = await home.run(['embed', ...embedding], { stdin: 'x'.repeat(5 * 1024 * 1024) })
    expect([endless.code, endless.stderr]).toEqual([2, expect.stringContaining('4 MiB')])
  })

  test.each([
    [['embed'], 2, 'no input'],
    [['embed', '-f', '/nowhere'], 2, '/nowhere'],
    [['embed', '--dimensions', 'x', 'y'], 2, '--dimensions'],
    [['embed', '-m', 'no-such', 'y'], 4, 'no-such'],
    [['moderate'], 2, 'no input'],
    [['rerank', 'q'], 2, 'no documents'],
    [['rerank', '--top', '0', 'q', 'd'], 2, '--top'],
    [['rerank'], 2, 'query'],
    [['run'], 2, 'model'],
    [['run', 'no-such', '-i', 'a=b'], 4, 'no-such'],
    [['run', 'gpt-4o-mini', '-i', 'a'], 2, 'key=value'],
    [['run', 'gpt-4o-mini', '-i', 'a:={'], 2, 'not JSON'],
    [['run', 'gpt-4o-mini', '-i', 'a=@/nowhere'], 2, '/nowhere'],
  ])('%j ends with %i and says why', async (words, exitCode, reason) => {
    const { code, stdout, stderr } = await home.run(words)
    expect([code, stdout]).toEqual([exitCode, ''])
    expect(stderr).toContain(reason)
  })

  test('a JSON line without a text is named', async () => {
    const { code, stderr } = await home.run(['embed', ...embedding], { stdin: 'a\n{"id":1}\n' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('Line 2 of stdin')])
  })
})

describe('moderate and rerank', () => {
  test('tell which texts are harmful', async () => {
    const texts = ['I will plant a tree.', 'I will kill you.']
    const { code, stdout } = await home.run(['moderate', ...texts])
    expect([code, stdout.split('\n')]).toEqual([
      0,
      ['ok\tI will plant a tree.', expect.stringMatching(/^flagged: .*\d\tI will kill you\.$/), ''],
    ])
    const { body } = await gateway.request('POST', '/v1/moderations', { body: { input: texts } })
    const json = JSON.parse((await home.run(['moderate', '--json', ...texts])).stdout)
    expect({ ...json, id: body.id }).toEqual(body)
  })

  test('rank documents by a query', async () => {
    const documents = ['Bread is baked.', 'A gateway joins two networks.']
    const words = ['rerank', '--top', '1', 'What is a gateway?']
    const { code, stdout } = await home.run(words, { stdin: documents.join('\n') })
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^ *[\d.]+ +2 +A gateway joins two networks\.$/m),
    ])
    const body = { query: 'What is a gateway?', documents, top_n: 1 }
    const { body: answer } = await gateway.request('POST', '/v1/rerank', { body })
    const json = JSON.parse((await home.run([...words, '--json', ...documents])).stdout)
    expect({ ...json, id: answer.id }).toEqual(answer)
  })
})
