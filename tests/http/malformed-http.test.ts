import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { parseRaw, sendRaw } from './send-raw.ts'

const CHAT = '/v1/chat/completions'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(async () => {
  await gateway.close()
})

describe('data that is not HTTP', () => {
  test.each([
    ['a greeting', 'EHLO example.com\r\n\r\n'],
    ['a TLS hello', Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00, 0xa1, 0x03, 0x03])],
    ['a header without a name', 'GET / HTTP/1.1\r\nhost: x\r\n: value\r\n\r\n'],
    ['two hosts', `GET /healthz HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\n`],
    ['two hosts that are the same', `GET /healthz HTTP/1.1\r\nhost: x\r\nhost: x\r\n\r\n`],
    ['two hosts of a POST', `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nHOST: y\r\ncontent-length: 2\r\n\r\n{}`],
    ['no host', 'GET /healthz HTTP/1.1\r\naccept: */*\r\n\r\n'],
    ['no host of a POST', `POST ${CHAT} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}`],
    ['a list of hosts', `POST ${CHAT} HTTP/1.1\r\nhost: x, y\r\ncontent-length: 2\r\n\r\n{}`],
    ['a host with a path', 'GET /healthz HTTP/1.1\r\nhost: x/y\r\n\r\n'],
    ['two lengths', `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}`],
    [
      'a length and chunks',
      `POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])('400 for %s, in the same envelope', async (_name, bytes) => {
    const { status, head, body } = parseRaw(await sendRaw(gateway.baseUrl, bytes))
    expect([status, body.error]).toEqual([
      400,
      {
        message: expect.any(String),
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request',
        request_id: expect.stringMatching(/^req_/),
      },
    ])
    expect(head).toContain('connection: close')
    expect(head).toContain(`x-request-id: ${body.error.request_id}`)
  })

  test('HTTP/1.0 without a host is answered, as are hosts with a port and addresses', async () => {
    const heads = ['HTTP/1.0\r\n', 'HTTP/1.0\r\nhost: x:80\r\n', 'HTTP/1.0\r\nhost: [::1]:8080\r\n']
    for (const head of heads)
      expect(parseRaw(await sendRaw(gateway.baseUrl, `GET /healthz ${head}\r\n`)).status).toBe(200)
  })

  test('413 for endless headers', async () => {
    const { status, body } = parseRaw(
      await sendRaw(gateway.baseUrl, `GET / HTTP/1.1\r\nhost: x\r\nx-filler: ${'x'.repeat(100_000)}\r\n\r\n`),
    )
    expect([status, body.error.code]).toEqual([413, 'request_too_large'])
    expect(body.error.message).toMatch(/header/i)
  })

  test('a request before it is answered first', async () => {
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })
    const good = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\nx-a: 1\r\nx-a: 2\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const answer = await sendRaw(gateway.baseUrl, `${good}nonsense\r\n\r\n`)
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400'])
  })

  test('the gateway keeps running after all of that', async () => {
    expect((await gateway.request('GET', '/healthz', { key: null })).status).toBe(200)
  })
})
