import { shortenBody, type ApiCall } from './api-call.ts'
import { SDK_METHODS, sdkPath } from './sdk-method.ts'

/** Writes a call with OpenAI's library for TypeScript. */
export function writeTypescript(call: ApiCall, origin: string): string {
  const { path, body, files = {}, savedAs } = call
  const method = SDK_METHODS[path]?.typescript
  const hasFiles = Object.keys(files).length > 0
  const fields = [
    ...Object.entries(files).map(([field, name]) => `${field}: createReadStream('${name}')`),
    ...Object.entries(body).map(
      ([field, value]) => `${writeName(field)}: ${writeValue(shortenBody(value), 1)}`,
    ),
  ]
  const request =
    method === undefined
      ? `client.post('${sdkPath(path)}', { body: ${writeValue(shortenBody(body), 0)} })`
      : `client.${method}({\n  ${fields.join(',\n  ')},\n})`
  return [
    ...(hasFiles ? ["import { createReadStream } from 'node:fs'"] : []),
    ...(savedAs ? ["import { writeFile } from 'node:fs/promises'"] : []),
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.PARKWAY_API_KEY })`,
    '',
    `const answer = await ${request}`,
    ...writeResult(call),
  ].join('\n')
}

function writeResult({ path, body, savedAs }: ApiCall): string[] {
  if (savedAs) return [`await writeFile('${savedAs}', Buffer.from(await answer.arrayBuffer()))`]
  if (path !== '/v1/chat/completions') return ['console.log(answer)']
  if (body['stream'] !== true) return ['console.log(answer.choices[0].message.content)']
  return ["for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta?.content ?? '')"]
}

function writeName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
}

function writeValue(value: unknown, depth: number): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`)}'`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const [indent, end] = ['  '.repeat(depth + 1), '  '.repeat(depth)]
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => writeValue(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${writeName(name)}: ${writeValue(item, depth + 1)}`)
  if (items.length === 0) return isList ? '[]' : '{}'
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return `${open}\n${indent}${items.join(`,\n${indent}`)},\n${end}${close}`
}
