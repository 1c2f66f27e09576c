import { shortenBody, type ApiCall } from './api-call.ts'
import { SDK_METHODS, sdkPath } from './sdk-method.ts'

/** Writes a call with OpenAI's library for Python. */
export function writePython(call: ApiCall, origin: string): string {
  const { path, body, files = {}, savedAs } = call
  const method = SDK_METHODS[path]?.python
  const fields = [
    ...Object.entries(files).map(([field, name]) => `${field}=open(${JSON.stringify(name)}, "rb")`),
    ...Object.entries(body).map(([field, value]) => `${field}=${writeValue(shortenBody(value), 1)}`),
  ]
  const request =
    method === undefined
      ? `client.post(${JSON.stringify(sdkPath(path))}, cast_to=object, body=${writeValue(shortenBody(body), 0)})`
      : `client.${method}(\n    ${fields.join(',\n    ')},\n)`
  return [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${origin}/v1", api_key=os.environ["PARKWAY_API_KEY"])`,
    '',
    `answer = ${request}`,
    ...writeResult(call, savedAs),
  ].join('\n')
}

function writeResult({ path, body }: ApiCall, savedAs: string | undefined): string[] {
  if (savedAs) return [`answer.write_to_file("${savedAs}")`]
  if (path !== '/v1/chat/completions') return ['print(answer)']
  if (body['stream'] !== true) return ['print(answer.choices[0].message.content)']
  return [
    'for chunk in answer:',
    '    if chunk.choices:',
    '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
  ]
}

/** Writes a value of JSON as Python does. */
function writeValue(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [indent, end] = ['    '.repeat(depth + 1), '    '.repeat(depth)]
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => writeValue(item, depth + 1))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${writeValue(item, depth + 1)}`)
  if (items.length === 0) return isList ? '[]' : '{}'
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return `${open}\n${indent}${items.join(`,\n${indent}`)},\n${end}${close}`
}
