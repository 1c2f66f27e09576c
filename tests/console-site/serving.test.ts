import { rm } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { buildSampleConsole, PAGE, SCRIPT, type SampleConsole } from './build-sample-console.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const SCRIPT_PATH = '/assets/index-Ab1_-2.js'
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

let site: SampleConsole
let gateway: TestGateway

beforeAll(async () => {
  site = await buildSampleConsole()
  gateway = await startTestGateway({
    settings: {
      PARKWAY_CONSOLE_DIR: site.directory,
      PARKWAY_PUBLIC_URL: 'https://gateway.example.com/base',
      PARKWAY_LIMITS: JSON.stringify({ strangers: { requests_per_minute: 3 } }),
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await site[Symbol.asyncDispose]()
})

interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Sends the path as it is, without the corrections of `fetch`. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  const { hostname, port } = new URL(gateway.baseUrl)
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path, method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('the page', () => {
  test.each(['/', '/playground', '/log/req_019a?tab=attempts', '/a/b/c.d', '/..%2f..%2fsecret.js'])(
    'is the answer for %s without a key, never cached, with a strict policy',
    async (path) => {
      const { status, headers, bytes } = await ask(path, HTML)
      expect([status, bytes.toString()]).toEqual([200, PAGE])
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'x-request-id': expect.stringMatching(/^req_/),
      })
      expect(headers['permissions-policy']).toContain('microphone=(self)')
      expect(headers['permissions-policy']).toContain('camera=()')
    },
  )

  test('its policy allows no foreign origin, no inline script and no frame', async () => {
    const { headers } = await ask('/')
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob: https://gateway.example.com",
      "media-src 'self' data: blob: https://gateway.example.com",
      "font-src 'self'",
      "connect-src 'self'",
      "worker-src 'self'",
      "manifest-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
  })

  test('is not sent again to a client that has it', async () => {
    const { headers } = await ask('/playground', HTML)
    const again = await ask('/playground', { ...HTML, 'if-none-match': `"other", W/${headers.etag}` })
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, headers.etag])
    expect((await ask('/', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('HEAD gets the headers only', async () => {
    for (const path of ['/', '/keys', SCRIPT_PATH]) {
      const whole = await ask(path, HTML)
      const head = await ask(path, HTML, 'HEAD')
      expect([head.status, head.bytes.length]).toEqual([200, 0])
      expect(head.headers['content-length']).toBe(String(whole.bytes.length))
      expect(head.headers.etag).toBe(whole.headers.etag)
    }
  })

  test.each([
    ['/v1/nothing', HTML],
    ['/v1', HTML],
    ['/anthropic/v1/nothing', HTML],
    ['/playground', { accept: 'application/json' }],
    ['/playground', { accept: '*/*' }],
    ['/playground', {}],
  ])('is not the answer for %s with %j: the API says that there is no such route', async (path, headers) => {
    const answer = await ask(path, headers)
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({ error: { code: 'not_found' } })
  })

  test('a form that another site sends to a path of the console gets nothing', async () => {
    expect((await ask('/playground', HTML, 'POST')).status).toBe(404)
    expect((await ask('/', HTML, 'POST')).status).toBe(405)
  })

  test('a route of the API keeps its path', async () => {
    expect((await ask('/v1/models', HTML)).status).toBe(401)
    expect((await ask('/v1/chat/completions', HTML)).status).toBe(405)
    expect((await ask('/openapi.json', HTML)).headers['content-type']).toContain('application/json')
  })
})

describe('assets', () => {
  test.each([
    ['br', 'br, gzip', (bytes: Buffer) => brotliDecompressSync(bytes)],
    ['gzip', 'gzip;q=0.5, br;q=0', (bytes: Buffer) => gunzipSync(bytes)],
    [undefined, 'identity', (bytes: Buffer) => bytes],
    [undefined, '', (bytes: Buffer) => bytes],
  ])('are sent as %s for Accept-Encoding %j and cached for a year', async (coding, accepted, decode) => {
    const { status, headers, bytes } = await ask(SCRIPT_PATH, { 'accept-encoding': accepted })
    expect([status, headers['content-encoding']]).toEqual([200, coding])
    expect(decode(bytes).toString()).toBe(SCRIPT)
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(bytes.length),
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(
      await ask(SCRIPT_PATH, { 'if-none-match': headers.etag ?? '', 'accept-encoding': accepted }),
    ).toMatchObject({
      status: 304,
    })
  })

  test('have another tag in each coding', async () => {
    const codings = ['br', 'gzip', 'identity']
    const answers = await Promise.all(
      codings.map((coding) => ask(SCRIPT_PATH, { 'accept-encoding': coding })),
    )
    expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(codings.length)
  })

  test('assets that the build has compressed are sent as they are', async () => {
    const built = brotliCompressSync('compressed by the build')
    await site.write('assets/built-Gh4.js', 'x'.repeat(2000))
    await site.write('assets/built-Gh4.js.br', built)
    await eventually(async () => {
      const { bytes } = await ask('/assets/built-Gh4.js', { 'accept-encoding': 'br' })
      expect(bytes).toEqual(built)
    })
  })

  test('assets of a kind that is compressed already are not compressed again', async () => {
    const { headers, bytes } = await ask('/assets/picture-Cd3.png', { 'accept-encoding': 'br, gzip' })
    expect([headers['content-type'], headers['content-encoding'], bytes.length]).toEqual([
      'image/png',
      undefined,
      4000,
    ])
  })

  test('are sent whole when a range is asked for', async () => {
    const { status, headers, bytes } = await ask(SCRIPT_PATH, { range: 'bytes=0-9' })
    expect([status, headers['accept-ranges'], bytes.toString()]).toEqual([200, 'none', SCRIPT])
  })

  test('in folders are found', async () => {
    expect((await ask('/assets/langs/go-Xy.js')).bytes.toString()).toBe('export {}\n')
  })

  test.each([
    '/assets/gone-9z.js',
    '/assets/',
    '/assets/langs',
    '/assets/.hidden.js',
    '/assets/linked.js',
    '/assets/../../secret.js',
    '/assets/../index.html',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets/..\\..\\secret.js',
    '/assets//index-Ab1_-2.js',
    '/assets/langs%2fgo-Xy.js',
    '/assets/index-Ab1_-2.js/',
    '/assets/__proto__',
    `/assets/${'a'.repeat(300)}.js`,
  ])('%s is not found, also for a browser that asks for a page', async (path) => {
    const { status, headers, bytes } = await ask(path, HTML)
    expect([status, headers['cache-control']]).toEqual([404, 'no-store'])
    expect(bytes.toString()).not.toMatch(/secret\b(?!\.js)|<!doctype/)
  })

  test('a path with a NUL character is refused', async () => {
    expect((await ask('/assets/index-Ab1_-2.js%00', HTML)).status).toBe(400)
    expect((await ask('/%00', HTML)).status).toBe(400)
  })

  test('a picture that is opened by itself runs nothing', async () => {
    const { status, headers } = await ask('/favicon.svg')
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'image/svg+xml',
      'no-cache',
    ])
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*sandbox/)
  })
})

test('the console is not slowed by the throttle for requests without a key', async () => {
  const refused = async () => (await ask('/docs', HTML)).status
  await eventually(async () => expect(await refused()).toBe(429))
  for (const path of ['/', '/playground', SCRIPT_PATH, '/favicon.svg']) {
    expect((await ask(path, HTML)).status).toBe(200)
  }
})

test('requests of the console are counted under one label', async () => {
  await ask('/playground/with/a/long/path', HTML)
  const { body } = await gateway.request('GET', '/metrics')
  expect(body).toMatch(/parkway_requests_total\{[^}]*route="console"/)
  expect(body).not.toContain('playground')
})

test('a console that is built again is served without a restart, and one that is gone is explained', async () => {
  await using other = await buildSampleConsole()
  const second = await startTestGateway({ settings: { PARKWAY_CONSOLE_DIR: other.directory } })
  try {
    const page = async () => (await second.request('GET', '/keys', { key: null, headers: HTML })).body
    expect(await page()).toBe(PAGE)
    await other.write('index.html', 'the next build')
    await rm(join(other.directory, SCRIPT_PATH))
    await eventually(async () => expect(await page()).toBe('the next build'))
    await eventually(async () => {
      expect((await second.request('GET', SCRIPT_PATH, { key: null })).status).toBe(404)
    })
    await removeDirectory(other.directory)
    await eventually(async () => {
      const answer = await second.request('GET', '/', { key: null })
      expect(answer.body).toContain('npm run build:console')
    })
    expect(await second.request('GET', '/keys', { key: null, headers: HTML })).toMatchObject({ status: 404 })
  } finally {
    await second.close()
  }
})
