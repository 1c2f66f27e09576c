import { expect, test } from 'vitest'
import { splitRequests } from './split-requests.ts'

async function split(text: string, pieceBytes: number, bytesMax = 1024): Promise<unknown[]> {
  const bytes = Buffer.from(text)
  async function* pieces(): AsyncGenerator<Buffer, void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const found: unknown[] = []
  for await (const { index, content } of splitRequests(pieces(), bytesMax)) {
    expect(index).toBe(found.length)
    found.push(JSON.parse(content.toString()))
  }
  return found
}

const REQUESTS = [
  { custom_id: 'a', params: { text: 'brackets ]}{[ and "quotes\\" \\\\', list: [[1], { b: {} }] } },
  { custom_id: 'ü😀', params: {} },
]

test.each([1, 2, 3, 7, 10_000])('requests are found in pieces of %i bytes', async (pieceBytes) => {
  expect(await split(JSON.stringify({ requests: REQUESTS }), pieceBytes)).toEqual(REQUESTS)
  const around = `\uFEFF\r\n{ "other" : {"requests":[{"x":1}]}, "n":-1.5e3 ,"t":"]", "u":null\t, "requests" :\n${JSON.stringify(REQUESTS, null, 2)} , "z" : [ ] }\n`
  expect(await split(around, pieceBytes)).toEqual(REQUESTS)
  expect(await split(String.raw`{"\u0072equests":[{}]}`, pieceBytes)).toEqual([{}])
})

test.each([
  ['', 'invalid_json', undefined],
  ['[]', 'invalid_json', undefined],
  ['{"requests":[{"a":1}', 'invalid_json', undefined],
  ['{"requests":[{"a":"', 'invalid_json', undefined],
  ['{"requests":[{}]} {}', 'invalid_json', undefined],
  ['{"requests" [{}]}', 'invalid_json', undefined],
  [`{"${'k'.repeat(300)}":1}`, 'invalid_json', undefined],
  ['{}', 'invalid_value', 'requests'],
  ['{"requests":[]}', 'invalid_value', 'requests'],
  ['{"requests":{}}', 'invalid_value', 'requests'],
  ['{"requests":[{}],"requests":[{}]}', 'invalid_value', 'requests'],
  ['{"requests":[{} {}]}', 'invalid_value', 'requests.1'],
  ['{"requests":[{},1]}', 'invalid_value', 'requests.1'],
  [`{"requests":[{"a":"${'x'.repeat(2000)}"}]}`, 'invalid_value', 'requests.0'],
])('%s is refused', async (text, code, param) => {
  for (const pieceBytes of [1, 4096])
    await expect(split(text, pieceBytes)).rejects.toMatchObject({ code, param: param ?? null })
})
