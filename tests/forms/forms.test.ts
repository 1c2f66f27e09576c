import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseRaw, sendRaw } from '../http/send-raw.ts'
import { sha256, startFormServer, type FormServer } from './start-form-server.ts'
import { eventually } from '../support/eventually.ts'

const MEBIBYTE = 1024 * 1024

let server: FormServer

beforeAll(async () => {
  server = await startFormServer()
})
afterAll(() => server.close())

type Part = readonly [name: string, value: string | Blob, filename?: string]

function formOf(...parts: readonly Part[]): FormData {
  const form = new FormData()
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, filename)
  }
  return form
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
async function send(body: FormData | string, contentType?: string): Promise<{ status: number; body: any }> {
  const response = await fetch(`${server.url}/form`, {
    method: 'POST',
    body,
    ...(contentType === undefined ? {} : { headers: { 'content-type': contentType } }),
  })
  return { status: response.status, body: await response.json() }
}

const image = (bytes: Uint8Array) => new Blob([Buffer.from(bytes)], { type: 'image/png' })
const refusal = async (body: FormData | string, contentType?: string) => {
  const { status, body: answer } = await send(body, contentType)
  return [status, answer.error?.code, answer.error?.param]
}

describe('a form', () => {
  test('arrives with its fields in the types of the schema and its files complete', async () => {
    const bytes = randomBytes(3 * MEBIBYTE)
    const { status, body } = await send(
      formOf(
        ['model', 'm'],
        ['temperature', '0.5'],
        ['stream', 'true'],
        ['granularities[]', 'word'],
        ['granularities[]', 'segment'],
        ['metadata[team]', 'red'],
        ['unknown', 'ü'],
        ['image', image(bytes), 'dir/ä.png'],
        ['image[]', image(bytes.subarray(0, 10)), 'b.png'],
        ['surprise', image(bytes), 'not-asked-for.png'],
      ),
    )
    expect([status, body.body]).toEqual([
      200,
      {
        model: 'm',
        temperature: 0.5,
        stream: true,
        granularities: ['word', 'segment'],
        metadata: { team: 'red' },
        unknown: 'ü',
      },
    ])
    expect(body.files).toEqual([
      {
        field: 'image',
        filename: 'ä.png',
        contentType: 'image/png',
        bytes: bytes.length,
        isWhole: true,
        sha256: sha256(bytes),
      },
      {
        field: 'image',
        filename: 'b.png',
        contentType: 'image/png',
        bytes: 10,
        isWhole: true,
        sha256: sha256(bytes.subarray(0, 10)),
      },
    ])
    expect(await server.filesLeft()).toBe(0)
  })

  test('may be JSON instead, with the file as a member', async () => {
    const { status, body } = await send(JSON.stringify({ model: 'm', image: 'data:…' }), 'application/json')
    expect([status, body.body, body.files]).toEqual([200, { model: 'm', image: 'data:…' }, []])
  })

  test('a list of one is a list, and the last of a repeated field counts', async () => {
    const form = formOf(['model', 'a'], ['model', 'b'], ['granularities', 'word'], ['image', 'https://…'])
    expect((await send(form)).body.body).toEqual({
      model: 'b',
      granularities: ['word'],
      image: 'https://…',
    })
  })

  test('is refused with the name of the missing or invalid field', async () => {
    const file: Part = ['image', image(randomBytes(9)), 'a.png']
    expect(await refusal(formOf(file))).toEqual([400, 'missing_required_parameter', 'model'])
    expect(await refusal(formOf(['model', 'm']))).toEqual([400, 'missing_required_parameter', 'image'])
    expect(await refusal(formOf(['model', 'm'], ['temperature', 'hot'], file))).toEqual([
      400,
      'invalid_value',
      'temperature',
    ])
    expect(await refusal(formOf(['model', 'm'], file, file, file, file))).toEqual([
      400,
      'invalid_value',
      'image',
    ])
    expect(await refusal('{}', 'application/json')).toEqual([400, 'missing_required_parameter', 'model'])
    expect(await server.filesLeft()).toBe(0)
  })

  test('is refused if it is too large in any way', async () => {
    const model: Part = ['model', 'm']
    const large = image(new Uint8Array(25 * MEBIBYTE + 1))
    expect(await refusal(formOf(model, ['image', large, 'a']))).toEqual([413, 'request_too_large', 'image'])
    expect(await refusal(formOf(model, ['mask', image(new Uint8Array(1025)), 'a']))).toEqual([
      413,
      'request_too_large',
      'mask',
    ])
    expect(await refusal(formOf(['model', 'm'.repeat(10 * MEBIBYTE)]))).toEqual([
      413,
      'request_too_large',
      'model',
    ])
    const fields = Array.from({ length: 1000 }, (_, index): Part => [`field${index}`, 'x'])
    expect(await refusal(formOf(...fields))).toEqual([413, 'request_too_large', null])
    const unasked = image(new Uint8Array(120 * MEBIBYTE))
    expect(await refusal(formOf(model, ['surprise', unasked, 'a']))).toEqual([413, 'request_too_large', null])
    expect(await server.filesLeft()).toBe(0)
  })

  test('is refused if it is not a form', async () => {
    expect(await refusal('x', 'text/plain')).toEqual([415, 'unsupported_media_type', null])
    expect(await refusal('x', 'application/x-www-form-urlencoded')).toEqual([
      415,
      'unsupported_media_type',
      null,
    ])
    expect(await refusal('x', 'multipart/form-data')).toEqual([400, 'invalid_request', null])
    const type = 'multipart/form-data; boundary=b'
    for (const body of [
      'hello',
      '--b\r\nno header here\r\n--b--\r\n',
      '--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\nabc',
      '--b\r\nContent-Disposition: form-data\r\n\r\nabc\r\n--b--\r\n',
      `--b\r\nContent-Disposition: form-data; name="${'n'.repeat(300)}"\r\n\r\nabc\r\n--b--\r\n`,
    ])
      expect([body, await refusal(body, type)]).toEqual([body, [400, 'invalid_request', null]])
    expect(await server.filesLeft()).toBe(0)
  })

  test('a client that is refused while sending gets its answer, and its connection is closed', async () => {
    const head = [
      'POST /form HTTP/1.1',
      'host: parkway',
      'content-type: multipart/form-data; boundary=b',
      'transfer-encoding: chunked',
      '',
      '',
    ].join('\r\n')
    const part = '--b\r\nContent-Disposition: form-data; name="mask"; filename="a"\r\n\r\n'
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const pieces = Array.from({ length: 50 }, () => chunk('x'.repeat(MEBIBYTE / 4)))
    const answer = parseRaw(await sendRaw(server.url, head, chunk(part), ...pieces, '0\r\n\r\n'))
    expect([answer.status, answer.body.error.code]).toEqual([413, 'request_too_large'])
    expect(answer.head).toContain('connection: close')
  })

  test('a client that announces too much is answered before it sends', async () => {
    const head = [
      'POST /form HTTP/1.1',
      'host: parkway',
      'content-type: multipart/form-data; boundary=b',
      `content-length: ${500 * MEBIBYTE}`,
      '',
      '',
    ].join('\r\n')
    const { hostname, port } = new URL(server.url)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(head)
    const text = await new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(String(data)))
    })
    expect(parseRaw(text).status).toBe(413)
    socket.destroy()
  })

  test('nothing is left of a client that disconnects while sending, or while its request runs', async () => {
    const { hostname, port } = new URL(server.url)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write('POST /form HTTP/1.1\r\nhost: p\r\ncontent-type: multipart/form-data; boundary=b\r\n')
    socket.write('content-length: 9999999\r\n\r\n--b\r\nContent-Disposition: form-data; name="image"; ')
    socket.write(`filename="a"\r\n\r\n${'x'.repeat(100_000)}`)
    await eventually(async () => expect(await server.filesLeft()).toBe(1))
    socket.destroy()
    await eventually(async () => expect(await server.filesLeft()).toBe(0))

    const { promise, resolve } = Promise.withResolvers<void>()
    server.hold = promise
    const controller = new AbortController()
    const form = formOf(['model', 'm'], ['image', image(randomBytes(9)), 'a.png'])
    const sending = fetch(`${server.url}/form`, { method: 'POST', body: form, signal: controller.signal })
    await eventually(async () => expect(await server.filesLeft()).toBe(1))
    controller.abort()
    await expect(sending).rejects.toThrow()
    resolve()
    await eventually(async () => expect(await server.filesLeft()).toBe(0))
  })
})
