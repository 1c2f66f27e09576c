import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mp3Of } from './audio/audio-files.ts'
import { startTestGateway, type TestGateway } from './support/start-test-gateway.ts'

const ROOT = resolve(import.meta.dirname, '..')
const ORIGIN = 'http://127.0.0.1:8080'
/** Placeholder for the id in the answer to the previous example. */
const SHOWN_ID = /01a1…/g

const FILES: Readonly<Record<string, Blob>> = {
  'talk.mp3': new Blob([new Uint8Array(mp3Of(2))]),
  'capitals.csv': new Blob(['prompt,expected\nThe capital of France?,Paris\n']),
}

const documents = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name))].filter(
  (path) => path.endsWith('.md'),
)
const examples = documents.map((path) => ({ path, commands: readCommands(path) }))

interface Command {
  readonly words: string[]
  /** The answer that the document shows below the command; empty if it shows none. */
  readonly answer: string
}

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_SANDBOX_GPU_START_MS: '0' } })
})

afterAll(() => gateway.close())

/** Reads the curl commands of a document, each with the answer in the comment below it. */
function readCommands(path: string): Command[] {
  const blocks = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/```sh\n(.*?)```/gs)]
  const texts = blocks.flatMap(([, block = '']) => block.split(/^(?=curl )/m))
  return texts
    .filter((text) => text.startsWith('curl '))
    .map((text) => ({ words: splitWords(text), answer: /^# (\d{3} \{.*)$/m.exec(text)?.[1] ?? '' }))
}

/** Splits the first command of the text into words, like a shell. */
function splitWords(text: string): string[] {
  const joined = text.replaceAll('\\\n', ' ')
  const command = /^(?:"[^"]*"|'[^']*'|[^\n"'])*/.exec(joined)?.[0] ?? ''
  return [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  )
}

interface Request {
  url: string
  readonly headers: [string, string][]
  body: string | FormData | null
}

function readRequest(words: readonly string[]): Request {
  const request: Request = { url: '', headers: [], body: null }
  for (let index = 1; index < words.length; index += 1) {
    const word = words[index] ?? ''
    const value = words[index + 1] ?? ''
    if (word.startsWith('http')) request.url = word
    else if (word === '-H') request.headers.push(readPair(value, ': '))
    else if (word === '-d') request.body = value
    else if (word === '-F') {
      const [name, text] = readPair(value, '=')
      const form: FormData = request.body instanceof FormData ? request.body : new FormData()
      const file = text.startsWith('@') ? FILES[text.slice(1)] : undefined
      if (file === undefined) form.append(name, text)
      else form.append(name, file, text.slice(1))
      request.body = form
    } else if (word !== '-s' && word !== '-N' && word !== '-o') throw new Error(`what is '${word}' of curl?`)
    if (/^-[HdFo]$/.test(word)) index += 1
  }
  return request
}

function readPair(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + separator.length)]
}

/** Reads the status of an answer and the first value of each of its members, except for values that are cut short. */
function membersOf(answer: string): Record<string, string> {
  const pairs = [...answer.matchAll(/"(\w+)": ?("[^"…]*"|[\d.]+|true|false|null)(?=[,}])/g)]
  return Object.fromEntries([
    ...pairs.toReversed().map(([, name = '', value = '']) => [name, value]),
    ['status code', answer.slice(0, 3)],
  ])
}

test('the documents have examples, and all use the same address and key', () => {
  const commands = examples.flatMap(({ commands: ofDocument }) => ofDocument)
  expect(commands.length).toBeGreaterThan(12)
  for (const { words } of commands) {
    const { url, headers } = readRequest(words)
    const key = headers.find(([name]) => /^(authorization|x-api-key)$/i.test(name))?.[1]
    expect([url.startsWith(`${ORIGIN}/`), key?.replace(/^Bearer /, '')]).toEqual([true, '$PARKWAY_API_KEY'])
  }
})

test.each(examples.filter(({ commands }) => commands.length > 0))(
  'every example of $path works',
  async ({ commands }) => {
    let id = ''
    for (const { words, answer } of commands) {
      const { url, headers, body: shown } = readRequest(words)
      const body = typeof shown === 'string' ? shown.replaceAll(SHOWN_ID, id) : shown
      const sent = headers.map(([name, value]): [string, string] => [
        name,
        value.replace('$PARKWAY_API_KEY', gateway.key),
      ])
      const address = url.replace(ORIGIN, gateway.baseUrl).replaceAll(SHOWN_ID, id)
      const method = body === null ? 'GET' : 'POST'
      const response = await fetch(address, { method, headers: sent, body })
      const text = await response.text()
      expect([words.join(' '), response.status < 300, text]).toEqual([words.join(' '), true, text])
      if (answer !== '') expect(membersOf(`${response.status} ${text}`)).toMatchObject(membersOf(answer))
      id = /"id": ?"([0-9a-f-]{36})"/.exec(text)?.[1] ?? id
    }
  },
)
